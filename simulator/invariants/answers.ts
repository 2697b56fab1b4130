/**
 * What clients may count on: whoever asks is answered, or refused with a reason, and that soon.
 *
 * Two things are judged. In a run without faults, that no client has to give a call up. In every run,
 * that a question which a desk has taken is answered by the node that took it within the time that its
 * desk waits at most. Frames to clients are never lost on their way, so the answer that is looked for is
 * the one that leaves; where the node dies or stands still first, or its disk keeps it waiting, nothing
 * is judged.
 */

import { placeOf } from '../../runtime/address.ts';
import { decodeFrame } from '../../runtime/wire.ts';
import type { HistoryRecord } from '../history.ts';
import type { Verdict, Watcher } from '../invariant.ts';
import type { JobsFacts, JobsInvariant } from '../jobs/facts.ts';
import { LATENESS_MS, RETRY_MAX_MS } from './reading-healed.ts';

type RecordOf<TType extends HistoryRecord['type']> = Extract<
  HistoryRecord,
  { readonly type: TType }
>;

export const everyCallIsAnswered: JobsInvariant = {
  id: 'TS-7',
  kind: 'liveness',
  says: 'Every question of a client that a desk has taken is answered or refused by its node within a second and the time that its desk waits; in a run without faults no call is given up.',
  watch(facts, verdict) {
    const calls = facts.isFaultFree ? watchCalls(verdict) : {};
    return { ...calls, ...new TakenQuestions(facts, verdict).watcher };
  },
};

function watchCalls(verdict: Verdict): Watcher {
  const open = new Map<string, RecordOf<'call'>>();
  return {
    call: (record) => {
      open.set(record.call, record);
    },
    answer: (record) => {
      const { request, to, jobId } = open.get(record.call) ?? {};
      open.delete(record.call);
      verdict.exercised();
      if (record.outcome === 'unknown')
        verdict.broken(`Nobody answered ${request} of ${jobId} at ${to}.`, record);
    },
  };
}

/** What a desk waits for before it answers, beside its own commits. */
const WAITS_MS: Readonly<Record<string, number>> = {
  'job.watched': 20_000,
  'jobCancel.requested': 10_000,
  // A gate asks datacenters, and sends to those that do not answer again.
  'jobExtend.requested': 5_000,
  'job.submitted': 2 * RETRY_MAX_MS,
};
const DATACENTERS_WAIT_MS = 1_000;

/** What makes a disk or a clock of the cluster keep its node from answering. */
const HINDRANCES: ReadonlySet<string> = new Set([
  'slowDisk',
  'stalledDisk',
  'fullDisk',
  'failedFlush',
  'splitGroup',
  'damagedRecord',
  'diskLost',
  'stepLeaderClock',
  'driftedTakeover',
  'driftingClocks',
  'slowNodes',
]);

interface Taken {
  readonly record: RecordOf<'turn'>;
  readonly replyTo: string;
  readonly lateAtMs: number;
}

class TakenQuestions {
  readonly #facts: JobsFacts;
  readonly #verdict: Verdict;
  readonly #open = new Map<string, Taken>();
  readonly #hindrances = new Set<string>();

  constructor(facts: JobsFacts, verdict: Verdict) {
    this.#facts = facts;
    this.#verdict = verdict;
  }

  get watcher(): Watcher {
    return {
      turn: (record) => this.#turn(record),
      frame: (record) => this.#frame(record),
      node: (record) => this.#node(record),
      fault: (record) => this.#fault(record),
      end: (endedAtMs) => this.#findLate(endedAtMs),
    };
  }

  #turn(record: RecordOf<'turn'>): void {
    if (this.#open.size > 0) this.#findLate(record.atMs);
    if (record.kind !== 'desk' || record.error !== undefined || record.context === undefined)
      return;
    const { type, replyTo } = record.event as { readonly type: string; readonly replyTo?: string };
    if (typeof replyTo !== 'string' || !placeOf(replyTo).startsWith('client-')) return;
    if (this.#hindrances.size > 0) return;
    const waitsMs = WAITS_MS[type] ?? DATACENTERS_WAIT_MS;
    const lateAtMs = record.atMs + waitsMs + LATENESS_MS + this.#facts.deltaMs;
    this.#open.set(replyTo, { record, replyTo, lateAtMs });
  }

  #frame({ change, to, frame }: RecordOf<'frame'>): void {
    if (change !== 'sent' || this.#open.size === 0 || !to.startsWith('client-')) return;
    if (!frame.includes('escapement.reply')) return;
    for (const envelope of decodeFrame(frame).envelopes) {
      const { to: replyTo } = envelope as { readonly to: string };
      if (this.#open.delete(replyTo)) this.#verdict.exercised();
    }
  }

  /** A node that dies or stands still answers nothing more, or later. */
  #node({ node, change }: RecordOf<'node'>): void {
    if (change === 'started' || change === 'resumed') return;
    for (const [replyTo, { record }] of this.#open)
      if (record.node === node) this.#open.delete(replyTo);
  }

  #fault({ id, kind, change }: RecordOf<'fault'>): void {
    if (!HINDRANCES.has(kind)) return;
    if (change === 'ended') this.#hindrances.delete(id);
    else {
      if (change === 'began') this.#hindrances.add(id);
      this.#open.clear();
    }
  }

  #findLate(nowMs: number): void {
    for (const [replyTo, { record, lateAtMs }] of this.#open) {
      if (lateAtMs >= nowMs) continue;
      this.#open.delete(replyTo);
      const what = `${record.address} took ${record.event.type} at ${record.atMs} ms, and ${record.node} has neither answered nor refused it ${nowMs - record.atMs} ms later`;
      this.#verdict.broken(what, record);
    }
  }
}
