/**
 * Account of a job's time, counted from the events that it took, the terms it was spawned with and the
 * configuration, and not read from its record: when it began, its credit and holds, when it got further,
 * how its workflows stand, when it reported and when it heard its gate.
 *
 * Written from the specification. Times are those of the leader's own clock. Where turns were not seen it
 * goes on from the record that was found behind them; what a takeover does to clocks is FO-1's and FO-3's.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import { knobs } from '../../../runtime/base/knob.ts';
import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { isAccepted, localVerdict } from './reading-deadlines.ts';
import { isWordOfGate } from './reading-ends.ts';
import type { JobStep } from './reading-jobs.ts';
import { type Standings, standingsAfter, standingsOf } from './reading-standings.ts';
import type { Standing } from './reading-steps.ts';

/** As it is after a step. */
export interface Account {
  readonly timeoutMs: number;
  readonly stuckThresholdMs: number;
  readonly gateId: string | null;
  /** What deadlines count from. */
  readonly baseAt: number;
  readonly creditByWorker: Readonly<Record<string, number>>;
  readonly creditIds: ReadonlySet<string>;
  /** What people gave, by request. */
  readonly ofPeople: Readonly<Record<string, number>>;
  readonly holdUntil: number;
  readonly lastProgressAt: number;
  /** The event that said so. */
  readonly lastProgressBy: string;
  /** Nobody is found stuck before the end of the grace after a takeover. */
  readonly graceUntil: number;
  /** When the leader took over; undefined while the job has had only one. */
  readonly ledSince: number | undefined;
  readonly reportedAt: number | null;
  readonly heardGateAt: number;
  readonly standings: Standings;
  /** Why its gate had ended it before all of it was there. */
  readonly heldReason: string | null;
  /** The event that moved the time budget's deadline last. */
  readonly movedBy: string;
  /** When the step was taken. */
  readonly asOf: number;
}

interface TakenEvent {
  readonly type: string;
  readonly sinceProgressMs?: number;
  readonly creditId?: string;
  readonly workerId?: string;
  readonly grantMs?: number;
  readonly requestId?: string;
  readonly byMs?: number;
  readonly reason?: string;
}

/** Most that people may add to one job. */
const TIMEOUT_MS_MAX = 5_184_000_000;

export class Accounts {
  readonly #config: JobsConfiguration;
  readonly #known = new Map<string, Account>();
  #step: JobStep | undefined;
  #was: Account | undefined;

  constructor(config: JobsConfiguration) {
    this.#config = config;
  }

