/** Histories of one worker's health by hand: registered at zero, with one attempt of one job. */

import type { Operation } from '../../../machines/jobs/worker-health/context.ts';
import { initialWorkerHealth } from '../../../machines/jobs/worker-health/context.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import { healthRules, resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import { Table } from '../../../runtime/machine.ts';
import { type Circumstances, EPOCH, JOB, moment, Tale } from './tale.ts';

export const HEALTH = 'worker-health/W@A';
export const WORKFLOW = 'workflow/j1/w1@A';
export const OPERATION = 'j1/w1#1';
export const TRUSTED =
  '{"trusted":{"hearing":{},"standing":"healthy","credit":"settled","contact":"heard"}}';

export const SUSPECT = '{"suspect":"settled"}';
export const EVICTED = '{"evicted":"silent"}';

export type HealthTale = Tale<WorkerHealthContext>;

/** Its deadline is at 30 s unless it says otherwise. */
export function health(more: Partial<WorkerHealthContext> = {}): HealthTale {
  const rules = healthRules(resolveConfiguration());
  const born = initialWorkerHealth({ workerId: 'W', datacenter: 'A', rules, at: EPOCH });
  const registered = { registration: 1, bootEpoch: 7, deadline: moment(30_000), heard: true };
  const { operations = Table.of<Operation>({ [OPERATION]: { heartbeatSeq: 1 } }), ...rest } = more;
  const tale = new Tale(HEALTH, born, 'unregistered').turn(
    0,
    { type: 'registration.told', registration: 1, bootEpoch: 7 },
    { ...registered, ...rest },
    { state: TRUSTED },
  );
  for (const [id, operation] of operations) placed(tale, id, operation);
  return tale;
}

/** An attempt is given to the worker, and taken unless it says otherwise. */
function placed(tale: HealthTale, id: string, operation: Operation): void {
  const [jobId, attemptId] = id.split(/\/(.*)/);
  const about = { jobId, attemptId, registration: 1 };
  const operations = tale.context.operations.with(id, operation);
  tale.turn(5, { type: 'attempt.placed', ...about }, { operations });
  const { heartbeatSeq } = operation;
  if (heartbeatSeq === undefined) return;
  tale.turn(10, { type: 'attempt.running', ...about, heartbeatSeq }, { lastHeardAt: moment(10) });
}

export interface Asked {
  readonly requestId?: string;
  readonly progress?: unknown;
  readonly completedItems?: number;
}

const request = ({ requestId = 'r1', progress = 0.1, completedItems }: Asked) => ({
  type: 'extension.requested',
  requestId,
  operationId: OPERATION,
  currentProgress: progress,
  ...(completedItems !== undefined && { completedItems }),
});

interface Wrong {
  /** Granted; default: half of the one before. */
  readonly ms?: number;
  /** What is wrong in the answer, and in what is remembered. */
  readonly answer?: object;
  readonly context?: Partial<WorkerHealthContext>;
  /** Whom the credit goes to. */
  readonly to?: readonly string[];
}

/** A grant as it should be, but for what is wrong in it. */
export function grants(
  tale: HealthTale,
  atMs: number,
  asked: Asked = {},
  { ms, answer: wrong = {}, context: wrongContext = {}, to = [JOB] }: Wrong = {},
): HealthTale {
  const { requestId = 'r1', progress = 0.1, completedItems } = asked;
  const { context } = tale;
  const operation: Operation = context.operations.get(OPERATION) ?? {};
  const { grants: before = 0 } = operation;
  const extensionMs = ms ?? Math.max(1_000, Math.floor(30_000 / 2 ** before));
  const deadline = context.deadline + extensionMs;
  const answer = {
    requestId,
    granted: true,
    extensionMs,
    deadlineInMs: deadline - moment(atMs),
    remainingExtensions: 5 - before - 1,
    denialReason: null,
    exhaustionWarning: false,
    ...wrong,
  };
  const granted = {
    ...operation,
    grants: before + 1,
    grantedProgress: progress as number,
    ...(completedItems !== undefined && { grantedItems: completedItems }),
  };
  tale.turn(atMs, request(asked), {
    operations: context.operations.with(OPERATION, granted),
    grantCount: context.grantCount + 1,
    deadline,
    pending: [...context.pending, { answer, replyTo: '', waitingFor: ['j1'] }],
    creditedJobs: ['j1'],
    ...wrongContext,
  });
  for (const job of to) tale.says(job, { type: 'extension.credited', creditId: requestId });
  return tale;
}

/** A denial as it should be, but for what is wrong in it. */
export function denies(
  tale: HealthTale,
  atMs: number,
  asked: Asked,
  { answer: wrong = {}, context: wrongContext = {} }: Wrong = {},
): HealthTale {
  const { context } = tale;
  const answer = {
    requestId: asked.requestId ?? 'r1',
    granted: false,
    extensionMs: 0,
    deadlineInMs: context.deadline - moment(atMs),
    remainingExtensions: 5 - (context.operations.get(OPERATION)?.grants ?? 0),
    denialReason: 'noProgress' as const,
    exhaustionWarning: false,
    ...wrong,
  };
  return tale.turn(atMs, request(asked), {
    answers: [...context.answers, answer],
    denials: context.denials + 1,
    ...wrongContext,
  });
}

/** A heartbeat of the worker that lists these attempts of `j1`. */
export function beats(
  tale: HealthTale,
  atMs: number,
  attemptIds: readonly string[],
  changes: Partial<WorkerHealthContext> = {},
  more: { readonly event?: object; readonly how?: Circumstances } = {},
): HealthTale {
  const attempts = attemptIds.map((attemptId) => ({ jobId: 'j1', attemptId }));
  const event = { bootEpoch: 7, heartbeatSeq: 2, page: 1, pages: 1, attempts, ...more.event };
  const deadline = Math.max(tale.context.deadline, moment(atMs + 30_000));
  return tale.turn(
    atMs,
    { type: 'heartbeat.received', ...event },
    { deadline, ...changes },
    more.how ?? { state: TRUSTED },
  );
}
