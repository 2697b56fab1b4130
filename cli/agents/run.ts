/**
 * `agents run` and `agents resume`: a plan in this process, from its file or from what is stored.
 */

import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { agentRuns } from '../../inspector/runs/agents.ts';
import { orchestrationAddress } from '../../machines/agents/addresses.ts';
import type { RunStatus } from '../../programs/agents/documents.ts';
import { Host } from '../../programs/agents/host.ts';
import type { RunDocument } from '../../programs/agents/index.ts';
import { resumeLiveRun } from '../../programs/agents/pausing.ts';
import { readPlan } from '../../programs/agents/plan.ts';
import { continueRun, followRun, startRun } from '../../programs/agents/run.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Surroundings } from '../commands/commands.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import type { ListenAddress } from '../node/listen-address.ts';
import { listenFor, parseOwnAddress, type RunListener } from '../node/run-listener.ts';
import { StopSignals, warningsOn } from '../node/run-process.ts';
import { type Output, printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import { MetricsFile } from './metrics-file.ts';
import {
  collectSetting,
  type DataOptions,
  valueText,
  whereText,
  withDataOptions,
} from './options.ts';
import { Progress } from './progress.ts';

interface RunFlags extends DataOptions {
  readonly set?: readonly string[];
  readonly new?: boolean;
  readonly resume?: boolean;
  readonly exitWhenBlocked?: boolean;
  readonly quiet?: boolean;
  readonly metrics?: string;
  readonly listen?: ListenAddress;
}

const EXITS = `
Exit codes: 0 all tasks done, skipped or replaced, 1 a task failed or could not be reached, 3 only questions are
left and 4 paused (with --exit-when-blocked) or drained, 64 usage, 69 not on this system, 70 internal error, 73 another
process has the directory, 78 bad plan, 130 and 143 stopped by SIGINT or SIGTERM; such a run can be resumed.`;

const HELP = `
Each task gets attempts of its agent, a program that speaks JSON Lines, until it is done. An attempt is bounded
by a clock and asked for checkpoints. What runs out of time again and again becomes a question to you: see
"escapement agents questions". Run the plan again to go on with a run that was stopped or killed.

Examples:
  $ escapement agents run plan.yml
  $ escapement agents run plan.yml --set AGENT_TIMEOUT=60000 --exit-when-blocked --json
  $ escapement agents run plan.yml --listen 127.0.0.1:7400
${EXITS}`;

export function runCommand(around: Surroundings): Command {
  return flagged(
    new Command('run')
      .description('Run a plan, or go on with its run.')
      .argument('<plan>', 'the plan file'),
  )
    .option('--set <name=value>', 'a limit or an option, before what the plan says', collectSetting)
    .option('--new', 'begin afresh, though there is a run of that name')
    .option('--resume', 'go on with a run that is paused')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: RunFlags) => {
      const { set = [], exitWhenBlocked = false, resume = false } = flags;
      const plan = readPlan(file, { set });
      if (flags.quiet !== true)
        for (const warning of plan.warnings)
          around.output.complain(`warning: ${printable(warning)}\n`);
      const options = { set, exitWhenBlocked, resume, isNew: flags.new ?? false };
      await hosting(flags, around, options, (host) => startRun(host, plan, options));
    });
}

export function resumeCommand(around: Surroundings): Command {
  return flagged(
    new Command('resume')
      .description('Go on with a run that is paused, or was stopped.')
      .argument('<run>', 'its id'),
  )
    .addHelpText(
      'after',
      `\nA run that is live in another process goes on there.\n\nExamples:\n  $ escapement agents resume demo\n${EXITS}`,
    )
    .action(async (name: string, flags: RunFlags) => {
      const options = { exitWhenBlocked: flags.exitWhenBlocked ?? false, resume: true };
      try {
        await hosting(flags, around, options, async (host) => {
          const run = host.stored.named(name);
          if (run === undefined) throw unknown(name);
          await continueRun(host, run.context.runId, options);
          return run.context.runId;
        });
      } catch (thrown) {
        if (!(thrown instanceof RuntimeError) || thrown.code !== 'STORE_LOCKED') throw thrown;
        const { refusal } = await resumeLiveRun(flags.data, name);
        if (refusal !== null) throw new CommandFailure(EXIT.broken, `${printable(refusal)}.`);
        around.output.line(`run ${printable(name)} goes on`);
      }
    });
}

const unknown = (name: string) =>
  new CommandFailure(EXIT.broken, `There is no run "${printable(name)}".`);

function flagged(command: Command): Command {
  return withDataOptions(command)
    .option('--exit-when-blocked', 'end when nothing but questions or a pause is left')
    .option('--metrics <file>', 'keep the metrics of the run in a file, as Prometheus reads them')
    .option(
      '--listen <address>',
      'serve the inspector, metrics, actors and timers there; questions can be answered on its page',
      parseOwnAddress,
    )
    .option('--quiet', 'show no progress');
}

