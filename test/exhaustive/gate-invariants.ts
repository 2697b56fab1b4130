/** Invariants of every turn of a gate's job. Ids are those of docs/spec/invariants.md. */

import { isUnderWay } from '../../machines/jobs/datacenter.ts';
import { recordOf, targets } from '../../machines/jobs/gate-job/context.ts';
import { globalOutcome, type LocalEnd } from '../../machines/jobs/gate-job/global-outcome.ts';
import type { GateJobContext } from '../../machines/jobs/gate-job.ts';
import type { Finding, SeenTurn } from './actor-states.ts';

type Seen = SeenTurn<GateJobContext>;
type Check = (turn: Seen) => string | undefined;

/** TO-5: the time budget and the largest credit heard of come first. */
const declaresInTime: Check = ({ before, after, at }) => {
  if (before.decision !== null || after.decision?.kind !== 'timeout') return undefined;
  if (after.decision.reason !== 'overall') return undefined;
  const running = Object.values(after.datacenters).filter(({ run }) => isUnderWay(run));
  const creditMs = Math.max(0, ...running.map(({ extensionsMs }) => extensionsMs));
  return at > after.submittedAt + after.terms.timeoutMs + creditMs ? undefined : 'it is too early';
};

/** FE-2: no number is used for two decisions, and the gate's own never goes down. */
const countsUp: Check = ({ before, after, event }) => {
  const change = after.gateBoot - before.gateBoot || after.counter - before.counter;
  if (change < 0)
    return `epoch ${after.gateBoot}.${after.counter} after ${before.gateBoot}.${before.counter}`;
  const isTakeover = event.type === 'leadership.acquired' && Number(event.fence) > before.fence;
  if (isTakeover && after.gateBoot <= before.gateBoot && after.fence <= before.fence)
    return 'a takeover kept the number';
  const [was, is] = [before.decision, after.decision];
  const isNew = is !== null && (was === null || String(was.epoch) !== String(is.epoch));
  return isNew && change === 0 ? 'two decisions have one number' : undefined;
};

/** GA-2: taken back only while nobody has ended by it. */
const withdrawsInTime: Check = ({ before, after }) => {
  if (before.decision === null || after.decision !== null) return undefined;
  const hasObeyed = Object.values(before.datacenters).some(
    ({ decision }) => decision === 'accepted',
  );
  const hasEnded = targets(after.datacenters).some(([, { final }]) => final?.status === 'timedOut');
  return hasObeyed || hasEnded ? 'withdrawn although somebody has ended by it' : undefined;
};

/** GA-2, OUT-2: what is published stays. */
const publishesOnce: Check = ({ before, after }) => {
  const { outcome } = before;
  if (outcome === null) return undefined;
  const is = after.outcome;
  const isSame = is?.status === outcome.status && is.reason === outcome.reason;
  return isSame ? undefined : `it published ${outcome.status} and now says ${is?.status}`;
};

/** OUT-1: the outcome is that of the ends, in whatever order. */
const sumsUp: Check = ({ before, after }) => {
  if (before.outcome !== null || after.outcome === null) return undefined;
  const took = targets(after.datacenters);
  if (took.length === 0) return undefined;
  const { decision } = after;
  const presumed: LocalEnd =
    decision?.kind === 'timeout'
      ? { status: 'timedOut', reason: 'global', gateReason: decision.reason }
      : { status: 'cancelled', reason: null, gateReason: null };
  const { status, reason } = globalOutcome(
    took.map(([, { final }]) => final ?? presumed).reverse(),
  );
  const isSame = status === after.outcome.status && reason === after.outcome.reason;
  return isSame ? undefined : `it published ${after.outcome.status}, the ends say ${status}`;
};

/** GA-8: a datacenter never goes back, but for a report that a newer leader does not know of. */
const goesForward: Check = ({ before, after }) => {
  for (const [name, { run, leaderFence }] of Object.entries(before.datacenters)) {
    const now = recordOf(after.datacenters, name);
    if (now === undefined) return `${name} is gone`;
    if (now.leaderFence < leaderFence) return `the fence of ${name} went down`;
    if (run === 'final' && now.run !== 'final') return `${name} runs again`;
    const isTakenBack = run === 'reported' && now.run === 'running';
    if (isTakenBack && now.leaderFence === leaderFence) return `the report of ${name} is forgotten`;
  }
  return undefined;
};

const CHECKS: Readonly<Record<string, Check>> = {
  'TO-5': declaresInTime,
  'FE-2': countsUp,
  'GA-2': withdrawsInTime,
  'OUT-2': publishesOnce,
  'OUT-1': sumsUp,
  'GA-8': goesForward,
};

export function checkGateTurn(turn: Seen): Finding | undefined {
  for (const [invariant, check] of Object.entries(CHECKS)) {
    const what = check(turn);
    if (what !== undefined) return { invariant, what: `the gate: ${what}` };
  }
  return undefined;
}
