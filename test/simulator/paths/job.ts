/**
 * The paths of a job in one datacenter: alone, under a gate, where timeouts only watch, and where
 * the first failure ends it.
 */

import { viewOf } from '../../../machines/jobs/job/table.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import { jobMachine } from '../../../machines/jobs/job.ts';
import { acked } from '../../jobs/machines/job-scenes.ts';
import type { PathPlan } from '../../paths/plan.ts';

const alone = {
  jobId: 'j1',
  datacenter: 'A',
  managerId: 'A.manager-1',
  term: 1,
  gateId: null,
  digest: 'd',
  timeoutMs: 30_000,
  stuckThresholdMs: 22_000,
  failFast: false,
  enforce: true,
  targetDatacenters: ['A'],
  decisionEpoch: [0, 0],
  ids: ['w1', 'w2'],
  dependsOn: {},
  rules: {
    gateFallbackMs: 15_000,
    reportIntervalMs: 10_000,
    allStuckThresholdMs: 12_000,
    extensionAggregation: 'sum',
    extensionJobCapMs: null,
    stuckWhileQueued: false,
    checkIntervalMs: 50_000,
  },
};
/** Spawns of its workflows, which it has been given with its own. */
const births = { rules: {}, workflows: [{ handler: 'sleep', payload: 'p', cores: 1 }] };
/** Its time is not over when that of a hold is. */
const patient = { timeoutMs: 600_000, ids: ['w1'] };
const gated = { ...alone, gateId: 'gate-1', decisionEpoch: [1, 0], targetDatacenters: ['A', 'B'] };

const NOTHING_BETWEEN =
  'Alone it waits for its deadlines only, and no time passes between its progress and a takeover.';
const HELD_ALIKE = 'The time budget is held for as long, in the region before.';

const changed = (workflowId: string, state: string, final: boolean) => ({
  type: 'workflow.changed',
  workflowId,
  state,
  run: 1,
  final,
  workerId: 'W',
  cause: state === 'FAILED' ? 'failed' : null,
  lateEvent: null,
});

const changes = [
  changed('w1', 'DISPATCHED', false),
  changed('w1', 'FAILED_READY_FOR_RETRY', false),
  ...['COMPLETED', 'FAILED', 'CANCELLED'].map((state) => changed('w1', state, true)),
  ...['COMPLETED', 'CANCELLED'].map((state) => changed('w2', state, true)),
];

function decisions({
  leaderFence,
  highestDecisionEpoch: [boot, counter],
  obeyedDecisionEpoch: obeyed,
}: JobContext) {
  const declared = {
    type: 'timeout.declared',
    jobId: 'j1',
    datacenter: 'A',
    reason: 'datacenterTimeout',
    detail: '',
    sinceDeclaredMs: 0,
    elapsedMs: 0,
    timeoutMs: 30_000,
  };
  const cancel = { type: 'cancel.requested', jobId: 'j1', datacenter: 'A' };
  const valid = { decisionEpoch: [boot, counter + 1], leaderFence };
  const stale = { ...valid, leaderFence: leaderFence - 1 };
  const outdated = { ...valid, decisionEpoch: [0, 0] };
  return [
    { ...declared, ...valid },
    { ...declared, ...stale },
    { ...declared, ...outdated },
    { ...cancel, ...valid },
    { ...cancel, ...stale },
    { ...cancel, ...outdated },
    { ...cancel, replyTo: 'client/c1@far' },
    ...(obeyed === null
      ? []
      : [declared, cancel].map((event) => ({ ...event, leaderFence, decisionEpoch: obeyed }))),
  ];
}

export const jobPlan: PathPlan = {
  machine: jobMachine,
  inputs: {
    alone,
    gated,
    'only watched': { ...alone, enforce: false },
    'gated, and late': { ...gated, beginsBefore: { term: 1, at: 0 } },
    'gated, only watched': { ...gated, enforce: false },
    'whole at birth': { ...alone, ids: ['w1'], births },
    'gated, late, whole at birth': {
      ...{ ...gated, ids: ['w1'], births, beginsBefore: { term: 1, at: 0 } },
    },
    'failing fast': { ...alone, failFast: true },
    patient: { ...alone, ...patient },
    'gated, patient': { ...gated, ...patient },
  },
  events: (context: JobContext) => [
    { type: 'job.assembled' },
    ...changes,
    { type: 'workflow.progressed', workflowId: 'w1', sinceProgressMs: 0 } as never,
    { type: 'worker.lost', workerId: 'W', registration: 1, cause: 'evicted' } as never,
    {
      type: 'extension.credited',
      creditId: 'c1',
      workerId: 'W',
      registration: 1,
      grantMs: 5_000,
      operationId: 'j1/w1#1',
    } as never,
    {
      type: 'job.extend',
      requestId: 'e1',
      byMs: 5_000,
      by: 'ann',
      replyTo: 'client/c1@far',
    } as never,
    ...decisions(context),
    acked('progress.reported'),
    acked('final.reported'),
    { ...acked('progress.reported'), accepted: false, reason: 'unknown' },
    { type: 'status.requested', jobId: 'j1', datacenter: 'A' } as never,
  ],
  late: () =>
    [5_000, 100_000].map((lateMs) => ({
      event: { type: 'status.requested', jobId: 'j1', datacenter: 'A' } as never,
      lateMs,
    })),
  refusals: [
    ['workflow.ready', 'ACTOR_UNKNOWN'],
    ['final.reported', 'ACTOR_ENDED'],
    ['progress.reported', 'ACTOR_ENDED'],
  ],
  key: (context: JobContext, at: number) => [
    context.status,
    viewOf(context.table).standing,
    context.timeoutReportedAt !== null,
    context.shadows.length > 0,
    context.isFinalKnown,
    context.heldDecision?.leaderFence,
    context.heldDecision?.type,
    Object.keys(context.creditByWorker).length,
    [context.holdUntil > at, context.stuckGraceUntil > at],
    context.obeyedDecisionEpoch !== null,
    at > context.lastProgressAt + context.rules.allStuckThresholdMs,
  ],
  situationsMax: 1_600,
  unreachable: {
    'job.active.authority.leading.localAuthority.tracking.stuckLimit.grace': NOTHING_BETWEEN,
    'job.active.authority.leading.localAuthority.tracking.stuckLimit.armed always (3)':
      NOTHING_BETWEEN,
    'job.active.authority.leading.localAuthority.tracking.stuckLimit.held after holdLimit (1)':
      HELD_ALIKE,
    'job.active.authority.leading.gateCoordinated.tracking.stuckLimit.held after holdLimit (1)':
      HELD_ALIKE,
    'job.assembling × message.refused': 'It has said nothing yet.',
  },
};