  /** Before the step and after it; before a spawn there is none. */
  take(step: JobStep): { readonly was: Account | undefined; readonly now: Account } {
    const { address } = step.record;
    if (step !== this.#step) {
      this.#step = step;
      this.#was = this.#before(step);
      const now = this.#was === undefined ? spawnedAccount(step) : this.#after(this.#was, step);
      this.#known.set(address, { ...now, asOf: step.record.takenAt });
    }
    return { was: this.#was, now: this.#known.get(address) as Account };
  }

  /** Account of a job that stands: where its last turn was not seen its record is believed. */
  standing({ address, context, takenAt }: Standing<JobContext>): Account {
    const known = this.#known.get(address);
    return known?.asOf === takenAt ? known : believed(context, takenAt);
  }

  forget(place: string): void {
    for (const address of this.#known.keys())
      if (address.endsWith(`@${place}`)) this.#known.delete(address);
  }

  /** The last moment at which the time budget is not used up. */
  overallDue(account: Account): number {
    const { baseAt, timeoutMs, holdUntil } = account;
    return Math.max(baseAt + timeoutMs + this.creditMs(account), holdUntil);
  }

  stuckDue({ lastProgressAt, stuckThresholdMs, graceUntil, holdUntil }: Account): number {
    return Math.max(lastProgressAt + stuckThresholdMs, graceUntil, holdUntil);
  }

  fallbackDue({ reportedAt, heardGateAt }: Account): number {
    return Math.max(reportedAt ?? 0, heardGateAt) + this.#config.gateFallbackMs;
  }

  /** An attempt of the job is dispatched or running, or it need not be. */
  isStuckPossible({ standings }: Account): boolean {
    return this.#config.stuckWhileQueued || standings.out > 0;
  }

  /** What extensions add: those of workers up to the cap, and all that people gave. */
  creditMs({ creditByWorker, ofPeople, timeoutMs }: Account): number {
    const grants = Object.values(creditByWorker);
    const { extensionAggregation, extensionJobCapMs } = this.#config;
    const ofWorkers = extensionAggregation === 'max' ? Math.max(0, ...grants) : sumOf(grants);
    return Math.min(ofWorkers, extensionJobCapMs ?? timeoutMs) + sumOf(Object.values(ofPeople));
  }

  #before({ record, before, after, hasGap }: JobStep): Account | undefined {
    if (before === undefined && !hasGap) return undefined;
    const known = this.#known.get(record.address);
    return hasGap || known === undefined ? believed(before ?? after, record.takenAt) : known;
  }

  #after(account: Account, step: JobStep): Account {
    const { before, stateBefore, after, record } = step;
    const { takenAt } = record;
    const event = record.event as TakenEvent;
    if (before === undefined) return account;
    if (stateBefore === 'assembling') return assembling(account, event, takenAt);
    let next = account;
    if (isTakeover(step)) next = this.#takenOver(next, step);
    next = this.#withTime(next, step, event);
    const standings = standingsAfter(next.standings, step);
    const progressAt = progressIn(step, event, standings !== next.standings);
    next = { ...next, standings };
    if (progressAt > next.lastProgressAt)
      next = { ...next, lastProgressAt: progressAt, lastProgressBy: wordsOf(step) };
    if (next.gateId !== null && isWordOfGate(record)) next = { ...next, heardGateAt: takenAt };
    if (localVerdict(before, after)?.kind === 'reported') next = { ...next, reportedAt: takenAt };
    if (this.overallDue(next) !== this.overallDue(account))
      next = { ...next, movedBy: wordsOf(step) };
    return next;
  }

  /** More time, or less. */
  #withTime(account: Account, { before, record }: JobStep, event: TakenEvent): Account {
    const { creditByWorker, creditIds, ofPeople } = account;
    const { workerId = '', creditId = '', requestId = '' } = event;
    const isEnded = before?.endedAt !== null;
    // Time that was found to be over stays so.
    if (account.reportedAt !== null || isEnded) return account;
    switch (event.type) {
      case 'extension.credited': {
        if (creditIds.has(creditId)) return account;
        const granted = (creditByWorker[workerId] ?? 0) + (event.grantMs ?? 0);
        return {
          ...withProgress(account, record.takenAt, `${event.type} at ${record.takenAt}`),
          creditByWorker: { ...creditByWorker, [workerId]: granted },
          creditIds: new Set([...creditIds, creditId]),
        };
      }
      case 'job.extend':
        if (!isTaken(account, event)) return account;
        return {
          ...withProgress(account, record.takenAt, `${event.type} at ${record.takenAt}`),
          ofPeople: { ...ofPeople, [requestId]: event.byMs as number },
        };
      case 'worker.lost': {
        const { [workerId]: lost, ...left } = creditByWorker;
        if (lost === undefined) return account;
        const holdUntil = record.takenAt + this.#config.checkIntervalMs;
        return { ...account, creditByWorker: left, holdUntil };
      }
      default:
        return account;
    }
  }

  /** Elapsed time goes on; on a clock that is behind what was noted keeps its age. */
  #takenOver(account: Account, { before, record }: JobStep): Account {
    const { takenAt } = record;
    const { seenAt, startedAt } = before as JobContext;
    const shiftMs = Math.min(0, takenAt - seenAt);
    const elapsedMs = Math.max(seenAt - account.baseAt, takenAt - startedAt);
    const { holdUntil, reportedAt, stuckThresholdMs } = account;
    return {
      ...account,
      baseAt: takenAt - elapsedMs,
      lastProgressAt: account.lastProgressAt + shiftMs,
      heardGateAt: account.heardGateAt + shiftMs,
      holdUntil: holdUntil === 0 ? 0 : holdUntil + shiftMs,
      reportedAt: reportedAt === null ? null : reportedAt + shiftMs,
      graceUntil: takenAt + Math.min(stuckThresholdMs, 2 * this.#config.reportIntervalMs),
      ledSince: takenAt,
    };
  }
}

