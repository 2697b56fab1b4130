/**
 * `submit`: hands a job to a gate or a datacenter, and waits for its end when it is asked to.
 *
 * Guarantees: the job has its id before it is sent, so that a submission whose answer was lost is
 * repeated and taken once.
 */

import { Command, InvalidArgumentError } from 'commander';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import type { JobView, SubmissionAnswer } from '../../machines/jobs/messages/client.ts';
import type { NewJob, NewWorkflow } from '../../programs/jobs/client.ts';
import type { Connection } from '../api/connection.ts';
import { Refusal } from '../api/failures.ts';
import { isPassing, patiently, untilThereIsRoom } from '../api/patience.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { collectIds, parseDurationMs, parseId, parsePositiveDurationMs } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { PartialJob } from '../loaders/job-file.ts';
import { printJob } from '../render/job-report.ts';
import { type Output, printable } from '../render/output.ts';
import { durationText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface SubmitOptions extends ServerOptions {
  readonly workflow?: readonly NewWorkflow[];
  readonly timeout?: number;
  readonly datacenters?: readonly string[];
  readonly id?: string;
  readonly file?: string;
  readonly failFast?: boolean;
  readonly watch?: boolean;
  readonly wait: number;
}

const HELP = `
A workflow is its id, the handler that does its work, and what the handler gets. Flags say more than
a file: what both have is taken from the flags. A job that was submitted twice under one id runs once.

Examples:
  $ escapement submit --timeout 10m --workflow nightly=report
  $ escapement submit --timeout 5m --workflow a=resize:cat.png --workflow b=resize:dog.png --watch
  $ escapement submit --file job.yml --datacenters A,B --id import-2026-03-01
  $ make-job | escapement submit --file - --json

A file:
  timeout: 10m
  datacenters: [A, B]
  workflows:
    - { id: fetch, handler: download, payload: { url: "https://example.org" } }
    - { id: store, handler: import, dependsOn: [fetch] }

Where too much waits already the node says when to come again; that is waited for, up to --wait, and said on
standard error. A job that found no room until then was not taken, and the exit code is 69.

With --watch it also exits 1 when the job does not complete.
${SERVER_EXITS}`;

export function submitCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('submit')
      .option(
        '--workflow <id=handler[:payload]>',
        'a workflow; may be given several times',
        collect,
      )
      .option(
        '--timeout <duration>',
        'time budget of the job, such as 10m',
        parsePositiveDurationMs,
      )
      .option('--datacenters <names>', 'where a gate lets it run, such as A,B', collectIds)
      .option('--id <id>', 'name of the job; default: a new one', parseId)
      .option('--file <file>', 'the job as YAML or JSON, "-" is standard input')
      .option('--fail-fast', 'end the job at the first workflow that fails for good')
      .option(
        '--wait <duration>',
        'how long to wait where too much waits already; 0s: not at all',
        parseDurationMs,
        60_000,
      )
      .option('--watch', 'wait for its end and tell how it goes'),
  )
    .addHelpText('after', HELP)
    .action(async (options: SubmitOptions, command: Command) => {
      const { file, workflow } = options;
      if (file === undefined && workflow === undefined)
        command.error('error: say what to run: --workflow <id=handler[:payload]> or --file <file>');
      const job = await jobOf(options, around, command);
      await submit(job, options, around);
    });
}

async function jobOf(
  { file, workflow, timeout, datacenters, id, failFast }: SubmitOptions,
  { input }: Surroundings,
  command: Command,
): Promise<NewJob & { readonly jobId: string }> {
  let written: PartialJob = { workflows: [] };
  if (file !== undefined)
    written = await (await import('../loaders/job-file.ts')).readJobFile(file, input);
  const { newId } = await import('../new-id.ts');
  const timeoutMs = timeout ?? written.timeoutMs;
  if (timeoutMs === undefined)
    command.error("error: a job has a time budget: option '--timeout <duration>' is missing");
  return {
    ...written,
    timeoutMs,
    ...(datacenters !== undefined && { targetDatacenters: datacenters }),
    ...(failFast === true && { failFast }),
    ...(workflow !== undefined && { workflows: workflow }),
    jobId: id ?? written.jobId ?? newId(),
  };
}

