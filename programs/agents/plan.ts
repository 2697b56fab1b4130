/**
 * Plan: a file of tasks, agents and experts, read and checked as a whole before anything starts.
 *
 * Every issue is told with its line, column and path, ten at most. A plan that is an object is read the same
 * way.
 */

import { basename, dirname, extname, resolve } from 'node:path';
import type { PlannedTask } from '../../machines/agents/orchestration.ts';
import { Field } from '../../reading/field.ts';
import { Issues } from '../../reading/issues.ts';
import { readSource } from '../../reading/source.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { readGiven } from '../runs.ts';
import { type Commands, readCommands } from './plan/commands.ts';
import { amountsOf, readLimits } from './plan/limits.ts';
import { readTasks } from './plan/tasks.ts';
import { between, ID_PATTERN, ID_WORDS, type Options, type Timeouts } from './plan/words.ts';

export interface Plan extends Commands {
  /** The run's id, unless another one is given. */
  readonly name: string;
  readonly text: string;
  readonly file: string | null;
  /** Where its programs run. */
  readonly directory: string;
  readonly slots: number;
  readonly timeouts: Timeouts;
  readonly options: Options;
  readonly compactCommand: readonly [string, ...string[]] | null;
  /** Budget of the run, and of each task that states none. */
  readonly budget: Readonly<Record<string, number>>;
  readonly taskBudget: Readonly<Record<string, number>>;
  readonly tasks: readonly PlannedTask[];
  readonly warnings: readonly string[];
}

export interface PlanOptions {
  /** Values that go before those of the plan: `AGENT_TIMEOUT=60000`, `retryOnMiss=true`. */
  readonly set?: readonly string[];
  /** Directory of a plan that is an object. Default: the current one. */
  readonly directory?: string;
  /** Names of agents and experts that are no programs. */
  readonly drivers?: readonly string[];
}

const KEYS = {
  name: false,
  slots: false,
  timeouts: false,
  options: false,
  agents: false,
  experts: false,
  budget: false,
  tasks: true,
} as const;
const SLOTS = between(1, 1_000);
const DEFAULT_SLOTS = 5;
const BUDGET = { run: false, task: false } as const;

/** @throws {RuntimeError} AGENT_PLAN_INVALID */
export function readPlan(plan: string | object, options: PlanOptions = {}): Plan {
  if (typeof plan !== 'string') {
    const directory = resolve(options.directory ?? '.');
    return parsePlan(JSON.stringify(plan), 'plan', { ...options, directory }, null);
  }
  const file = resolve(plan);
  return parsePlan(readText(plan), plan, { ...options, directory: dirname(file) }, file);
}

/** @throws {RuntimeError} AGENT_PLAN_INVALID */
export function parsePlan(
  text: string,
  shownFile: string,
  { set = [], directory = '.', drivers = [] }: PlanOptions,
  file: string | null,
): Plan {
  const issues = new Issues(text, shownFile, 'AGENT_PLAN_INVALID');
  const source = readSource(text, issues);
  const root = source && new Field(source, '', issues).record(KEYS);
  if (root === undefined) {
    issues.throwIfAny();
    throw new RuntimeError('AGENT_PLAN_INVALID', `${shownFile}: it is no plan.`);
  }
  const fallback = basename(shownFile, extname(shownFile));
  const name = root.name?.text(ID_PATTERN, ID_WORDS) ?? fallback;
  if (root.name === undefined && !ID_PATTERN.test(name))
    throw new RuntimeError(
      'AGENT_PLAN_INVALID',
      `${shownFile}: its name cannot name a run; add "name": ${ID_WORDS}.`,
    );
  const slots = root.slots?.whole(SLOTS) ?? DEFAULT_SLOTS;
  const { timeouts, options, compactCommand } = readLimits(root.timeouts, root.options, set);
  const commands = readCommands(root.agents, root.experts, drivers);
  const budgets = root.budget?.record(BUDGET);
  const tasks = readTasks(root.tasks, Object.keys(commands.agents), [...drivers]);
  issues.throwIfAny();
  return {
    ...commands,
    name,
    text,
    file,
    directory,
    slots,
    timeouts,
    options,
    compactCommand,
    budget: amountsOf(budgets?.run),
    taskBudget: amountsOf(budgets?.task),
    tasks,
    warnings: warningsOf(timeouts, options),
  };
}

const readText = (file: string): string =>
  readGiven(file, (why) => new RuntimeError('AGENT_PLAN_INVALID', `${file}: ${why}.`));

/** What in the limits comes to nothing, or to another thing than it seems. */
function warningsOf(timeouts: Timeouts, { retryOnMiss }: Options): string[] {
  const { AGENT_TIMEOUT, CHECKPOINT_INTERVAL, CHECKPOINT_TIMEOUT, STALL_THRESHOLD } = timeouts;
  const warnings: string[] = [];
  if (CHECKPOINT_TIMEOUT >= CHECKPOINT_INTERVAL)
    warnings.push(
      'CHECKPOINT_TIMEOUT is not shorter than CHECKPOINT_INTERVAL: requests are dropped while one is outstanding',
    );
  const misses = Math.floor((AGENT_TIMEOUT - CHECKPOINT_TIMEOUT - 1) / CHECKPOINT_INTERVAL);
  if (!retryOnMiss && misses < STALL_THRESHOLD)
    warnings.push(
      `the interval leaves room for ${Math.max(0, misses)} missed checkpoints before AGENT_TIMEOUT, and STALL_THRESHOLD is ${STALL_THRESHOLD}: without retryOnMiss or compaction no attempt is found stalled`,
    );
  return warnings;
}
