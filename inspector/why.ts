/**
 * Explanation of an actor's end, or of what ends it next, made of evidence alone. Pure, so that the page, the terminal, recordings, dead
 * directories and simulated runs say the same.
 *
 * Of the jobs system, of map-reduce runs and of runs of agents it knows the sums (budget, extensions, silence); of any other machine it
 * says which deadline or event ended it, by the machine's own names. What the evidence does not say is a gap, and no guess.
 */

import type { Why } from './protocol.ts';
import { isDeadlineTurn } from './turn-lines.ts';
import { whyAgent, whyDelegation } from './why/agent-attempt.ts';
import { whyOrchestration, whyTask } from './why/agent-run.ts';
import { chainOf } from './why/chain.ts';
import type { WhyCase } from './why/evidence.ts';
import { whyGateJob } from './why/gate-job.ts';
import { type JobFindings, whyJob } from './why/job.ts';
import { whyMachine } from './why/machine.ts';
import { whyMapAgent } from './why/map-agent.ts';
import { whyMapRun } from './why/map-run.ts';
import { spanText } from './why/words.ts';

export { type Evidence, gather, type WhyCase } from './why/evidence.ts';

export function why(found: WhyCase): Why {
  const { subject, at, usual, gaps } = found;
  const findings = findingsOf(found);
  const isOver = subject.status !== 'active' || findings.endedAt !== undefined;
  const last = lastTurn(found, findings.endedAt);
  const exits = isOver
    ? []
    : subject.exits.toSorted((one, other) => (one.dueAt ?? Infinity) - (other.dueAt ?? Infinity));
  return {
    address: subject.address,
    kind: subject.kind,
    cause: findings.cause,
    ...(findings.reason !== undefined && { reason: findings.reason }),
    ...(findings.endedAt !== undefined && { endedAt: findings.endedAt }),
    verdict: findings.verdict,
    budget: findings.budget ?? [],
    ...(findings.budgetMs !== undefined && { budgetMs: findings.budgetMs }),
    ...(findings.usedMs !== undefined && { usedMs: findings.usedMs }),
    silent: findings.silent ?? [],
    chain: chainOf(found, last),
    ...(findings.moreTime !== undefined && { moreTime: findings.moreTime }),
    advice: findings.advice,
    exits,
    compared: isOver ? [] : comparedOf(found, at, usual),
    gaps: [...gaps, ...(findings.gaps ?? [])],
  };
}

function findingsOf(found: WhyCase): JobFindings {
  const { kind } = found.subject;
  const special = Object.hasOwn(SPECIAL, kind) ? SPECIAL[kind] : undefined;
  return special?.(found) ?? whyMachine(found);
}

/** Kinds whose sums are known. A kind of the same name that is another machine is explained as any other. */
const SPECIAL: Readonly<Record<string, (found: WhyCase) => JobFindings | undefined>> = {
  agent: whyAgent,
  delegation: whyDelegation,
  'gate-job': whyGateJob,
  job: whyJob,
  'map-agent': whyMapAgent,
  mapreduce: whyMapRun,
  orchestration: whyOrchestration,
  task: whyTask,
};

/** The turn that ended it; of a living one the last. */
function lastTurn({ subject }: WhyCase, endedAt: number | undefined) {
  const { turns } = subject;
  if (endedAt === undefined) return turns.at(-1);
  return (
    turns.findLast(
      (turn) => turn.at === endedAt && (turn.state !== undefined || isDeadlineTurn(turn)),
    ) ?? turns.findLast((turn) => turn.at <= endedAt)
  );
}

/** Present states that last longer than usual of the kind. */
function comparedOf({ subject }: WhyCase, at: number, usual: WhyCase['usual']): Why['compared'] {
  return Object.entries(subject.enteredAt ?? {}).flatMap(([state, since]) => {
    const usualMs = usual.get(state);
    if (usualMs === undefined || state === '') return [];
    const ms = Math.max(0, at - since);
    const text = `in "${state}" for ${spanText(ms)}; others of its kind leave it after ${spanText(usualMs)}`;
    return [{ state, ms, usualMs, text }];
  });
}