async function submit(
  job: NewJob & { readonly jobId: string },
  options: SubmitOptions,
  { output, env, setExitCode }: Surroundings,
): Promise<void> {
  const { json = false, watch = false } = options;
  const { jobId } = job;
  const connection = connectionOf(options, env, output);
  const submission = await send(connection, job, options, output);
  if (!watch) {
    if (json) output.line(JSON.stringify(submission, null, 2));
    else {
      output.line(taken(submission));
      output.line(output.paint('dim', `See "escapement show ${jobId}".`));
    }
    return;
  }
  if (!json) output.line(taken(submission));
  const { watchAloud } = await import('../render/watch-view.ts');
  const ended = await watchAloud(connection, jobId, output, { isQuiet: json });
  if (json) output.line(JSON.stringify({ submission, job: ended }, null, 2));
  else printJob(ended, output);
  if (!isCompleted(ended)) setExitCode(EXIT.broken);
}

function isCompleted({ status }: JobView): boolean {
  return status === 'completed';
}

async function send(
  connection: Connection,
  job: NewJob & { readonly jobId: string },
  { wait }: SubmitOptions,
  output: Output,
): Promise<SubmissionAnswer> {
  const headers = { 'idempotency-key': job.jobId };
  const ask = () => connection.ask('POST', '/v1/jobs', { body: job, headers });
  const onWait = (pauseMs: number, why: string): void =>
    output.complain(`${printable(why)}\nAsks again in ${durationText(pauseMs)}.\n`);
  const { body } = await patiently(() => untilThereIsRoom(ask, { limitMs: wait, onWait })).catch(
    (thrown: unknown) => {
      throw explained(thrown, job.jobId);
    },
  );
  const answer = body as SubmissionAnswer;
  if (answer.accepted) return answer;
  const { reason, field, detail } = answer;
  const what = [reason, field, detail].filter((part) => part !== undefined && part !== null);
  throw new CommandFailure(EXIT.badData, `The job was refused: ${what.join(', ')}.`);
}

function explained(thrown: unknown, jobId: string): unknown {
  if (thrown instanceof Refusal && thrown.code === 'conflict') {
    const what = `There is another job "${jobId}" already. Choose another --id, or leave it out.`;
    return new CommandFailure(EXIT.badData, what, { cause: thrown });
  }
  if (!(thrown instanceof CommandFailure) || !isPassing(thrown)) return thrown;
  // Nobody knows whether it was taken: the same id makes the next try harmless.
  const what = `${thrown.message}\nIt may have been taken all the same; submit it with --id ${jobId} to have it once.`;
  return new CommandFailure(thrown.exitCode, what, { cause: thrown });
}

function taken({ jobId, created, status }: SubmissionAnswer): string {
  const name = printable(jobId);
  if (created) return `job ${name} accepted`;
  return `job ${name} was there already${status === null ? '' : `: ${printable(status)}`}`;
}

/** `id=handler`, `id=handler:payload`; a payload may have anything in it. */
function collect(text: string, before: readonly NewWorkflow[] = []): readonly NewWorkflow[] {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':', equals);
  const id = text.slice(0, Math.max(0, equals));
  const handler = text.slice(equals + 1, colon < 0 ? undefined : colon);
  if (equals < 0 || !ID_PATTERN.test(id) || !ID_PATTERN.test(handler))
    throw new InvalidArgumentError(
      'It must be id=handler or id=handler:payload, with ids of letters, digits or "._-".',
    );
  if (before.some((one) => one.id === id))
    throw new InvalidArgumentError(`There is a workflow "${id}" already.`);
  return [...before, { id, handler, ...(colon >= 0 && { payload: text.slice(colon + 1) }) }];
}
