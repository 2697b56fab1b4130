/**
 * `runMapReduce`: a workflow from its file to its document, in this process.
 *
 * It resolves with the document of the run, also of one that failed or was interrupted, and rejects for a
 * workflow or an input that cannot be run. It installs no signal handlers and prints nothing.
 */

import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { RUN_ID_PATTERN, runAddress } from '../../machines/mapreduce/addresses.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { readGiven, writeDurably } from '../runs.ts';
import { adaptedLimits } from './adaptive.ts';
import type { RunDocument } from './documents.ts';
import { Host, type HostOptions, unknownRun } from './host.ts';
import { checkPath, type Input, readInput, writeItems } from './items.ts';
import type { Sink } from './monitor.ts';
import type { About } from './plan.ts';
import { type RuleOptions, rulesOf } from './run-rules.ts';
import {
  checkWorkflow,
  type Limits,
  limitsOf,
  parseWorkflow,
  type Workflow,
  WorkflowError,
  warningsOf,
} from './workflow.ts';
import { findRepository } from './worktrees.ts';

export interface RunOptions
  extends Omit<HostOptions, 'data'>,
    Pick<RuleOptions, 'parallel' | 'halt' | 'termination'> {
  /** Directory of the data. Default `.escapement`. */
  readonly data?: string;
  /** Stops the run in order when it is aborted; the run can be resumed. */
  readonly signal?: AbortSignal;
  /** Takes the events of monitoring. It may miss some under pressure, and holds up nobody. */
  readonly onEvent?: Sink;
  readonly runId?: string;
  /** Limit of agents that comes before what the workflow says. */
  readonly agentTimeoutMs?: number;
  /** Program and first arguments of `claude` steps. */
  readonly claude?: readonly string[];
  /** Directory of a workflow that is an object. Default: the current one. */
  readonly directory?: string;
  readonly random?: Random;
}

/** A workflow that is read and checked, and what it will run with. */
export interface Prepared {
  readonly workflow: Workflow;
  readonly text: string;
  readonly file: string | null;
  readonly directory: string;
  /** Agent limit of the command line. */
  readonly statedAgentMs: number | null;
  /** Limits as far as the file says; a run with adaptive ones may have others. */
  readonly limits: Limits;
  readonly warnings: readonly string[];
}

const DATA = '.escapement';

/** @throws {WorkflowError}, {RuntimeError} INPUT_INVALID */
export function prepare(
  workflow: string | object,
  options: Pick<RunOptions, 'agentTimeoutMs' | 'directory'> = {},
): Prepared {
  const isFile = typeof workflow === 'string';
  const text = isFile ? readText(workflow) : JSON.stringify(workflow);
  const read = isFile ? parseWorkflow(text, workflow) : checkWorkflow(workflow);
  checkPath(read.map.jsonPath);
  const stated = options.agentTimeoutMs ?? null;
  const limits = limitsOf(read.map, stated);
  return {
    workflow: read,
    text,
    file: isFile ? resolve(workflow) : null,
    directory: resolve(isFile ? dirname(workflow) : (options.directory ?? '.')),
    statedAgentMs: stated,
    limits,
    warnings: warningsOf(read.map, stated, limits),
  };
}

/** The workflow of a run as it is stored, to run it again for some of its items. */
export function prepareStored(
  host: Host,
  runId: string,
  options: Pick<RunOptions, 'agentTimeoutMs'>,
): Prepared {
  const run = host.stored.run(runId);
  if (run === undefined) throw unknownRun(runId);
  const about = run.context.about as unknown as About;
  const text = host.folder(runId).readWorkflow();
  const read = parseWorkflow(text, about.workflowFile ?? 'workflow.yml');
  const stated = options.agentTimeoutMs ?? about.statedAgentMs;
  const limits = limitsOf(read.map, stated);
  const workflow = { ...read, name: run.context.rules.workflow, claude: about.claude };
  const { workflowFile: file, directory } = about;
  return {
    workflow,
    text,
    file,
    directory,
    statedAgentMs: stated,
    limits,
    warnings: warningsOf(read.map, stated, limits),
  };
}

/** Words for the limit that follows the stated one. */
export const laterLimitText = (percent: number | null): string =>
  percent === null ? '' : `, then ${percent}% of the median of successes, from 10 on`;

