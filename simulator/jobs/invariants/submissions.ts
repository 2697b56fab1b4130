/**
 * Submissions: what clients were told of their jobs stays true: an accepted one exists, is what was
 * submitted, and starts nothing after its cancel was confirmed.
 *
 * Only answers count: of a call that nobody answered it is not known whether it was carried out.
 */

import { gateJobAddress, jobAddress, workflowAddress } from '../../../machines/jobs/addresses.ts';
import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import type { HistoryRecord } from '../../history.ts';
import { type CommitRecord, isWritten } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import {
  type GateJobStep,
  type JobStep,
  type Jobs,
  jobsOf,
  type WorkflowStep,
  watching,
} from './reading-jobs.ts';

type CallRecord = Extract<HistoryRecord, { readonly type: 'call' }>;
type AnswerRecord = Extract<HistoryRecord, { readonly type: 'answer' }>;

/** Calls and what came of them. */
class Calls {
  readonly #open = new Map<string, CallRecord>();

  call(record: CallRecord): void {
    this.#open.set(record.call, record);
  }

  /** The call that is answered. */
  answer({ call }: AnswerRecord): CallRecord | undefined {
    const asked = this.#open.get(call);
    this.#open.delete(call);
    return asked;
  }
}

/** The actor that a client is told of: of a datacenter's job, or of the gate's. */
function addressOf({ gates }: JobsFacts, { to, jobId }: CallRecord): string {
  return gates.includes(to) ? gateJobAddress(jobId, to) : jobAddress(jobId, to);
}

interface Acknowledged {
  /** When it was, and when the job was seen to have ended. */
  readonly index: number;
  readonly atMs: number;
  endedAtMs: number | undefined;
}

/** Submissions whose job, or its disk, went before their client heard: the answer on its way speaks of what was. */
class LostOnTheWay {
  readonly #isWhole: (call: CallRecord) => boolean;
  readonly #open = new Map<string, CallRecord>();
  readonly #whole = new Set<string>();
  readonly #lost = new Set<string>();

  constructor(isWhole: (call: CallRecord) => boolean) {
    this.#isWhole = isWhole;
  }

  call(record: CallRecord): void {
    if (record.request !== 'submit') return;
    this.#open.set(record.call, record);
    this.#look(record);
  }

