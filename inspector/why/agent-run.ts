/**
 * Explanation of a plan's run and of its tasks: the end they came to, or what they wait for.
 */

import type { OrchestrationContext } from '../../machines/agents/orchestration/context.ts';
import type { TaskContext } from '../../machines/agents/task/context.ts';
import type { WhyCase } from './evidence.ts';
import type { JobFindings } from './job.ts';
import { clockText, listText, shortAddress, spanText } from './words.ts';

/** Context as it is stored: its tables lie beside it, so nothing here looks into them. */
type StoredTask = Omit<TaskContext, 'history'>;
type StoredRun = Omit<OrchestrationContext, 'tasks' | 'live' | 'delegations' | 'questions'>;

/** Undefined where the context is not that of a task. */
export function whyTask({ subject }: WhyCase): JobFindings | undefined {
  const context = subject.context as StoredTask | undefined;
  if (context?.plan?.prompt === undefined || context.timeoutCount === undefined) return undefined;
  const name = shortAddress(subject.address);
  const counted = countsText(context);
  const ended = subject.status === 'active' ? {} : { endedAt: subject.turnAt };
  const found = (
    cause: JobFindings['cause'],
    text: string,
    ...advice: readonly string[]
  ): JobFindings => ({ ...ended, cause, verdict: `${name} ${text}${counted}.`, advice });
  const by = `by attempt ${context.attempts}`;
  switch (subject.state) {
    case 'done':
      return found('completed', `was done ${by}`);
    case 'failed':
      return found(
        'failed',
        `failed for good ${by}`,
        `See why of agent/${context.runId}/${context.taskId}/${context.attempts}.`,
      );
    case 'unreachable':
      return found('cancelled', 'can never begin: what it depends on has failed');
    case 'skipped':
      return found('cancelled', 'was skipped: a human has said so');
    case 'replaced':
      return found('cancelled', `was split by a human into ${context.parts.length} parts`);
    case 'removed':
      return found('cancelled', 'is no part of its plan any more');
    case 'blocked':
      return found('alive', 'waits for tasks that it depends on');
    case 'running':
      return found(
        'alive',
        `is at work by attempt ${context.attemptId}${context.question === null ? '' : ', which waits for a human'}`,
        `See why of agent/${context.runId}/${context.taskId}/${context.attempts}.`,
      );
    case 'awaitingHuman':
      return found(
        'alive',
        `waits for a human, without a limit: ${context.question?.text ?? 'no question is known'}`,
        'Answer it: see "escapement agents questions".',
      );
    default:
      return found('alive', `waits to be dispatched${BECAUSE[context.reason ?? ''] ?? ''}`);
  }
}

const BECAUSE: Readonly<Record<string, string>> = {
  agent_timeout: ', because its attempt ran out of time',
  agent_stalled: ', because its attempt stalled',
  agent_failed: ', because its attempt failed',
  agent_killed: ', because its attempt was stopped',
  human_answer: ', because a human has answered',
};

function countsText({ timeoutCount, stallCount, failureCount, rules }: StoredTask): string {
  const counts = [
    timeoutCount > 0 && `${timeoutCount} of ${rules?.timeoutEscalation ?? '?'} timeouts`,
    stallCount > 0 && `${stallCount} stalls`,
    failureCount > 0 && `${failureCount} of ${rules?.failuresMax ?? '?'} failures`,
  ].filter((each) => each !== false);
  return counts.length === 0 ? '' : ` (${counts.join(', ')})`;
}

/** Undefined where the context is not that of a run. */
export function whyOrchestration({ subject, at }: WhyCase): JobFindings | undefined {
  const context = subject.context as StoredRun | undefined;
  if (context?.runId === undefined || context.questionCount === undefined) return undefined;
  const name = shortAddress(subject.address);
  const { startedAt, endedAt } = context;
  const usedMs = (endedAt ?? at) - startedAt;
  if (endedAt !== null)
    return {
      usedMs,
      endedAt,
      cause: 'completed',
      verdict: `${name} finished after ${spanText(usedMs)}: every task is final.`,
      advice: ['See "escapement agents status".'],
    };
  const [text, ...advice] = stateText(subject.state, context);
  return { usedMs, cause: 'alive', verdict: `${name} ${text}.`, advice };
}

function stateText(state: string, context: StoredRun): readonly [string, ...string[]] {
  const { quotaEndsAt, windowEndsAt, collecting, pauseCause, isDraining, runId } = context;
  const has = (...parts: readonly string[]) => parts.some((part) => state.includes(part));
  const goOn = `Go on: escapement agents resume ${runId}`;
  if (has('"quota":"waiting"', '"quota":"stopping"'))
    return [`waits until ${clockText(quotaEndsAt)}, because a quota is used up`];
  if (has('"quota"')) return ['tries one attempt, after a quota was used up'];
  if (has('collecting'))
    return [
      `waits for checkpoints of ${listText(collecting)} until ${clockText(windowEndsAt)}, before it ${has('pausing') ? 'pauses' : 'compacts'}`,
    ];
  if (has('hook')) return ['waits for its compaction hook'];
  if (has('pausing')) return ['is being paused, and waits for its attempts to end'];
  if (has('paused')) return [`is paused, because ${PAUSED[pauseCause ?? 'command']}`, goOn];
  if (has('finishing')) return ['lets its attempts come to their end, and begins no more'];
  if (has('draining')) return ['is being stopped, and waits for its attempts to end'];
  if (has('blocking', 'blocked'))
    return [
      'rests, because only questions to a human are left',
      'See "escapement agents questions".',
    ];
  if (has('stopped')) return [isDraining ? 'was drained' : 'was stopped', goOn];
  if (has('uncalled'))
    return ['was at work when its process ended', 'Run its plan again to go on.'];
  if (has('recovering')) return ['waits for what the process before has left to end'];
  return ['is at work: it dispatches what is available while a slot is free'];
}

const PAUSED = {
  threshold: 'its session comes to its end',
  command: 'somebody has paused it',
  budget: 'its budget is used up',
} as const;
