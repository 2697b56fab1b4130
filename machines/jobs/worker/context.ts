/**
 * Context of a worker: the events it takes, what it remembers and what it says. The statechart is in worker.ts.
 */

import { SPAWN_EVENT, Table, type Timed, to } from '../../../runtime/machine.ts';
import { attemptAddress, operationParts } from '../addresses.ts';
import type { AttemptInput, AttemptStop, StopCause } from '../attempt.ts';
import type { KeyRange } from '../messages/fields.ts';
import type { MessageRefused } from '../messages/local.ts';
import type {
  CancelOrdered,
  DispatchRequested,
  HeartbeatAcked,
  HeartbeatReceived,
  LeaderAnnounced,
  RegisterAnswered,
  WorkerRegistered,
} from '../messages/worker.ts';
import type { WorkerRules } from '../rules.ts';
import {
  type Announcement,
  type HeldAttempt,
  type HeldAttempts,
  type Past,
  type ProgressByOperation,
  pagesOf,
  reportsOf,
} from './attempts.ts';

export type WorkerEvent = Timed<
  | RegisterAnswered
  | HeartbeatAcked
  | LeaderAnnounced
  | DispatchRequested
  | CancelOrdered
  | MessageRefused
  /** The process has gathered how far the attempts are. */
  | { readonly type: 'registration.composed'; readonly progress: ProgressByOperation }
  | {
      readonly type: 'heartbeat.composed';
      readonly progress: ProgressByOperation;
      readonly range: KeyRange;
    }
  /** The handler of an attempt is over. */
  | { readonly type: 'attempt.finished'; readonly operationId: string }
  /** Nothing more will come of an attempt. */
  | { readonly type: 'attempt.ended'; readonly operationId: string }
  /** The connection to a node that may lead the datacenter has come, or gone. */
  | { readonly type: 'manager.reachable' }
  | { readonly type: 'manager.unreachable' }
  /** Said by the machine to itself. */
  | { readonly type: 'manager.lost' }
  | { readonly type: 'worker.stop'; readonly limitMs: number }
>;

export interface WorkerInput {
  readonly workerId: string;
  readonly bootEpoch: number;
  readonly datacenter: string;
  readonly coresTotal: number;
  readonly handlers: readonly string[];
  readonly rules: WorkerRules;
}

export interface WorkerContext extends WorkerInput {
  /** Term of the latest leader heard of. */
  readonly term: number;
  /** Number of the last heartbeat sent. */
  readonly heartbeatSeq: number;
  /** Operation id from which the next heartbeat lists attempts; empty at the beginning of the list. */
  readonly listsFrom: string;
  /** Registrations sent since the last answer. */
  readonly registerTries: number;
  readonly attempts: HeldAttempts;
  /** The sum of the cores that these take up. */
  readonly coresHeld: number;
  /** Attempts that were held last, and those before them. */
  readonly past: Past;
  readonly pastBefore: Past;
  /** Those that were cancelled before they were dispatched. */
  readonly unseen: readonly string[];
  readonly announcement: Announcement | null;
  readonly stopLimitMs: number;
  /** Reason for which the datacenter does not take this worker. */
  readonly refusal: string | null;
}

export function initialWorker({
  workerId,
  bootEpoch,
  datacenter,
  coresTotal,
  handlers,
  rules,
}: WorkerInput): WorkerContext {
  return {
    workerId,
    bootEpoch,
    datacenter,
    coresTotal,
    handlers,
    rules,
    term: 0,
    heartbeatSeq: 0,
    listsFrom: '',
    registerTries: 0,
    attempts: Table.of(),
    coresHeld: 0,
    past: Table.of(),
    pastBefore: Table.of(),
    unseen: [],
    announcement: null,
    stopLimitMs: 0,
    refusal: null,
  };
}

/** The pages of a registration. */
export function registrationOf(
  { workerId, bootEpoch, coresTotal, handlers, attempts }: WorkerContext,
  progress: ProgressByOperation,
): WorkerRegistered[] {
  const named = { type: 'worker.registered', workerId, bootEpoch, coresTotal, handlers } as const;
  return pagesOf(reportsOf(attempts, progress)).map((page) => ({ ...named, ...page }));
}

/** The pages of the next heartbeat. */
export function heartbeatOf(
  { workerId, bootEpoch, term, heartbeatSeq, coresTotal, coresHeld, attempts }: WorkerContext,
  progress: ProgressByOperation,
  range: KeyRange,
): HeartbeatReceived[] {
  const named = { type: 'heartbeat.received', workerId, bootEpoch, term } as const;
  const cores = { coresTotal, coresFree: coresTotal - coresHeld };
  const beat = { ...named, heartbeatSeq: heartbeatSeq + 1, ...cores, range };
  return pagesOf(reportsOf(attempts, progress, range)).map((page) => ({ ...beat, ...page }));
}

/**
 * Changes an attempt to what it is from now on, or takes it away, and counts the cores that are taken
 * up then.
 */
export function withAttempt(
  { attempts, coresHeld }: WorkerContext,
  operationId: string,
  attempt: HeldAttempt | undefined,
): Pick<WorkerContext, 'attempts' | 'coresHeld'> {
  const given = attempts.get(operationId)?.cores ?? 0;
  if (attempt === undefined)
    return { attempts: attempts.without(operationId), coresHeld: coresHeld - given };
  const held = attempts.with(operationId, attempt);
  return { attempts: held, coresHeld: coresHeld - given + attempt.cores };
}

/**
 * Messages that stop those of the attempts that are held: the first stop of an attempt spawns the
 * actor that sees to it, and a later one finds it there.
 */
export function stops(
  { attempts, workerId, rules: { cancelGraceMs } }: WorkerContext,
  operations: Iterable<string>,
  cause: StopCause,
): Array<readonly [ReturnType<typeof to>, AttemptStop | Spawn]> {
  return [...operations]
    .filter((operationId) => attempts.get(operationId)?.isFinished === false)
    .flatMap((operationId) => {
      const { jobId, attemptId } = operationParts(operationId);
      const attempt = to(attemptAddress(jobId, attemptId, workerId));
      const input = { jobId, attemptId, workerId, cancelGraceMs, cause };
      const spawned: Spawn = { type: SPAWN_EVENT, input };
      const stop: AttemptStop = { type: 'attempt.stop', cause };
      return [[attempt, spawned] as const, [attempt, stop] as const];
    });
}

interface Spawn {
  readonly type: typeof SPAWN_EVENT;
  readonly input: AttemptInput;
}
