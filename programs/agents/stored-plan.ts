/**
 * Stored plan: the plan of a run as its folder has it, with what the command line has set, and the event by which an
 * orchestration takes a plan.
 */

import type { OrchestrationEvent } from '../../machines/agents/orchestration/context.ts';
import type { RunRules } from '../../machines/agents/orchestration.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Sent } from '../../runtime/machine.ts';
import { type Plan, parsePlan } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import type { StoredRun, StoredRuns } from './stored-runs.ts';

export function planOf(folder: RunFolder, drivers: readonly string[] = []): Plan {
  const { text, origin } = folder.readPlan();
  const { file, directory, set } = origin;
  return parsePlan(text, file ?? 'plan', { directory, set, drivers }, file);
}

export function begunBy(
  plan: Plan,
  exitWhenBlocked: boolean,
): Extract<Sent<OrchestrationEvent>, { type: 'run.begun' }> {
  const tasks = plan.tasks.map((each) => ({
    ...each,
    plan: { ...each.plan, budget: { ...plan.taskBudget, ...each.plan.budget } },
  }));
  const agents = Object.keys(plan.agents);
  const about = { file: plan.file, directory: plan.directory, agents };
  return { type: 'run.begun', rules: rulesOf(plan), tasks, exitWhenBlocked, about };
}

/** Names of the agents that a run's plan has. */
export const agentsOf = ({ about }: StoredRun['context']): readonly string[] =>
  (about.agents ?? []) as readonly string[];

function rulesOf({
  timeouts,
  options,
  slots,
  agents,
  experts,
  compactCommand,
  budget,
}: Plan): RunRules {
  const isSilent = ([, each]: [string, Plan['agents'][string]]): boolean =>
    each.protocol === 'plain' && each.checkpoints === 'none';
  return {
    slots,
    task: {
      attempt: {
        agentLimitMs: timeouts.AGENT_TIMEOUT,
        checkpointIntervalMs: timeouts.CHECKPOINT_INTERVAL,
        checkpointTimeoutMs: timeouts.CHECKPOINT_TIMEOUT,
        stallThreshold: timeouts.STALL_THRESHOLD,
        retryOnMiss: options.retryOnMiss,
        delegationLimitMs: timeouts.DELEGATION_TIMEOUT,
        delegationsMax: options.maxDelegationsPerAttempt,
        experts: Object.keys(experts),
        graceMs: options.terminationGraceMs,
        malformedLinesMax: options.maxMalformedLines,
        idleLimitMs: timeouts.IDLE_TIMEOUT,
        budget: {},
      },
      timeoutEscalation: timeouts.TIMEOUT_ESCALATION,
      stallsCount: options.stallsCountTowardEscalation,
      failuresMax: options.maxFailures,
    },
    silentAgents: Object.entries(agents)
      .filter(isSilent)
      .map(([name]) => name),
    experts: Object.fromEntries(
      Object.entries(experts).map(([name, { maxActive }]) => [name, maxActive]),
    ),
    contextThreshold: timeouts.CONTEXT_THRESHOLD,
    sessionThreshold: timeouts.SESSION_THRESHOLD,
    compactionTimeoutMs: options.compactionTimeoutMs,
    hasCompactCommand: compactCommand !== null,
    blockAllOnQuestion: options.blockAllOnQuestion,
    quotaPauseMinMs: options.quotaPauseMinMs,
    budget,
  };
}

/** A task that was attempted stays what it was. @throws {RuntimeError} AGENT_PLAN_INVALID */
export function refuseAltered(stored: StoredRuns, run: StoredRun, plan: Plan): void {
  const { runId, tasks } = run.context;
  const parts = new Set([...tasks.values()].flatMap((row) => row.parts));
  const planned = new Map(plan.tasks.map((each) => [each.taskId, each]));
  const altered = [...tasks].flatMap(([taskId, row]) => {
    if (parts.has(taskId))
      return planned.has(taskId) ? [`"${taskId}" is a part of a task that was split`] : [];
    if (row.attempts === 0) return [];
    const now = planned.get(taskId);
    if (now === undefined) return [`task "${taskId}" was attempted and cannot be left out`];
    const before = stored.task(runId, taskId)?.context.plan ?? row.plan;
    const isSame =
      before.prompt === now.plan.prompt &&
      before.agent === now.plan.agent &&
      row.dependsOn.join() === now.dependsOn.join();
    return isSame ? [] : [`task "${taskId}" was attempted and cannot be changed`];
  });
  if (altered.length === 0) return;
  const what = altered.map((each) => `${plan.file ?? 'plan'}: ${each}.`).join('\n');
  throw new RuntimeError('AGENT_PLAN_INVALID', what);
}
