/**
 * Answers that clients may count on: every question is answered, or refused with a reason, and that soon.
 *
 * Two things are judged. In a run without faults, that no client has to give a call up; where a mailbox or a
 * node has room for three, the calls of clients may drive out each other. In every run, that a question which a
 * jobs service has taken is answered by the node that took it within the time that its jobs service waits at
 * most; where the node dies or stands still first, or its disk keeps it waiting, nothing is judged. That what
 * it says is true is TS-8.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import type { HistoryRecord } from '../../history.ts';
import type { Verdict, Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { LATENESS_MS, RETRY_MAX_MS } from './reading-healed.ts';
import { Hindrances, questionIn, repliesIn, type ServiceRecord } from './reading-questions.ts';

type RecordOf<TType extends HistoryRecord['type']> = Extract<
  HistoryRecord,
  { readonly type: TType }
>;

export const everyCallIsAnswered: JobsInvariant = {
  id: 'TS-7',
  kind: 'liveness',
  says: 'Every question of a client that a jobs service has taken is answered or refused by its node within a second and the time that its jobs service waits, for datacenters and for what the client has asked before; in a run without faults, with room for messages and questions, no call is given up.',
  watch(facts, verdict) {
    const calls =
      facts.isFaultFree && !facts.dropsHints && !facts.refusesQuestions ? watchCalls(verdict) : {};
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

/** What a jobs service waits for before it answers, beside its own commits. */
const WAITS_MS: Readonly<Record<string, number>> = {
  'job.watched': 20_000,
  'jobCancel.requested': 10_000,
  // A gate asks datacenters, and sends to those that do not answer again.
  'jobExtend.requested': 5_000,
  'job.submitted': 2 * RETRY_MAX_MS,
};
const DATACENTERS_WAIT_MS = 1_000;
/** Questions that a jobs service works off a few at a time per client: each may wait for those before it. */
const IN_LINE: ReadonlySet<string> = new Set(['jobs.asked', 'stuckWorkflows.asked']);

interface Taken {
  readonly record: ServiceRecord;
  readonly lateAtMs: number;
}

class TakenQuestions {
  readonly #facts: JobsFacts;
  readonly #verdict: Verdict;
  readonly #open = new Map<string, Taken>();
  /** Questions that others of their client may wait for. */
  readonly #lines = new Map<string, { readonly line: string; readonly untilMs: number }>();
  /** Questions that were answered at this moment: a refusal may leave before the turn that took it is shown. */
  #justTold = { atMs: 0, questions: new Set<string>() };
  readonly #hindrances = new Hindrances();

  constructor(facts: JobsFacts, verdict: Verdict) {
    this.#facts = facts;
    this.#verdict = verdict;
  }

  get watcher(): Watcher {
    return {
      turn: (record) => this.#taken(record),
      question: (record) => this.#taken(record),
      frame: (record) => this.#frame(record),
      node: (record) => this.#node(record),
      fault: (record) => this.#fault(record),
      end: (endedAtMs) => this.#findLate(endedAtMs),
    };
  }

  #taken(record: ServiceRecord): void {
    if (this.#open.size > 0) this.#findLate(record.atMs);
    const replyTo = questionIn(record);
    if (replyTo === undefined) return;
    const { atMs, questions } = this.#justTold;
    if (atMs === record.atMs && questions.has(replyTo)) return;
    const fromMs = IN_LINE.has(record.event.type) ? this.#joinLine(record, replyTo) : record.atMs;
    if (!this.#hindrances.wasNone(record.atMs)) return;
    const waitsMs = WAITS_MS[record.event.type] ?? DATACENTERS_WAIT_MS;
    const lateAtMs = fromMs + waitsMs + LATENESS_MS + this.#facts.deltaMs;
    this.#open.set(replyTo, { record, lateAtMs });
  }

  /** When its jobs service begins to work it off at the latest. */
  #joinLine({ node, atMs }: ServiceRecord, replyTo: string): number {
    const line = `${placeOf(replyTo)} at ${node}`;
    let fromMs = atMs;
    for (const [other, one] of this.#lines) {
      if (one.untilMs <= atMs) this.#lines.delete(other);
      else if (one.line === line) fromMs += DATACENTERS_WAIT_MS;
    }
    this.#lines.set(replyTo, { line, untilMs: fromMs + DATACENTERS_WAIT_MS });
    return fromMs;
  }

  #frame(record: RecordOf<'frame'>): void {
    const { atMs } = record;
    if (this.#justTold.atMs !== atMs) this.#justTold = { atMs, questions: new Set() };
    for (const { to, event } of repliesIn(record)) {
      this.#justTold.questions.add(to);
      if (this.#open.has(to)) this.#findLate(record.atMs);
      if (this.#open.delete(to)) this.#verdict.exercised();
      // One that is refused may be worked off all the same.
      if (event.error === undefined) this.#lines.delete(to);
    }
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
