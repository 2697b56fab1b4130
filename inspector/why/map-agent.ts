/**
 * Explanation of an attempt of a map-reduce run: which of its limits ended it, how its processes came to their end, or
 * which limit ends it next.
 */

import {
  basisText,
  commandDueAt,
  idleDueAt,
  isClipped,
  type MapAgentContext,
} from '../../machines/mapreduce/map-agent/context.ts';
import { failureMessage } from '../../machines/mapreduce/map-agent/failure.ts';
import { durationText, type TimeoutKind } from '../../machines/mapreduce/words.ts';
import type { BudgetLine } from '../protocol.ts';
import type { WhyCase } from './evidence.ts';
import type { JobFindings } from './job.ts';
import { clockText, shortAddress, spanText } from './words.ts';

type Sums = Pick<JobFindings, 'budget' | 'budgetMs' | 'usedMs' | 'endedAt'>;

const ADVICE: Readonly<Record<TimeoutKind, string>> = {
  agent:
    'Look at what it printed last ("escapement timeouts show"); give agent_timeout_secs more where it was at work.',
  command:
    'Look at what the command printed; give its timeout_secs or its key in command_timeouts more.',
  idle: 'It printed nothing for too long: have it print progress, or give idle_timeout_secs more.',
  budget:
    'It reported more cost than budgets.item allows: look at the counters, or raise the budget.',
};

/** Undefined where the context is not that of an attempt. */
export function whyMapAgent({ subject, at }: WhyCase): JobFindings | undefined {
  const context = subject.context as MapAgentContext | undefined;
  if (context?.rules?.steps === undefined) return undefined;
  const name = shortAddress(subject.address);
  const sums = sumsOf(context, at);
  if (context.endedAt === null) return { ...sums, ...alive(name, subject.state, context, at) };
  const took = context.startedAt === null ? '' : ` after ${spanText(sums.usedMs ?? 0)}`;
  const ended = (cause: JobFindings['cause'], verdict: string, ...advice: string[]) => ({
    ...sums,
    cause,
    verdict,
    advice,
  });
  switch (subject.state) {
    case 'done':
      return ended('completed', `${name} was done${took}.${shadowText(context)}`);
    case 'timedOut':
      return {
        ...ended('deadline', `${name}: ${failureMessage(context)}. ${resolutionText(context)}`),
        ...(context.timeout !== null && {
          reason: context.timeout.kind,
          advice: [ADVICE[context.timeout.kind]],
        }),
      };
    case 'failed':
      return ended('failed', `${name} failed${took}: ${failureMessage(context)}.`);
    case 'deferred':
      return ended(
        'cancelled',
        `${name} gave way${took}: its command said that a quota is used up. It does not count as an attempt.`,
        'Its run pauses for quota.resume_after_secs and tries one item first.',
      );
    case 'cancelled':
      return ended('cancelled', `${name} was stopped${took}, because its run failed.`);
    default:
      return ended(
        'cancelled',
        `${name} was interrupted${took}, with its run. It is begun again when that is resumed.`,
      );
  }
}

function sumsOf(context: MapAgentContext, now: number): Sums {
  const { startedAt, endedAt, rules, extensions, timeout } = context;
  const ended = endedAt === null ? {} : { endedAt };
  const usedMs = startedAt === null ? 0 : (timeout?.decidedAt ?? endedAt ?? now) - startedAt;
  if (startedAt === null || rules.agentLimitMs === null) return { usedMs, ...ended };
  const budget: BudgetLine[] = [
    {
      at: startedAt,
      sort: 'base',
      ms: rules.agentLimitMs,
      text: `limit of the attempt: ${durationText(rules.agentLimitMs)}${originText(rules)} from ${clockText(startedAt)}`,
    },
    ...extensions.map(({ at, byMs, by }) => ({
      at,
      sort: 'granted' as const,
      ms: byMs,
      who: by,
      text: `+ ${durationText(byMs)} by ${by} at ${clockText(at)}`,
    })),
  ];
  return { budget, budgetMs: budget.reduce((sum, { ms }) => sum + ms, 0), usedMs, ...ended };
}

function alive(
  name: string,
  state: string,
  context: MapAgentContext,
  now: number,
): Pick<JobFindings, 'cause' | 'verdict' | 'advice'> {
  const { timeout, stopCause, command } = context;
  if (timeout !== null || stopCause !== null) {
    const why =
      timeout === null
        ? `its run ${stopCause === 'cancelled' ? 'failed' : 'was stopped'}`
        : failureMessage(context);
    const verdict = `${name} is being ended: ${why}. ${context.signalsSent} signals were sent.`;
    return { cause: 'alive', verdict, advice: [] };
  }
  const dues = [
    ['the limit of the attempt', context.agentDueAt, 'agentLimit'],
    ['the limit of its command', commandDueAt(context), 'commandLimit'],
    ['the idle limit', idleDueAt(context), 'idleLimit'],
  ] as const;
  const [next] = dues
    .filter(([, dueAt, region]) => dueAt !== null && state.includes(`"${region}":"armed"`))
    .toSorted(([, one], [, other]) => (one ?? 0) - (other ?? 0));
  const at = command === null ? 'between two commands' : `at command ${command.index}`;
  const due =
    next === undefined
      ? 'no limit ends it'
      : `${next[0]} ends it in ${spanText((next[1] ?? 0) - now)} (${clockText(next[1] ?? 0)})`;
  const clipped = isClipped(context) ? '; the longer limit of its command is clipped' : '';
  const untimed = context.enforcementFailure === null ? '' : `; ${context.enforcementFailure}`;
  return {
    cause: 'alive',
    verdict: `${name} is ${at}: ${due}${clipped}${untimed}.${shadowText(context)}`,
    advice: [],
  };
}

function resolutionText({ resolution, cleanup }: MapAgentContext): string {
  const how =
    resolution === 'ForceTermination'
      ? 'It did not end within the grace and was killed'
      : 'Its processes ended when they were asked to';
  return cleanup === null || cleanup === 'CleanupCompleted' ? `${how}.` : `${how}; ${cleanup}.`;
}

const originText = ({ limitBasis }: MapAgentContext['rules']): string =>
  limitBasis === undefined ? '' : ` (${basisText(limitBasis)})`;

const shadowText = ({ shadowTimeouts }: MapAgentContext): string =>
  shadowTimeouts.length === 0
    ? ''
    : ` Of its limits ${shadowTimeouts.map(({ kind }) => kind).join(', ')} ran out; they are only told (enforce: false).`;
