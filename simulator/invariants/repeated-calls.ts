/**
 * What is asked for under an id has one effect, and what was acknowledged is there: judged by what the clerk of a
 * book asked for and heard (see jobs/book.ts), and by the entries that the book took.
 */

import type { HistoryRecord } from '../history.ts';
import { BOOK } from '../jobs/book.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { openFrame, refusalOf } from './reading-frames.ts';
import { isWritten } from './reading-holders.ts';
import { partsOf } from './reading-records.ts';

type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;
type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;
type LogRecord = Extract<HistoryRecord, { readonly type: 'log' }>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;
type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;

const isBook = (address: string): boolean => address.startsWith('book/');

/** MS-15. */
export const takesIdsOnce: JobsInvariant = {
  id: 'MS-15',
  kind: 'safety',
  says: 'Of the calls with one id one is taken within the time in which it is known again, over deaths of both sides; what is answered was taken, and nobody is refused for senders that are forgotten by then.',
  watch({ book, epsilonMs }, verdict) {
    if (book === undefined) return {};
    const retentionMs = book.dedupRetentionMs - 2 * epsilonMs;
    let stored: readonly string[] = [];
    const taken = new Map<string, number>();
    const heard = new Map<string, number>();
    const heardAtMs = new Map<string, number>();
    let doubtful: { readonly atMs: number; readonly record: FrameRecord } | undefined;
    let unsureUntilMs = 0;
    const turn = (record: TurnRecord): void => {
      const { address, event, from, takenAt } = record;
      if (!isBook(address)) return;
      judge(record.atMs);
      if (from !== undefined) heardAtMs.set(from, record.atMs);
      const lastHeard = from === undefined ? undefined : heard.get(from);
      if (from !== undefined) heard.set(from, takenAt);
      const id = idOf(event);
      if (id === undefined) return;
      verdict.exercised();
      // A task that is given again when it is forgotten makes its pages anew.
      const own = `${from} ${id}`;
      const before = taken.get(own);
      taken.set(own, takenAt);
      if (before === undefined || lastHeard === undefined || takenAt - lastHeard >= retentionMs)
        return;
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
      if (known < book.sendersMax)
        verdict.broken(
          `the book refuses for too many senders: ${known} were heard of late, there is room for ${book.sendersMax}`,
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

function idOf(event: { readonly type: string }): string | undefined {
  const { entry, task } = event as { readonly entry?: string; readonly task?: string };
  return event.type === 'entry.made' ? entry : event.type === 'task.given' ? task : undefined;
}
