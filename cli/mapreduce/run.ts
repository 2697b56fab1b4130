/**
 * `mapreduce run` and `mapreduce resume`: a run in this process, from its workflow or from what is stored.
 */

import { Command } from 'commander';
import { mapReduceRuns } from '../../inspector/runs/mapreduce.ts';
import { runAddress } from '../../machines/mapreduce/addresses.ts';
import type { HaltRules } from '../../machines/mapreduce/run/context.ts';
import { durationText, type TerminationStep } from '../../machines/mapreduce/words.ts';
import { serveControl } from '../../programs/mapreduce/control.ts';
import { failedItemsWarning } from '../../programs/mapreduce/failed-items.ts';
import { Host } from '../../programs/mapreduce/host.ts';
import type { RunDocument } from '../../programs/mapreduce/index.ts';
import type { Plan } from '../../programs/mapreduce/plan.ts';
import {
  followRun,
  inputOf,
  laterLimitText,
  prepare,
  startRun,
} from '../../programs/mapreduce/run.ts';
import type { Surroundings } from '../commands/commands.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { ListenAddress } from '../node/listen-address.ts';
import { listenFor, parseOwnAddress, type RunListener } from '../node/run-listener.ts';
import { StopSignals, warningsOn } from '../node/run-process.ts';
import { type Output, printable } from '../render/output.ts';
import { beginJobLog, followJobLog } from './job-log.ts';
import {
  type DataOptions,
  parseCommand,
  parseHalt,
  parsePositive,
  parseSeconds,
  parseTermination,
  withDataOptions,
} from './options.ts';
import { Progress } from './progress.ts';
import { beginResumed, type ResumeFlags } from './resume.ts';

interface RunFlags extends DataOptions, ResumeFlags {
  readonly parallel?: number;
  readonly agentTimeout?: number;
  readonly command?: readonly string[];
  readonly runId?: string;
  readonly resume?: string;
  readonly quiet?: boolean;
  readonly events?: boolean;
  readonly listen?: ListenAddress;
  readonly joblog?: string;
  readonly eta?: boolean;
  readonly halt?: HaltRules;
  readonly termseq?: readonly TerminationStep[];
}

/** Options of `run` that say what a run is. */
const OF_A_NEW_RUN = [
  'parallel',
  'agentTimeout',
  'command',
  'runId',
  'halt',
  'termseq',
] as const satisfies ReadonlyArray<keyof RunFlags>;

const HELP = `
Every item of the input gets the commands of the template. What runs too long is ended, with all it has
started, and the item is kept among the failed ones: see "escapement dlq list".

Examples:
  $ escapement mapreduce run workflow.yml
  $ escapement mapreduce run workflow.yml --parallel 8 --agent-timeout 120 --json
  $ escapement mapreduce run workflow.yml --command claude=./stub
  $ escapement mapreduce resume 4f1kq0v2

Exit codes: 0 all items done or skipped, 1 the run failed, 3 some items failed, 64 usage, 65 bad input,
70 internal error, 73 another run has the directory, 78 bad workflow, 130 and 143 stopped by SIGINT or
SIGTERM; such a run can be resumed.`;

export function runCommand(around: Surroundings): Command {
  return flagged(
    new Command('run').description('Run a workflow.').argument('[workflow]', 'the workflow file'),
  )
    .option('--run-id <id>', 'name of the run; default: a new one')
    .option('--parallel <n>', 'items at a time', parsePositive)
    .option(
      '--agent-timeout <secs>',
      'limit of each attempt, before what the file says',
      parseSeconds,
    )
    .option('--command <claude=program>', 'program of claude steps, or a JSON array', parseCommand)
    .option('--resume <run>', 'continue a run that was stopped')
    .option('--halt <when>', 'end a run that fails: now,fail=3 or soon,fail=10%', parseHalt)
    .option(
      '--termseq <signals>',
      'signals and ms in place of SIGTERM and the grace: TERM,1000,KILL',
      parseTermination,
    )
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, flags: RunFlags, command: Command) => {
      if (flags.resume !== undefined) {
        refuseChanges(file, flags, command);
        return resume(flags.resume, flags, around);
      }
      if (file === undefined)
        command.error('error: say what to run: a workflow file, or --resume <run>');
      await start(file, flags, around);
    });
}

export function resumeCommand(around: Surroundings): Command {
  return flagged(
    new Command('resume')
      .description('Continue a run that was stopped or failed.')
      .argument('<run>', 'its id'),
  )
    .addHelpText('after', HELP)
    .action((runId: string, flags: RunFlags) => resume(runId, flags, around));
}

function flagged(command: Command): Command {
  return withDataOptions(command)
    .option('--use-stored', 'resume though the workflow file was changed since')
    .option(
      '--listen <address>',
      'serve metrics, actors, timers and the inspector there',
      parseOwnAddress,
    )
    .option(
      '--only-changed',
      'of the workflow file as it is now: run what is new or changed, or was not done',
    )
    .option('--retry-failed', 'of a run that has ended: run what has failed, and only that')
    .option('--joblog <file>', 'write a line for each attempt, in the columns of GNU parallel')
    .option('--eta', 'say how long the rest may take')
    .option('--events', 'print the events of monitoring on standard error, a line of JSON each')
    .option('--quiet', 'show no progress');
}

