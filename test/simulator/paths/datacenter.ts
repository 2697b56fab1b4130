/**
 * The paths of a datacenter as a gate's job knows it: it takes the job or not, reports, times out, ends,
 * makes of a decision what it likes, falls silent and is caught up with. Its gate's job steps it; here it is
 * walked as a machine of its own.
 */

import type {
  DatacenterContext,
  DatacenterEvent,
} from '../../../machines/jobs/datacenter/context.ts';
import { datacenterMachine } from '../../../machines/jobs/datacenter.ts';
import { FIGURES } from '../../jobs/figures.ts';
import type { PathPlan } from '../../paths/plan.ts';

const SILENT_AFTER_MS = 30_000;
const limits = {
  silentAfterMs: SILENT_AFTER_MS,
  missedAfterMs: SILENT_AFTER_MS / 2,
  allStuckThresholdMs: 6 * SILENT_AFTER_MS,
  dispatchDueAt: Number.MAX_SAFE_INTEGER,
  isRebuilt: false,
  roomCharacters: 1_000,
};
const figures = { ...FIGURES, timeoutMs: 45_000 };
const origin = { jobId: 'j1', datacenter: 'A', managerId: 'A.manager-1' };
const tally = { workflowsTotal: 1, workflowsCompleted: 0, workflowsFailed: 0 };
const end = { reason: null, localReason: null, gateReason: null, sinceEndedMs: 0 };
const results = { decisionEpoch: null, results: [], resultsOmitted: false };
const WORDS = [
  ['progress.reported', { hasRecentProgress: true }],
  ['timeout.reported', { reason: 'stuck', detail: '', sinceDetectedMs: 0 }],
  ['leader.transferred', { term: 2 }],
  ['final.reported', { ...end, ...results, status: 'completed' }],
  ['status.corrected', { ...end, status: 'running', correction: 'requested' }],
] as const;

/** Whatever its job may say of itself, by the leader that is known or by a newer one. */
function words({ leaderFence, reportSeq, told, question }: DatacenterContext): object[] {
  const fence = Math.max(1, leaderFence);
  const epochs = { rejectedDecisionEpoch: null, highestDecisionEpoch: [0, 0] };
  const said = WORDS.map(([type, more]) => ({ type, ...origin, ...tally, figures, ...more }));
  const corrected = { ...said[4], leaderFence: fence, ...epochs };
  const epoch = told?.epoch ?? [1, 1];
  return [
    ...[fence, fence + 1].flatMap((leaderFence) =>
      said.map((word) => ({ ...epochs, ...word, leaderFence, reportSeq: reportSeq + 1 })),
    ),
    // One that was overtaken, and words that say what others say.
    { ...said[0], leaderFence: fence, reportSeq },
    { ...corrected, nonce: question?.nonce ?? 'n0' },
    { ...corrected, status: 'completed' },
    { ...corrected, figures: { ...figures, locallyTimedOut: true }, localReason: 'stuck' },
    { ...corrected, rejectedDecisionEpoch: epoch, correction: 'staleDecision' },
    { ...corrected, rejectedDecisionEpoch: epoch, highestDecisionEpoch: [epoch[0] + 1, 0] },
  ];
}

/** What it answers, and what its gate's job says to the chart. */
function others({ told, leaderFence }: DatacenterContext): object[] {
  const answer = { type: 'submission.answered', ...origin, leaderFence: 1, created: true };
  const epoch = told?.epoch ?? [1, 1];
  const ack = { type: 'ack.received', ackOf: 'timeout.declared', decisionEpoch: epoch };
  return [
    { ...answer, accepted: true, reason: null },
    { ...answer, created: false, accepted: true, reason: null },
    { ...answer, accepted: false, reason: 'unreachable' },
    { ...answer, accepted: false, reason: 'invalid' },
    { type: 'submission.deferred', jobId: 'j1', datacenter: 'A', retryAfterMs: 5_000 },
    { ...ack, datacenter: 'A', accepted: true, reason: null },
    { ...ack, datacenter: 'A', accepted: false, reason: 'notLeader' },
    { ...ack, datacenter: 'A', accepted: false, reason: 'unknown' },
    { ...ack, datacenter: 'A', accepted: true, reason: null, decisionEpoch: null },
    { type: 'status.found', datacenter: 'A', found: null },
    { type: 'status.found', datacenter: 'A', found: { status: 'completed', ...end } },
    { type: 'dispatch.closed' },
    { type: 'decision.told', told: { epoch: [1, 1], leaderFence } },
    { type: 'decision.withdrawn' },
    { type: 'touch.lost' },
    { type: 'silence.due' },
    { type: 'catchUp.due' },
    { type: 'datacenter.asked', nonce: 'n1' },
  ];
}

export const datacenterPlan: PathPlan = {
  machine: datacenterMachine,
  inputs: {
    asked: { limits },
    'asked too late': { limits: { ...limits, dispatchDueAt: 0 } },
    'of a gate that had lost its data': { limits: { ...limits, isRebuilt: true } },
  },
  events: (context: DatacenterContext) =>
    [...words(context), ...others(context)] as DatacenterEvent[],
  /** Said after a silence it is how things were, as is an answer that was long on its way. */
  late: (context: DatacenterContext) => {
    const said = words(context) as DatacenterEvent[];
    const isAnswer = (event: DatacenterEvent): boolean => 'nonce' in event;
    return [
      ...said.slice(0, 5).map((event) => ({ event, lateMs: SILENT_AFTER_MS + 1 })),
      ...said.filter(isAnswer).map((event) => ({ event, lateMs: 1_001 })),
    ];
  },
  key: (context: DatacenterContext) => [
    context.leaderFence > 0,
    context.question?.nonce,
    context.metAt === null,
    context.told !== null,
    context.told !== null && context.leaderFence > context.told.leaderFence,
    context.limits.isRebuilt,
  ],
  unreachable: {
    'datacenter.run.running on status.found (2)':
      'It is taken to run by a gate without its data alone, which begins with it so.',
    'datacenter.run.reported on status.found (2)':
      'It has said something by then, so it has taken the job.',
    'message.refused': "What is refused was sent by its gate's job, which hands the refusal on.",
  },
};