interface Following {
  readonly exitWhenBlocked: boolean;
  readonly resume: boolean;
}

async function hosting(
  flags: RunFlags,
  { output, host: process, setExitCode }: Surroundings,
  options: Following,
  begin: (host: Host) => Promise<string>,
): Promise<void> {
  const logger = warningsOn(output);
  // A file that cannot be written is told before anything begins.
  if (flags.metrics !== undefined) writeFileSync(flags.metrics, '');
  const host = await Host.open({ data: flags.data, logger });
  logger.open();
  let listener: RunListener | undefined;
  try {
    const signals = new StopSignals(process, (runId) =>
      host.runtime.actor(orchestrationAddress(runId)).send({ type: 'run.kill' }),
    );
    const ended = new Set(endedRuns(host));
    const runId = await begin(host);
    signals.begun(runId);
    const wasFinished = ended.has(runId);
    if (flags.listen !== undefined) {
      const { runtime, clock } = host;
      const metrics = () => metricsOf(host, runId);
      const served = { runtime, clock, system: 'agents', runs: agentRuns(host), metrics } as const;
      listener = await listenFor(served, flags.listen, logger);
      if (flags.quiet !== true) output.complain(`listening on ${listener.url}\n`);
    }
    const progress = flags.quiet === true ? undefined : new Progress(host, runId, output);
    const metrics =
      flags.metrics === undefined
        ? undefined
        : new MetricsFile(flags.metrics, () => metricsOf(host, runId), logger);
    host.log(runId).watch(() => metrics?.keep());
    const document = await followRun(host, runId, { ...options, signal: signals.stopping });
    progress?.close();
    metrics?.keep();
    report(document, flags, output, wasFinished);
    setExitCode(signals.exitCode ?? EXIT_OF[document.status]);
  } finally {
    await listener?.close();
    await host.close();
  }
}

const EXIT_OF: Readonly<Record<RunStatus, ExitCode>> = {
  completed: EXIT.done,
  failed: EXIT.broken,
  blocked: EXIT.partial,
  paused: EXIT.paused,
  // By a drain: it can go on, as a paused one can.
  interrupted: EXIT.paused,
  running: EXIT.terminated,
};

const endedRuns = ({ stored }: Host): readonly string[] =>
  stored.runs().flatMap(({ state, context }) => (state === 'finished' ? [context.runId] : []));

function metricsOf(host: Host, runId: string): string {
  const { context } = host.run(runId);
  const tasks: Record<string, number> = {};
  for (const { state } of context.tasks.values()) tasks[state] = (tasks[state] ?? 0) + 1;
  const open = [...context.questions.values()].filter(({ state }) => state === 'open').length;
  const slots = context.rules?.slots ?? 0;
  return host.metrics.text({ slots, active: context.live.size, questionsOpen: open, tasks });
}

function report(
  document: RunDocument,
  { json, data }: { readonly json?: boolean; readonly data: string },
  output: Output,
  wasFinished: boolean,
): void {
  if (json === true) {
    output.line(JSON.stringify(document));
    return;
  }
  const { runId, status, tasks } = document;
  output.line(`run ${runId} ${status}${wasFinished ? ' before; --new begins afresh' : ''}`);
  printTable(
    [
      { title: 'task', text: ({ id }) => id },
      { title: 'state', text: ({ state }) => state },
      { title: 'attempts', text: ({ attempts }) => String(attempts.length), side: 'right' },
      { title: 'result', text: resultText },
    ],
    tasks,
    output,
    '  ',
  );
  const where = whereText(data);
  const failed = tasks.find(({ state }) => state === 'failed');
  if (failed !== undefined)
    output.line(output.paint('dim', `See "escapement agents logs ${failed.id}${where}".`));
  if (tasks.some(({ question }) => question !== null))
    output.line(output.paint('dim', `See "escapement agents questions${where}".`));
  if (status === 'paused' || status === 'interrupted')
    output.line(output.paint('dim', `Go on: escapement agents resume ${runId}${where}`));
}

const RESULT_LENGTH_MAX = 80;

/** The beginning of what a task has come to, and of one that is not done how its last attempt has ended. */
function resultText({ state, result, attempts }: RunDocument['tasks'][number]): string {
  if (state === 'done') {
    const text = result === null ? '' : valueText(result);
    return text.length > RESULT_LENGTH_MAX ? `${text.slice(0, RESULT_LENGTH_MAX - 1)}…` : text;
  }
  const last = attempts.at(-1);
  if (last === undefined || last.outcome === null) return '';
  return [last.outcome, last.error ?? last.reason].filter((each) => each !== null).join(': ');
}
