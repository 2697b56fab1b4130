/**
 * The paths of a job in one datacenter: alone, under a gate, where timeouts only watch, and where
 * the first failure ends it.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import { jobMachine } from '../../../machines/jobs/job.ts';
import type { PathPlan } from '../../../simulator/paths/plan.ts';

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
    checkIntervalMs: 5_000,
  },
};
const gated = { ...alone, gateId: 'gate-1', decisionEpoch: [1, 0], targetDatacenters: ['A', 'B'] };

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

function decisions({ leaderFence, highestDecisionEpoch: [boot, counter] }: JobContext) {
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
  return [
    { ...declared, ...valid },
    { ...declared, ...stale },
    { ...cancel, ...valid },
    { ...cancel, ...stale },
    { ...cancel, replyTo: 'client/c1@far' },
  ];
}

const acked = (ackOf: string) => ({
  type: 'ack.received',
  jobId: 'j1',
  datacenter: 'A',
  ackOf,
  accepted: true,
  duplicate: false,
  reason: null,
  leaderFence: 1,
  gateBoot: 1,
  highestDecisionEpoch: null,
  decisionEpoch: null,
  reportSeq: null,
});

export const jobPlan: PathPlan = {
  machine: jobMachine,
  inputs: {
    alone,
    gated,
    'only watched': { ...alone, enforce: false },
    'gated, and late': { ...gated, beginsBefore: { term: 1, at: 0 } },
    'gated, only watched': { ...gated, enforce: false },
    'failing fast': { ...alone, failFast: true },
  },
  events: (context: JobContext) => [
    { type: 'job.assembled' },
    { type: 'deadlines.renew' },
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
    { type: 'status.requested', jobId: 'j1', datacenter: 'A' } as never,
  ],
  refusals: [
    ['workflow.ready', 'ACTOR_UNKNOWN'],
    ['final.reported', 'ACTOR_ENDED'],
    ['progress.reported', 'ACTOR_ENDED'],
  ],
  key: (context: JobContext, at: number) => [
    context.status,
    context.table.standing,
    context.timeoutReportedAt !== null,
    context.shadows.length > 0,
    context.isFinalKnown,
    context.heldDecision?.leaderFence,
    context.obeyedDecisionEpoch !== null,
    at > context.lastProgressAt + context.rules.allStuckThresholdMs,
  ],
  situationsMax: 1_600,
  unreachable: {
    'leadership.lost':
      'The runtime lets the actors of a place go that it has lost, and tells none.',
    'job.assembling × message.refused': 'It has said nothing yet.',
    'job.active.authority.suspended': 'Only `leadership.lost` leads there.',
    'job.active.reporting.suspended': 'Only `leadership.lost` leads there.',
    'job.active.authority.leading.resuming always (1)':
      'It leads anew only after `leadership.lost`.',
    'job.active.authority.leading.resuming always (3)':
      'It leads anew only after `leadership.lost`.',
  },
};