  commit(place: string): void {
    for (const [call, record] of this.#open)
      if (record.to === place && !this.#whole.has(call)) this.#look(record);
  }

  forget(isGone: (asked: CallRecord) => boolean): void {
    for (const call of this.#whole) {
      const asked = this.#open.get(call);
      if (asked === undefined || !isGone(asked)) continue;
      this.#whole.delete(call);
      this.#lost.add(call);
    }
  }

  /** Whether it is one of them. Nothing more is known of it. */
  answer({ call }: AnswerRecord): boolean {
    this.#open.delete(call);
    this.#whole.delete(call);
    return this.#lost.delete(call);
  }

  #look(record: CallRecord): void {
    if (this.#isWhole(record)) this.#whole.add(record.call);
  }
}

/** TS-4. A disk that is lost takes its jobs with it. */
export const acceptedJobsSurvive: JobsInvariant = {
  id: 'TS-4',
  kind: 'safety',
  says: 'An acknowledged submission is in the store with all its workflows, and stays there and can be found until its retention is over.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const calls = new Calls();
    const known = new Map<string, Acknowledged>();
    const stores = new Set<string>();
    const missingFor = (asked: CallRecord) =>
      missingOf(addressOf(facts, asked), asked, jobs, facts);
    const lost = new LostOnTheWay((asked) => missingFor(asked).length === 0);
    const answer = (record: AnswerRecord): void => {
      const asked = calls.answer(record);
      const isLost = lost.answer(record);
      if (asked === undefined) return;
      const address = addressOf(facts, asked);
      const before = known.get(address);
      if (before !== undefined && before.index < asked.index && isUnknown(asked, record))
        verdict.broken(`${address} was accepted and is not known any more`, record);
      if (asked.request !== 'submit' || record.outcome !== 'ok') return;
      verdict.exercised();
      const missingNow = missingFor(asked);
      if (isLost && missingNow.length > 0) return;
      const { index, atMs } = record;
      if (before === undefined) known.set(address, { index, atMs, endedAtMs: undefined });
      if (!stores.has(asked.to)) return;
      for (const missing of missingNow)
        verdict.broken(`${missing} is not in the store when its client is told`, record);
    };
    const commit = (record: CommitRecord): void => {
      if (!isWritten(record)) return;
      stores.add(record.place);
      lost.commit(record.place);
      for (const { address, record: text } of record.writes) {
        if (text !== null) continue;
        const acknowledged = known.get(address);
        if (acknowledged === undefined) continue;
        known.delete(address);
        const sinceMs = record.atMs - (acknowledged.endedAtMs ?? acknowledged.atMs);
        if (sinceMs < facts.config.jobRetentionMs - 2 * facts.epsilonMs)
          verdict.broken(`${address} is forgotten ${sinceMs} ms after its end`, record);
      }
    };
    const ended = (address: string, isEnd: boolean, atMs: number): void => {
      const acknowledged = isEnd ? known.get(address) : undefined;
      if (acknowledged !== undefined) acknowledged.endedAtMs ??= atMs;
    };
    const job = ({ after, record }: JobStep): void =>
      ended(record.address, after.endedAt !== null, record.atMs);
    const gateJob = ({ after, record }: GateJobStep): void =>
      ended(record.address, after.outcome !== null, record.atMs);
    const forget = (place: string): void => {
      forgetPlace(known, place);
      lost.forget(({ to }) => to === place);
    };
    const call = (record: CallRecord): void => {
      calls.call(record);
      lost.call(record);
    };
    return watching(jobs, { job, gateJob, commit, forget }, { call, answer });
  },
};

function forgetPlace(known: Map<string, unknown>, place: string): void {
  for (const address of known.keys()) if (address.endsWith(`@${place}`)) known.delete(address);
}

/** The answer says that there is no such job. */
function isUnknown({ request }: CallRecord, { outcome, about }: AnswerRecord): boolean {
  if (outcome !== 'refused') return false;
  if (request === 'get') return about === null;
  // To a gate whose datacenters have not answered yet, nobody is known who could have more time.
  if (request === 'extend') return false;
  return (about as { readonly reason?: unknown } | null)?.reason === 'unknown';
}

interface SubmittedBody {
  readonly workflows?: ReadonlyArray<{ readonly id: string }>;
}

/** The spawn of the workflow is in the outbox of its job. */
function isSpawnedBy({ jobs }: Jobs, job: string, workflow: string): boolean {
  const { outbox = [] } = JSON.parse(jobs.text(job) ?? '{}') as { readonly outbox?: unknown[][] };
  return outbox.some((row) => row.includes(workflow) && JSON.stringify(row).includes(SPAWN_EVENT));
}

/** What of an accepted job is not on disk. One that has ended already may be on its way out. */
function missingOf(
  address: string,
  { to, jobId, body }: CallRecord,
  jobs: Jobs,
  { gates }: JobsFacts,
) {
  if (gates.includes(to)) return jobs.gateJobs.isStored(address) ? [] : [address];
  const stored = jobs.jobs.stored(address);
  if (stored === undefined) return [address];
  if (stored.endedAt !== null) return [];
  const { workflows = [] } = body as SubmittedBody;
  return workflows
    .map(({ id }) => workflowAddress(jobId, id, to))
    .filter(
      (workflow) => !jobs.workflows.isStored(workflow) && !isSpawnedBy(jobs, address, workflow),
    );
}

/** TS-5. */
export const oneJobPerId: JobsInvariant = {
  id: 'TS-5',
  kind: 'safety',
  says: 'The same id with the same body is one job and is accepted again; with another body it is refused.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const calls = new Calls();
    const accepted = new Map<string, string>();
    const isStored = (address: string): boolean =>
      jobs.gateJobs.isStored(address) || jobs.jobs.isStored(address);
    const lost = new LostOnTheWay((asked) => isStored(addressOf(facts, asked)));
    const answer = (record: AnswerRecord): void => {
      const asked = calls.answer(record);
      if (lost.answer(record)) return;
      if (asked?.request !== 'submit' || record.outcome === 'unknown') return;
      const address = addressOf(facts, asked);
      const body = canonical(asked.body);
      const before = accepted.get(address);
      const isAccepted = record.outcome === 'ok';
      if (before !== undefined) {
        verdict.exercised();
        if (isAccepted && before !== body)
          verdict.broken(`${address} was accepted with two bodies`, record);
        if (!isAccepted && before === body && isConflict(record))
          verdict.broken(`${address} is in conflict with itself`, record);
      }
      if (isAccepted) accepted.set(address, before ?? body);
    };
    const commit = (record: CommitRecord): void => {
      if (!isWritten(record)) return;
      for (const { address, record: text } of record.writes) {
        if (text !== null) continue;
        accepted.delete(address);
        lost.forget((asked) => addressOf(facts, asked) === address);
      }
      lost.commit(record.place);
    };
    const forget = (place: string): void => {
      forgetPlace(accepted, place);
      lost.forget(({ to }) => to === place);
    };
    const call = (record: CallRecord): void => {
      calls.call(record);
      lost.call(record);
    };
    return watching(jobs, { commit, forget }, { call, answer });
  },
};

function isConflict({ about }: AnswerRecord): boolean {
  return (about as { readonly reason?: unknown } | null)?.reason === 'conflict';
}

/** What is usual may be left out of a workflow; the id of the job is not part of its body. */
const USUAL: Readonly<Record<string, string>> = { cores: '1', payload: '""', dependsOn: '[]' };

function canonical(body: unknown): string {
  return JSON.stringify(body, (name, value) => {
    if (name === 'jobId' || USUAL[name] === JSON.stringify(value)) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** TS-6. What a worker was told before may still begin there, and is stopped: the job starts nothing. */
export const nothingStartsAfterCancel: JobsInvariant = {
  id: 'TS-6',
  kind: 'safety',
  says: 'After a datacenter has confirmed the cancel of a job none of its workflows is waiting, dispatched or running there.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const calls = new Calls();
    const cancelled = new Set<string>();
    const answer = (record: AnswerRecord): void => {
      const asked = calls.answer(record);
      if (asked?.request !== 'cancel' || record.outcome !== 'ok') return;
      if (facts.datacenters.includes(asked.to)) cancelled.add(jobAddress(asked.jobId, asked.to));
      verdict.exercised();
    };
    const workflow = ({ after, record }: WorkflowStep): void => {
      if (cancelled.size === 0 || !cancelled.has(jobAddress(after.jobId, record.place))) return;
      if (/^(\{")?(PENDING|DISPATCHED|RUNNING)/.test(record.state))
        verdict.broken(`${record.address} is ${record.state} after its job was cancelled`, record);
    };
    const job = ({ before, hasGap, record }: JobStep): void => {
      // Long after, another job may have the id.
      if (before === undefined && !hasGap) cancelled.delete(record.address);
    };
    const forget = (place: string): void => {
      for (const address of cancelled) if (address.endsWith(`@${place}`)) cancelled.delete(address);
    };
    const call = (record: CallRecord): void => calls.call(record);
    return watching(jobs, { job, workflow, forget }, { call, answer });
  },
};
