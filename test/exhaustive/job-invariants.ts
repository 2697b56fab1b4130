/** Invariants of every turn of a job in a datacenter. Ids are those of docs/spec/invariants.md. */

import {
  compareEpochs,
  extensionsMs,
  isStuckWatched,
  type JobContext,
} from '../../machines/jobs/job/context.ts';
import { hasSucceeded } from '../../machines/jobs/job/workflows.ts';
import type { DecisionEpoch } from '../../machines/jobs/messages/fields.ts';
import type { Finding, SeenTurn } from './actor-states.ts';

type Seen = SeenTurn<JobContext>;
/** Says what is wrong; undefined when nothing is. */
type Check = (turn: Seen) => string | undefined;

const hasJustEnded = ({ before, after }: Seen): boolean =>
  before.endedAt === null && after.endedAt !== null;

/** TS-1, FB-4: one end, with the reason that came first. */
const endsOnce: Check = ({ before, after }) => {
  if (before.endedAt === null) return undefined;
  const [was, is] = [endOf(before), endOf(after)];
  return was === is ? undefined : `it ended as ${was} and is now ${is}`;
};

const endOf = ({ status, reason, gateReason }: JobContext): string =>
  `${status} (${reason}, ${gateReason})`;

/** TS-3: submitted, running, an end; nothing goes back. */
const goesOn: Check = ({ before, after }) =>
  before.status === 'running' && after.status === 'submitted' ? 'it runs no more' : undefined;

/** TO-1, TO-2, TO-3: a timeout is found late enough, and for the reason that was true. */
const isFoundInTime: Check = ({ before, after, at }) => {
  if (before.localReason !== null || after.localReason === null) return undefined;
  const isOverdue = at > before.baseAt + before.timeoutMs + extensionsMs(before);
  if (after.localReason === 'overall')
    return isOverdue ? undefined : 'its time budget is not used up';
  if (isOverdue) return 'the time budget comes first';
  if (!isStuckWatched(before)) return 'stuck without an attempt out';
  return at > before.lastProgressAt + before.stuckThresholdMs ? undefined : 'it is not stuck';
};

/** TO-9: what is done is never timed out. */
const isNotTooLate: Check = (turn) =>
  hasJustEnded(turn) && turn.after.status === 'timedOut' && hasSucceeded(turn.before.table)
    ? 'all its workflows had succeeded'
    : undefined;

/** TO-10: who decides is fixed. */
const keepsAuthority: Check = ({ before, after }) =>
  'gateId' in after && before.gateId !== after.gateId ? 'its gate has changed' : undefined;

/** FE-1: each takeover, and nothing else here, raises the fence. */
const raisesFence: Check = ({ before, after, event }) => {
  if (!('leaderFence' in after) || after.leaderFence === before.leaderFence) {
    const isNew = event.type === 'leadership.acquired' && Number(event.fence) > before.term;
    return isNew ? 'a takeover kept the fence' : undefined;
  }
  return after.leaderFence < before.leaderFence ? 'its fence went down' : undefined;
};

/** FE-3: obeyed only with our fence, and with an epoch that is none of the past. */
const obeysTheLatest: Check = (turn) => {
  const { before, after, event } = turn;
  const isDecision = event.type === 'timeout.declared' || event.decisionEpoch !== undefined;
  if (!hasJustEnded(turn) || !isDecision || event.type === 'ack.received') return undefined;
  if (event.leaderFence !== before.leaderFence)
    return `fence ${event.leaderFence} obeyed while it is ${before.leaderFence}`;
  const epoch = event.decisionEpoch as DecisionEpoch;
  const isStale = compareEpochs(epoch, before.highestDecisionEpoch) < 0;
  const isKept = compareEpochs(after.highestDecisionEpoch, epoch) >= 0;
  if (isStale) return `epoch ${epoch} obeyed while ${before.highestDecisionEpoch} is known`;
  return isKept ? undefined : 'an obeyed epoch is not kept';
};

/** FB-1, FB-3: only what was reported falls back, and only without a word of the gate for so long. */
const fallsBackInTime: Check = (turn) => {
  const { before, after, at } = turn;
  if (!hasJustEnded(turn) || after.reason !== 'fallback') return undefined;
  if (before.timeoutReportedAt === null) return 'it had reported no timeout';
  const heardAt = Math.max(before.timeoutReportedAt, before.lastGateContactAt);
  return at > heardAt + before.rules.gateFallbackMs ? undefined : 'the gate was heard since';
};

/** CL-1: an ended job waits for nothing. */
const waitsForNothing: Check = ({ after, timers }) =>
  after.endedAt !== null && timers.length > 0 ? `it waits for ${timers[0]?.id}` : undefined;

const CHECKS: Readonly<Record<string, Check>> = {
  'TS-1': endsOnce,
  'TS-3': goesOn,
  'TO-1': isFoundInTime,
  'TO-9': isNotTooLate,
  'TO-10': keepsAuthority,
  'FE-1': raisesFence,
  'FE-3': obeysTheLatest,
  'FB-1': fallsBackInTime,
  'CL-1': waitsForNothing,
};

export function checkJobTurn(turn: SeenTurn<JobContext>): Finding | undefined {
  for (const [invariant, check] of Object.entries(CHECKS)) {
    const what = check(turn);
    if (what !== undefined)
      return { invariant, what: `the job in ${turn.before.datacenter}: ${what}` };
  }
  return undefined;
}