/** All its workflows are there with this step, or are spawned by it: its time begins. */
export function isAcceptance({ stateBefore, record: { event, state } }: JobStep): boolean {
  if (event.type === SPAWN_EVENT) return isAccepted(state);
  return event.type === 'job.assembled' && stateBefore === 'assembling';
}

/** The job has a new leader with this step. What the runtime told it is not in the record of the turn. */
export function isTakeover({ before, stateBefore, after, record }: JobStep): boolean {
  if (record.event.type !== 'leadership.acquired' || before === undefined) return false;
  // One that is not accepted yet has no leader: it only learns whose node it is on.
  return stateBefore !== 'assembling' && after.term > before.term;
}

/** The message of a step: what it was, whose, and when it was taken. */
function wordsOf({ record }: JobStep): string {
  const { event, from = 'itself', takenAt } = record;
  return `${event.type} of ${from} at ${takenAt}`;
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0);

const withProgress = (account: Account, at: number, by: string): Account =>
  at <= account.lastProgressAt ? account : { ...account, lastProgressAt: at, lastProgressBy: by };

/** Its terms are in what it was spawned with; its time has not begun. */
function spawnedAccount({ record, after }: JobStep): Account {
  const { input } = record.event as { readonly input?: JobContext };
  const { timeoutMs, stuckThresholdMs, gateId } = input ?? after;
  const account = begun(believed(after, record.takenAt), record.takenAt);
  return { ...account, timeoutMs, stuckThresholdMs, gateId };
}

/** Before all of it is there nothing counts; what its gate decides is kept. */
function assembling(account: Account, event: TakenEvent, at: number): Account {
  if (event.type === 'job.assembled') return begun(account, at);
  if (event.type === 'timeout.declared') return { ...account, heldReason: event.reason ?? null };
  return account;
}

const begun = (account: Account, at: number): Account => ({
  ...account,
  baseAt: at,
  lastProgressAt: at,
  heardGateAt: at,
  lastProgressBy: 'its acceptance',
  movedBy: 'its acceptance',
});

function believed(context: JobContext, asOf: number): Account {
  const { timeoutMs, stuckThresholdMs, gateId, baseAt, holdUntil, lastProgressAt } = context;
  return {
    ...{ timeoutMs, stuckThresholdMs, gateId, baseAt, holdUntil, lastProgressAt },
    creditByWorker: context.creditByWorker,
    creditIds: new Set(context.creditIds),
    ofPeople: Object.fromEntries(context.operatorCredits.map((one) => [one.requestId, one.byMs])),
    lastProgressBy: 'a turn that nobody saw',
    graceUntil: context.stuckGraceUntil,
    ledSince: undefined,
    reportedAt: context.timeoutReportedAt,
    heardGateAt: context.lastGateContactAt,
    standings: standingsOf(context),
    heldReason: null,
    movedBy: 'turns that nobody saw',
    asOf,
  };
}

/** Once for each request, whole milliseconds, and not too much in all. */
function isTaken({ ofPeople }: Account, { requestId = '', byMs = 0 }: TakenEvent): boolean {
  const given = Object.values(ofPeople);
  const most = knobs().find(({ name }) => name === 'operatorCreditsMax')?.value ?? 0;
  return (
    !Object.hasOwn(ofPeople, requestId) &&
    Number.isSafeInteger(byMs) &&
    byMs >= 1 &&
    sumOf(given) + byMs <= TIMEOUT_MS_MAX &&
    given.length < most
  );
}

/** When the job got further by this step, credit apart; the beginning of time when it did not. */
function progressIn({ before, record }: JobStep, event: TakenEvent, hasMoved: boolean): number {
  const none = Number.NEGATIVE_INFINITY;
  if (before?.endedAt !== null) return none;
  switch (event.type) {
    case 'workflow.changed':
      return record.takenAt;
    case 'message.refused':
      return hasMoved ? record.takenAt : none;
    case 'workflow.progressed':
      return record.takenAt - (event.sinceProgressMs ?? 0);
    default:
      return none;
  }
}
