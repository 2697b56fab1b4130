/**
 * Explanation of an attempt of an agent, and of a delegation to an expert: which limit, line or exit ended it, how its
 * processes came to their end, or what ends it next.
 */

import {
  type AgentContext,
  activeMsAt,
  clockDueAt,
  idleDueAt,
  tickDueAt,
  usedUp,
} from '../../machines/agents/agent/context.ts';
import type { DelegationContext } from '../../machines/agents/delegation/context.ts';
import type { ProcessContext } from '../../machines/agents/process-end.ts';
import type { ExpertFailure } from '../../machines/agents/words.ts';
import type { WhyCase } from './evidence.ts';
import type { JobFindings } from './job.ts';
import { clockText, shortAddress, spanText } from './words.ts';

/** Undefined where the context is not that of an attempt. */
export function whyAgent({ subject, at }: WhyCase): JobFindings | undefined {
  const context = subject.context as AgentContext | undefined;
  if (context?.rules?.agentLimitMs === undefined || context.attemptId === undefined)
    return undefined;
  const name = shortAddress(subject.address);
  const sums = sumsOf(context, at);
  if (context.outcome === null)
    return {
      ...sums,
      cause: 'alive',
      verdict: aliveText(name, subject.state, context, at),
      advice: [],
    };
  const how = context.endedAt === null ? ' It is being ended.' : ` ${endText(context)}`;
  return { ...sums, ...endOf(name, context, how) };
}

function sumsOf(context: AgentContext, now: number): Partial<JobFindings> {
  const { startedAt, endedAt, outcome, activeAtEndMs, rules } = context;
  const usedMs = outcome === null ? activeMsAt(context, now) : activeAtEndMs;
  const ended = endedAt === null ? {} : { endedAt };
  if (startedAt === null) return { usedMs, ...ended };
  const limit = spanText(rules.agentLimitMs);
  const text = `active time of the attempt: ${limit}, begun at ${clockText(startedAt)}`;
  const line = { at: startedAt, sort: 'base', ms: rules.agentLimitMs, text } as const;
  return { budget: [line], budgetMs: rules.agentLimitMs, usedMs, ...ended };
}

type End = Pick<JobFindings, 'cause' | 'verdict' | 'advice'> & { readonly reason?: string };

function endOf(name: string, context: AgentContext, how: string): End {
  const { outcome, reason, activeAtEndMs, rules } = context;
  const active = `${spanText(activeAtEndMs)} of active time`;
  const end = (cause: End['cause'], text: string, ...advice: readonly string[]): End => ({
    cause,
    ...(reason !== null && { reason }),
    verdict: `${name} ${text}.${how}`,
    advice,
  });
  if (outcome === 'done') return end('completed', `was done after ${active}`);
  if (outcome === 'stalled')
    return end(
      'deadline',
      `stalled after ${active}: ${rules.stallThreshold} requests of a checkpoint in a row had no answer`,
      'Look at its log ("escapement agents logs"); give CHECKPOINT_TIMEOUT more where it was at work.',
    );
  if (outcome === 'killed')
    return end(
      'cancelled',
      `was stopped after ${active}, because ${KILLED[reason ?? ''] ?? reason}; it counts for nothing`,
    );
  if (outcome === 'failed')
    return end(
      'failed',
      `failed after ${active}: ${failureText(context)}`,
      FAILED[reason ?? ''] ?? 'Look at its log ("escapement agents logs").',
    );
  switch (reason) {
    case 'idle':
      return end(
        'deadline',
        `printed nothing for ${spanText(rules.idleLimitMs ?? 0)}`,
        'Have it print progress, or give IDLE_TIMEOUT more.',
      );
    case 'budget':
      return end(
        'deadline',
        `went over its budget: ${budgetText(context)}`,
        'Raise the budget in the plan, or split the task.',
      );
    default:
      return end(
        'deadline',
        `ran out of time: ${active} of ${spanText(rules.agentLimitMs)}`,
        'Give AGENT_TIMEOUT more, or split the task.',
      );
  }
}

const KILLED: Readonly<Record<string, string>> = {
  pause: 'its run was paused',
  shutdown: 'its run was stopped',
  quota: 'a quota is used up',
  runtimeRestart: 'the process that ran it was killed',
};

const FAILED: Readonly<Record<string, string>> = {
  spawn: 'Look at its command in the plan, and whether it may be run.',
  protocol: 'Look at the malformed_line records of the event log, or set protocol: plain.',
  outputLimit: 'Have it print less, or raise maxOutputBytes.',
  stdinBlocked: 'Have it read its standard input while it works.',
};

