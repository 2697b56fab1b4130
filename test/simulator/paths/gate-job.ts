/**
 * The paths of a job at its gate: two datacenters that take it or not, report, time out, end, refuse
 * what they are told, or fall silent; submitted here, brought back to a gate that had lost it, or
 * with timeouts that only watch.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job/context.ts';
import { overallDueAt } from '../../../machines/jobs/gate-job/rules.ts';
import { gateJobMachine } from '../../../machines/jobs/gate-job.ts';
import { FIGURES } from '../../jobs/figures.ts';
import type { PathPlan } from '../../paths/plan.ts';

const TIMEOUT_MS = 45_000;
const rules = {
  allStuckThresholdMs: 20_000,
  silentAfterMs: 30_000,
  quorum: 'any',
  settleLimitMs: 25_000,
  gateDispatchLimitMs: 10_000,
  reportIntervalMs: 10_000,
};
const terms = { timeoutMs: TIMEOUT_MS };
const targetDatacenters = ['A', 'B'];
const submitted = {
  jobId: 'j1',
  gateId: 'gate-1',
  gateBoot: 1,
  terms,
  targetDatacenters,
  digest: 'd1',
  rules,
  workflowsTotal: 1,
  pages: 1,
};
const figures = { ...FIGURES, timeoutMs: TIMEOUT_MS, targetDatacenters };
const tally = { workflowsTotal: 1, workflowsCompleted: 0, workflowsFailed: 0 };
const origin = { jobId: 'j1', datacenter: 'A', managerId: 'A.manager-1', leaderFence: 1 };
const rebuilt = {
  jobId: 'j1',
  gateId: 'gate-1',
  rebuiltFrom: {
    ...origin,
    figures,
    terms,
    digest: 'd1',
    workflowsTotal: 1,
    highestDecisionEpoch: [0, 0],
  },
};
const end = { reason: null, localReason: null, gateReason: null, sinceEndedMs: 0 };
const results = { decisionEpoch: null, results: [], resultsOmitted: false };

const answers = (nonce: string | null | undefined) => ({
  rejectedDecisionEpoch: null,
  highestDecisionEpoch: [0, 0],
  ...(nonce != null && nonce !== '' && { nonce }),
});

/** What one datacenter may say. */
function said(context: GateJobContext, at: number, datacenter: string) {
  const record = context.datacenters[datacenter];
  const leaderFence = Math.max(1, record?.leaderFence ?? 1);
  const from = { ...origin, datacenter, managerId: `${datacenter}.manager-1`, leaderFence };
  const now = { ...figures, elapsedMs: at - context.submittedAt };
  const answer = { type: 'submission.answered', ...from, created: true };
  const seq = { ...tally, reportSeq: (record?.reportSeq ?? 0) + 1, hasRecentProgress: true };
  const progress = { type: 'progress.reported', ...from, ...seq };
  const epoch = record?.told?.epoch ?? [1, 1];
  const ack = {
    type: 'ack.received',
    jobId: 'j1',
    datacenter,
    ackOf: 'timeout.declared',
    duplicate: false,
    leaderFence,
    gateBoot: null,
    highestDecisionEpoch: null,
    decisionEpoch: epoch,
    reportSeq: null,
  };
  const corrected = { type: 'status.corrected', ...tally, ...end, status: 'running' };
  const final = { type: 'final.reported', ...from, ...tally, ...end, ...results };
  return [
    { ...answer, accepted: true, reason: null },
    { ...answer, accepted: false, reason: 'invalid' },
    { type: 'submission.deferred', jobId: 'j1', datacenter, retryAfterMs: 5_000 },
    { ...progress, figures: now },
    { ...progress, figures: { ...now, extensionsMs: 20_000 } },
    { ...progress, figures: { ...now, sinceProgressMs: 30_000 } },
    { ...final, figures: now, status: 'completed' },
    {
      type: 'timeout.reported',
      ...from,
      figures: { ...now, locallyTimedOut: true },
      reason: 'stuck',
      detail: '',
      sinceDetectedMs: 0,
    },
    { type: 'leader.transferred', ...from, leaderFence: leaderFence + 1, figures: now, term: 2 },
    {
      ...corrected,
      ...from,
      leaderFence: leaderFence + 1,
      figures: now,
      correction: 'staleLeaderFence',
      rejectedDecisionEpoch: epoch,
      highestDecisionEpoch: epoch,
    },
    // How things are, in answer to the question that was asked last.
    {
      ...corrected,
      ...from,
      figures: now,
      correction: 'requested',
      ...answers(record?.question?.nonce),
    },
    { ...ack, accepted: true, reason: null },
    { ...ack, accepted: false, reason: 'notLeader' },
    { type: 'status.found', datacenter, found: null },
    { type: 'status.found', datacenter, found: { status: 'completed', ...end } },
  ];
}

export const gateJobPlan: PathPlan = {
  machine: gateJobMachine,
  inputs: {
    submitted,
    'only watched, in one datacenter': {
      ...submitted,
      terms: { timeoutMs: 8_000, enforce: false },
      targetDatacenters: ['A'],
    },
    rebuilt,
    'in one datacenter': { ...submitted, targetDatacenters: ['A'] },
  },
  events: (context: GateJobContext, at: number) => [
    ...said(context, at, 'A'),
    ...said(context, at, 'B').slice(0, 7),
    { type: 'cancel.requested', jobId: 'j1', datacenter: 'A', replyTo: 'client/c1@far' },
    { type: 'rules.given', rules, fence: 1 },
    { type: 'submission.resumed', jobId: 'j1' },
  ],
  /** The gate was away while datacenters should have been asked. */
  late: ({ datacenters, outcome }: GateJobContext) =>
    outcome === null && !Object.values(datacenters).some(({ run }) => run === 'running')
      ? [
          { event: { type: 'rules.given', rules, fence: 1 } as never, lateMs: 20_000 },
          { event: { type: 'submission.resumed', jobId: 'j1' } as never, lateMs: 20_000 },
        ]
      : [],
  refusals: [
    ['timeout.declared', 'ACTOR_ENDED'],
    ['cancel.requested', 'ACTOR_UNKNOWN'],
    ['ack.received', 'ACTOR_ENDED'],
  ],
  key: (context: GateJobContext, at: number) => [
    Object.values(context.datacenters).map((record) => [
      record.run,
      record.fullUntil !== undefined,
      record.decision,
      record.contact,
      record.final?.status,
      record.report,
      record.extensionsMs > 0,
      (record.sinceProgressMs ?? 0) > rules.allStuckThresholdMs,
      record.askedAt !== null,
    ]),
    context.decision?.kind,
    context.outcome?.status,
    [context.pages > 0, context.shadowed !== null, context.rules === null],
    at > overallDueAt(context),
  ],
  situationsMax: 700,
};
