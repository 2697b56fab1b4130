/**
 * Repeated calls: an id has one effect, and what was acknowledged is there: judged by what the clerk of a
 * book asked for and heard (see jobs/book.ts), and by the entries that the book took.
 */

import type { HistoryRecord } from '../../history.ts';
import { isWritten, openFrame, partsOf, refusalOf } from '../../invariants.ts';
import type { Bounds } from '../../simulation.ts';
import { BOOK } from '../book.ts';
import type { JobsInvariant } from '../facts.ts';

type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;
type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;
type LogRecord = Extract<HistoryRecord, { readonly type: 'log' }>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;
type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;

const isBook = (address: string): boolean => address.startsWith('book/');

/** Which ids the book has taken of each sender, since it last forgot it. */
class Taken {
  readonly #retentionMs: number;
  readonly #senders = new Map<string, { heardAt: number; readonly ids: Map<string, number> }>();

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  /** When the id was taken before. */
  take(from: string, id: string | undefined, at: number): number | undefined {
    const known = this.#senders.get(from);
    // Forgetting a sender forgets all that it sent: a task that is given again then makes its pages again.
    const isNew = known === undefined || at - known.heardAt >= this.#retentionMs;
    const sender = isNew ? { heardAt: at, ids: new Map<string, number>() } : known;
    sender.heardAt = at;
    this.#senders.set(from, sender);
    if (id === undefined) return undefined;
    const before = sender.ids.get(id);
    sender.ids.set(id, at);
    return before;
  }
}

/** MS-15. */
export const takesIdsOnce: JobsInvariant = {
  id: 'MS-15',
  kind: 'safety',
  says: 'Of the calls with one id one is taken within the time in which it is known again, over deaths of both sides; what is answered was taken, and nobody is refused for senders that are forgotten by then.',
  watch({ book, bounds, epsilonMs }, verdict) {
    if (book === undefined) return {};
    let stored: readonly string[] = [];
    const taken = new Taken(book.dedupRetentionMs - 2 * epsilonMs);
    const heardAtMs = new Map<string, number>();
    let doubtful: { readonly atMs: number; readonly record: FrameRecord } | undefined;
    let unsureUntilMs = 0;
    const turn = (record: TurnRecord): void => {
      const { address, event, from, takenAt } = record;
      if (!isBook(address)) return;
      judge(record.atMs);
      if (from === undefined) return;
      heardAtMs.set(from, record.atMs);
      const id = idOf(event);
      if (id !== undefined) verdict.exercised();
      const before = taken.take(from, id, takenAt);
      if (before === undefined) return;
      verdict.broken(
        `${address} took ${id} again, ${takenAt - before} ms later; it is known for ${book.dedupRetentionMs} ms`,
        record,
      );
    };
    const log = (record: LogRecord): void => {
      if (record.message !== 'entry answered') return;
      const { entry, outcome } = record.fields as {
        readonly entry: string;
        readonly outcome: string;
      };
      if (outcome === 'ok' && !stored.includes(entry))
        verdict.broken(`${entry} was acknowledged, and the book does not have it`, record);
    };
    const frame = ({ change, node, frame: text, ...record }: FrameRecord): void => {
      if (change !== 'sent' || node !== BOOK) return;
      const isRefusal = openFrame(text).receipts.some(
        (receipt) => refusalOf(receipt) === 'TOO_MANY_SENDERS',
      );
      if (!isRefusal) return;
      verdict.exercised();
      if (record.atMs >= unsureUntilMs)
        doubtful ??= { atMs: record.atMs, record: { change, node, frame: text, ...record } };
      judge(record.atMs);
    };
    /** What was taken by then and is on its way to the disk has been shown meanwhile. */
    const judge = (atMs: number): void => {
      if (doubtful === undefined || atMs < doubtful.atMs + WAY_MS) return;
      const fromMs = doubtful.atMs - book.dedupRetentionMs - WAY_MS - 2 * epsilonMs;
      const known = [...heardAtMs.values()].filter((heardMs) => heardMs >= fromMs).length;
      const room = roomOf(book.sendersMax, bounds);
      if (known < room)
        verdict.broken(
          `the book refuses for too many senders: ${known} were heard of late, there is room for ${room}`,
          doubtful.record,
        );
      doubtful = undefined;
    };
    /** Whom it had taken when it died, and had not shown, nobody knows before they are forgotten. */
    const node = (record: NodeRecord): void => {
      if (record.node !== BOOK) return;
      doubtful = undefined;
      unsureUntilMs = record.atMs + book.dedupRetentionMs + WAY_MS + 2 * epsilonMs;
    };
    const commit = (record: CommitRecord): void => {
      if (!isWritten(record)) return;
      for (const { address, record: text } of record.writes)
        if (isBook(address) && text !== null) {
          const { made } = partsOf(text).snapshot.context as { readonly made: readonly string[] };
          const lost = stored.find((entry) => !made.includes(entry));
          if (lost !== undefined) verdict.broken(`${address} had ${lost} and lost it`, record);
          stored = made;
        }
    };
    return { turn, log, frame, node, commit };
  },
};

/** Longer than two groups are on their way to the disk. */
const WAY_MS = 1_000;
/** Share of an inbox in production: a place has eight times what is free, once there are over sixteen. */
const SHARE = 8;
const KEPT = 16;

/** How many senders are remembered at least where all of them are requests, or of one place. */
function roomOf(sendersMax: number, bounds: Bounds = {}): number {
  const share = bounds['knob.inboxShare'] ?? SHARE;
  const kept = bounds['knob.marksKept'] ?? KEPT;
  return Math.min(sendersMax, Math.max(kept + 1, Math.ceil((share * sendersMax) / (share + 1))));
}

function idOf(event: { readonly type: string }): string | undefined {
  const { entry, task } = event as { readonly entry?: string; readonly task?: string };
  return event.type === 'entry.made' ? entry : event.type === 'task.given' ? task : undefined;
}