const readText = (file: string): string =>
  readGiven(file, (why) => new WorkflowError(`Invalid workflow: ${file}: ${why}`, file));

/** @throws {WorkflowError}, {RuntimeError} INPUT_INVALID, STORE_LOCKED */
export async function runMapReduce(
  workflow: string | object,
  options: RunOptions = {},
): Promise<RunDocument> {
  const prepared = prepare(workflow, options);
  const input = inputOf(prepared);
  const host = await Host.open({ ...options, data: options.data ?? DATA });
  try {
    const runId = await startRun(host, prepared, input, options);
    return await followRun(host, runId, options);
  } finally {
    await host.close();
  }
}

/** The items of a workflow. @throws {RuntimeError} INPUT_INVALID */
export function inputOf({ directory, workflow: { map } }: Prepared): Input {
  return readInput(resolve(directory, map.input), map.jsonPath);
}

/** Makes a run of these items and begins it. */
export async function startRun(
  host: Host,
  prepared: Prepared,
  input: Input,
  options: RunOptions & RuleOptions,
): Promise<string> {
  const { workflow, text, file, directory, statedAgentMs } = prepared;
  const adapted = adaptedLimits(workflow, statedAgentMs, host.stored);
  const limits = adapted?.limits ?? prepared.limits;
  const random = options.random ?? systemRandom();
  const runId =
    options.runId ??
    random
      .id()
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(0, 12)
      .toLowerCase();
  if (!RUN_ID_PATTERN.test(runId))
    throw new RuntimeError(
      'INPUT_INVALID',
      `"${runId}" cannot name a run: use 1 to 64 letters, digits or "._-".`,
    );
  if (host.stored.run(runId) !== undefined)
    throw new RuntimeError(
      'INPUT_INVALID',
      `There is a run "${runId}" already. Choose another id, or resume it.`,
    );
  const git = workflow.map.hasWorktree ? await findRepository(directory) : undefined;
  if (workflow.map.hasWorktree && git === undefined)
    throw new WorkflowError('Invalid workflow: map.worktree needs a git repository', file ?? '');
  const folder = host.folder(runId);
  folder.make();
  const written = writeItems(folder.itemsPath, input.items());
  writeDurably(folder.workflowPath, text);
  const warnings = [...(adapted?.warnings ?? prepared.warnings)];
  if (input.count === 0)
    warnings.push(`${workflow.map.jsonPath} matches nothing in ${workflow.map.input}`);
  const about: About = {
    workflowFile: file,
    workflowHash: hashOf(text),
    itemsHash: written.hash,
    directory,
    claude: options.claude ?? workflow.claude,
    statedAgentMs,
    commandLimitsMs: limits.commandLimitsMs,
    learnt: adapted?.learnt ?? [],
    monitoring: workflow.map.timeout.monitoring,
    warnings,
    git: git ?? null,
  };
  const rules = rulesOf(workflow, limits, written.count, options);
  // Its first attempts may begin in the commit that spawns it.
  if (options.onEvent !== undefined) host.monitor.attach(options.onEvent);
  await host.runtime.spawn(runAddress(runId), { input: { runId, rules, about: { ...about } } });
  return runId;
}

/** Continues a run that was interrupted or failed. One that is completed has nothing to go on with. */
export async function resumeRun(host: Host, runId: string): Promise<void> {
  const run = host.stored.run(runId);
  if (run === undefined) throw unknownRun(runId);
  if (run.state === 'completed') return;
  await host.runtime.actor(runAddress(runId)).send({ type: 'run.resume' });
}

/** Resolves with the document of the run once it has ended. */
export async function followRun(
  host: Host,
  runId: string,
  { signal, onEvent }: Pick<RunOptions, 'signal' | 'onEvent'>,
): Promise<RunDocument> {
  if (onEvent !== undefined) host.monitor.attach(onEvent);
  const run = host.runtime.actor(runAddress(runId));
  const interrupt = (): void => void run.send({ type: 'run.interrupt' }).catch(() => {});
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted === true) interrupt();
  await host.ended(runId);
  signal?.removeEventListener('abort', interrupt);
  return host.document(runId);
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