async function start(file: string, flags: RunFlags, around: Surroundings): Promise<void> {
  const { parallel, agentTimeout, command, runId } = flags;
  const options = {
    ...(parallel !== undefined && { parallel }),
    ...(agentTimeout !== undefined && { agentTimeoutMs: agentTimeout }),
    ...(command !== undefined && { claude: command }),
    ...(runId !== undefined && { runId }),
    ...(flags.halt !== undefined && { halt: flags.halt }),
    ...(flags.termseq !== undefined && { termination: flags.termseq }),
  };
  const prepared = prepare(file, options);
  const input = inputOf(prepared);
  await hosting(flags, around, async (host) => {
    const started = await startRun(host, prepared, input, options);
    if (flags.quiet !== true) sayLimits(host.plan(started), around.output);
    return started;
  });
}

/** A run goes on as it began: what would change it is refused, and not left unheard. */
function refuseChanges(file: string | undefined, flags: RunFlags, command: Command): void {
  if (file !== undefined)
    command.error('error: say a workflow file to begin a run, or --resume to continue one');
  const given = OF_A_NEW_RUN.find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  const option = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  command.error(`error: --${option} is of a new run, and cannot be changed by --resume`);
}

async function resume(runId: string, flags: RunFlags, around: Surroundings): Promise<void> {
  const isResumed = flags.retryFailed !== true && flags.onlyChanged !== true;
  await hosting(flags, around, (host) => beginResumed(host, runId, flags), isResumed);
}

/** Hosts a run from its begin, or its continuation, to its end. */
export async function hosting(
  flags: Pick<RunFlags, 'data' | 'json' | 'quiet' | 'events' | 'listen' | 'joblog' | 'eta'>,
  { output, host: process, setExitCode }: Surroundings,
  begin: (host: Host) => Promise<string>,
  isResumed = false,
): Promise<RunDocument> {
  const logger = warningsOn(output);
  const host = await Host.open({ data: flags.data, logger });
  logger.open();
  const stopControl = await serveControl(host);
  let listener: RunListener | undefined;
  try {
    if (flags.events === true)
      host.monitor.attach((event) => output.complain(`${JSON.stringify(event)}\n`));
    if (flags.listen !== undefined) {
      const { runtime, clock } = host;
      const metrics = () => host.metricsText();
      const served = {
        runtime,
        clock,
        system: 'mapreduce',
        runs: mapReduceRuns(host),
        metrics,
      } as const;
      listener = await listenFor(served, flags.listen, logger);
      if (flags.quiet !== true) output.complain(`listening on ${listener.url}\n`);
    }
    const signals = new StopSignals(process, (runId) =>
      host.runtime.actor(runAddress(runId)).send({ type: 'run.kill' }),
    );
    if (flags.joblog !== undefined) beginJobLog(flags.joblog, isResumed);
    const runId = await begin(host);
    signals.begun(runId);
    if (flags.joblog !== undefined) followJobLog(host, runId, flags.joblog);
    const shown = { showsEta: flags.eta === true, isJson: flags.json === true };
    const progress = flags.quiet === true ? undefined : new Progress(host, runId, output, shown);
    const document = await followRun(host, runId, { signal: signals.stopping });
    progress?.close();
    const warning = failedItemsWarning(host.stored);
    if (warning !== undefined) output.complain(`warning: ${warning}\n`);
    report(document, flags, output);
    setExitCode(exitCodeOf(document, signals.exitCode));
    return document;
  } finally {
    stopControl();
    await listener?.close();
    await host.close();
  }
}

function sayLimits({ about: { warnings, learnt }, rules }: Plan, output: Output): void {
  for (const warning of warnings) output.complain(`warning: ${printable(warning)}\n`);
  for (const each of learnt) output.complain(`adaptive: ${each}\n`);
  const { agentLimitMs } = rules.map;
  const later = laterLimitText(rules.medianLimit?.percent ?? null);
  if (agentLimitMs !== null && output.showsProgress)
    output.complain(`limit of each attempt: ${durationText(agentLimitMs)}${later}\n`);
}

function report(
  document: RunDocument,
  { json, data }: { json?: boolean; data: string },
  output: Output,
): void {
  if (json === true) {
    output.line(JSON.stringify(document));
    return;
  }
  const { runId, status, summary, reason } = document;
  const { done, dlq, skipped, failed } = summary;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  output.line(`run ${runId} ${status}${why}`);
  output.line(`${done} done · ${dlq} dlq · ${skipped} skipped · ${failed} failed`);
  if (document.reduce !== null && document.reduce.output !== '')
    output.write(`${printable(document.reduce.output)}\n`);
  const where = data === '.escapement' ? '' : ` --data ${data}`;
  if (dlq > 0) output.line(output.paint('dim', `See "escapement dlq list${where}".`));
  if (status === 'interrupted')
    output.line(output.paint('dim', `Continue it: escapement mapreduce resume ${runId}${where}`));
}

function exitCodeOf({ status, summary }: RunDocument, stoppedBy?: ExitCode): ExitCode {
  if (status === 'interrupted') return stoppedBy ?? EXIT.terminated;
  if (status === 'failed') return EXIT.broken;
  return summary.dlq > 0 ? EXIT.partial : EXIT.done;
}
