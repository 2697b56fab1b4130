/**
 * Rules of a run, made of its workflow, its limits and what the command line says: all that the machines go by.
 */

import type { AgentRules, StepRules } from '../../machines/mapreduce/map-agent/context.ts';
import type { HaltRules } from '../../machines/mapreduce/run/context.ts';
import type { RunRules } from '../../machines/mapreduce/run.ts';
import type { TerminationStep } from '../../machines/mapreduce/words.ts';
import type { Limits, Step, Workflow } from './workflow.ts';

export interface RuleOptions {
  /** Items at a time, before what the workflow says. */
  readonly parallel?: number;
  /** Ends a run in which too many items have failed. Default: no run. */
  readonly halt?: HaltRules;
  /** Signals of a termination, in place of SIGTERM and the grace; SIGKILL follows the last. */
  readonly termination?: readonly TerminationStep[];
  /** A run of items that failed before: what is done now is no failed item any more. */
  readonly resolvesFailedItems?: boolean;
}

/** Successes from which on their median says something, and the least that a share of it comes to. */
const MEDIAN_LIMIT = { successesMin: 10, leastMs: 1_000 } as const;

export function rulesOf(
  workflow: Workflow,
  limits: Limits,
  itemCount: number,
  options: RuleOptions,
): RunRules {
  const { map, setup, reduce } = workflow;
  const agentRules = agentRulesOf(workflow, limits, options.termination);
  const side = (steps: readonly Step[] | null): AgentRules | null =>
    steps && {
      ...agentRules,
      agentLimitMs: null,
      steps: steps.map(sideStep),
      hasWorktree: false,
      budget: {},
      quotaExitCodes: [],
    };
  return {
    workflow: workflow.name,
    itemCount,
    maxParallel: options.parallel ?? map.maxParallel,
    map: agentRules,
    medianLimit:
      limits.agentPercent === null ? null : { percent: limits.agentPercent, ...MEDIAN_LIMIT },
    setup: side(setup),
    reduce: options.resolvesFailedItems === true ? null : side(reduce),
    retry: map.retry,
    timeoutAction: map.timeout.action,
    onItemFailure: map.onItemFailure,
    alertPercent: map.timeout.alertPercent,
    quotaResumeAfterMs: map.quota?.resumeAfterMs ?? 0,
    budget: map.runBudget,
    halt: options.halt ?? null,
    resolvesFailedItems: options.resolvesFailedItems ?? false,
  };
}

/** Timed only by what a step says itself. */
const sideStep = ({ type, timeoutMs, idleTimeoutMs }: Step): StepRules => ({
  type,
  limitMs: timeoutMs,
  idleLimitMs: idleTimeoutMs,
});

function agentRulesOf(
  { map }: Workflow,
  { agentLimitMs, steps }: Limits,
  termination: readonly TerminationStep[] | undefined,
): AgentRules {
  const { policy, graceMs, enforce, onEnforcerFailure } = map.timeout;
  return {
    steps,
    policy,
    agentLimitMs,
    termination: termination ?? (graceMs === 0 ? [] : [{ signal: 'SIGTERM', waitMs: graceMs }]),
    enforce,
    runsUntimed: onEnforcerFailure === 'run',
    hasWorktree: map.hasWorktree,
    budget: map.itemBudget,
    quotaExitCodes: map.quota?.exitCodes ?? [],
  };
}
