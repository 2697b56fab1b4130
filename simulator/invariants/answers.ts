/**
 * What clients may count on: whoever asks is answered, or refused with a reason, and that soon.
 *
 * Two things are judged. In a run without faults, that no client has to give a call up. In every run,
 * that a question which a desk has taken is answered by the node that took it within the time that its
 * desk waits at most; where the node dies or stands still first, or its disk keeps it waiting, nothing
 * is judged. That what it says is true is TS-8.
 */

import type { HistoryRecord } from '../history.ts';
import type { Verdict, Watcher } from '../invariant.ts';
import type { JobsFacts, JobsInvariant } from '../jobs/facts.ts';
import { LATENESS_MS, RETRY_MAX_MS } from './reading-healed.ts';
import { Hindrances, questionIn, repliesIn } from './reading-questions.ts';

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

interface Taken {
  readonly record: RecordOf<'turn'>;
  readonly replyTo: string;
  readonly lateAtMs: number;
}

class TakenQuestions {
  readonly #facts: JobsFacts;
  readonly #verdict: Verdict;
  readonly #open = new Map<string, Taken>();
  readonly #hindrances = new Hindrances();

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
    const replyTo = questionIn(record);
    if (replyTo === undefined || !this.#hindrances.isNone) return;
    const waitsMs = WAITS_MS[record.event.type] ?? DATACENTERS_WAIT_MS;
    const lateAtMs = record.atMs + waitsMs + LATENESS_MS + this.#facts.deltaMs;
    this.#open.set(replyTo, { record, replyTo, lateAtMs });
  }

  #frame(record: RecordOf<'frame'>): void {
    if (this.#open.size === 0) return;
    for (const { to } of repliesIn(record)) if (this.#open.delete(to)) this.#verdict.exercised();
  }

  /** A node that dies or stands still answers nothing more, or later. */
  #node({ node, change }: RecordOf<'node'>): void {
    if (change === 'started' || change === 'resumed') return;
    for (const [replyTo, { record }] of this.#open)
      if (record.node === node) this.#open.delete(replyTo);
  }

  #fault(record: RecordOf<'fault'>): void {
    if (this.#hindrances.fault(record)) this.#open.clear();
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