function failureText({ reason, error, malformedLines }: AgentContext): string {
  if (reason === 'protocol') return `${malformedLines} of its lines could not be read`;
  if (reason === 'outputLimit') return 'it printed more than it may';
  if (reason === 'stdinBlocked') return 'it did not read what it was sent';
  return error ?? reason ?? 'no reason is known';
}

function budgetText({ rules, usage, usageBefore }: AgentContext): string {
  const name = usedUp({ rules, usage, usageBefore }) ?? '';
  const amount = (usage[name] ?? 0) + (usageBefore[name] ?? 0);
  return `${amount} ${name} of ${rules.budget[name]}`;
}

const SIGNALS = {
  none: 'It left by itself.',
  SIGTERM: 'It was asked to stop, and did.',
  SIGKILL: 'It did not stop within the grace and was killed.',
} as const;

const endText = ({ signal, startedAt, stopReason }: ProcessContext): string => {
  if (startedAt === null) return 'Nothing was started.';
  // What an earlier process has left has nobody to ask it.
  return stopReason === 'runtimeRestart' ? 'What was left of it was killed.' : SIGNALS[signal];
};

function aliveText(name: string, state: string, context: AgentContext, now: number): string {
  const { request, rules, delegation, question, countingSince } = context;
  const isIn = (region: string, value: string) => state.includes(`"${region}":"${value}"`);
  if (isIn('activity', 'awaitingHuman'))
    return `${name} waits for an answer of a human to its question ${question}, which has no limit; its clock stands at ${spanText(context.activeMs)} of ${spanText(rules.agentLimitMs)}.`;
  if (isIn('activity', 'awaitingExpert'))
    return `${name} waits for ${delegation?.delegationId ?? 'an expert'}; its clock stands at ${spanText(context.activeMs)} of ${spanText(rules.agentLimitMs)}.`;
  if (countingSince === null) return `${name} is "${state}": nothing was heard of its start yet.`;
  const dues: ReadonlyArray<readonly [string, number]> = [
    ['its clock ends it', clockDueAt(context)],
    ...(isIn('idleLimit', 'armed') ? ([['its silence ends it', idleDueAt(context)]] as const) : []),
    ...(request === null
      ? []
      : ([[`${request.requestId} must be answered, or it is a miss`, request.dueAt]] as const)),
    ...(isIn('interval', 'ticking')
      ? ([['it is asked for a checkpoint', tickDueAt(context)]] as const)
      : []),
  ];
  const told = dues
    .toSorted(([, one], [, other]) => one - other)
    .map(([what, due]) => `${what} in ${spanText(due - now)} (${clockText(due)})`);
  return `${name} works: ${told.join(', ')}.`;
}

/** Undefined where the context is not that of a delegation. */
export function whyDelegation({ subject, at }: WhyCase): JobFindings | undefined {
  const context = subject.context as DelegationContext | undefined;
  if (context?.delegatorId === undefined || context.limitMs === undefined) return undefined;
  const { startedAt, endedAt, dueAt, limitMs, ok, reason } = context;
  const asked = `${shortAddress(subject.address)}, a request of ${context.delegatorId} to expert ${context.name},`;
  const usedMs = startedAt === null ? 0 : (endedAt ?? at) - startedAt;
  const base = { usedMs, ...(endedAt !== null && { endedAt }), ...(reason !== null && { reason }) };
  const found = (cause: JobFindings['cause'], text: string): JobFindings => ({
    ...base,
    cause,
    verdict: `${asked} ${text}`,
    advice: [],
  });
  if (subject.state === 'answered')
    return found('completed', `was answered after ${spanText(usedMs)}. ${endText(context)}`);
  if (subject.state === 'unsuccessful')
    return found(
      reason === 'timedOut' ? 'deadline' : 'failed',
      `was not answered: ${reason === null ? 'no reason is known' : UNANSWERED[reason]}. ${endText(context)}`,
    );
  if (subject.state === 'queued')
    return found('alive', 'waits for a place at the expert, which has no limit and costs none.');
  if (subject.state !== 'running')
    return found('alive', ok ? 'is answered; the expert is leaving.' : `is "${subject.state}".`);
  return found(
    'alive',
    `is at work: its limit of ${spanText(limitMs)} ends it in ${spanText(dueAt - at)} (${clockText(dueAt)}).`,
  );
}

const UNANSWERED: Readonly<Record<ExpertFailure, string>> = {
  timedOut: 'DELEGATION_TIMEOUT ran out',
  failed: 'the expert failed, or could not be started',
  exit: 'the expert left or was ended without an answer',
  unknownExpert: 'the plan has no such expert',
  delegationLimit: 'its attempt had delegated too often',
  busy: 'its attempt was waiting already',
  notAllowed: 'the expert printed a line that experts may not print',
};
