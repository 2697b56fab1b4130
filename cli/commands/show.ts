/**
 * `show`: one job with its datacenters, its workflows and the arithmetic of its deadline; or one actor, why it
 * is where it is.
 */

import { Command } from 'commander';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import { actorPath, type Connection, segment } from '../api/connection.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseJobOrActor } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { printJob } from '../render/job-report.ts';
import { type Output, printableLines } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface ShowOptions extends ServerOptions {
  readonly watch?: boolean;
}

const HELP = `
Examples:
  $ escapement show import-2026-03-01
  $ escapement show import-2026-03-01 --watch
  $ escapement show import-2026-03-01 --json
  $ escapement show order/42

An actor is told with its deadlines and its last turns; with --json as XState persists it, in "snapshot".
With --watch it also exits 1 when the job does not complete.
${SERVER_EXITS}`;

export function showCommand({ output, env, setExitCode }: Surroundings): Command {
  return withServerOptions(
    new Command('show')
      .argument('<job|actor>', 'id of a job, or address of an actor', parseJobOrActor)
      .option('--watch', 'wait for the end of a job and tell how it goes'),
  )
    .addHelpText('after', HELP)
    .action(async (jobId: string, options: ShowOptions, command: Command) => {
      const { json = false, watch = false } = options;
      const connection = connectionOf(options, env, output);
      if (jobId.includes('/')) {
        if (watch) command.error('error: --watch is for jobs');
        await showActor(connection, jobId, json, output);
        return;
      }
      let job = await connection.get<JobView>(`/v1/jobs/${segment(jobId)}`);
      if (watch) {
        const { watchAloud } = await import('../render/watch-view.ts');
        job = await watchAloud(connection, jobId, output, { isQuiet: json });
        if (job.status !== 'completed') setExitCode(EXIT.broken);
      }
      if (json) output.line(JSON.stringify(job, null, 2));
      else printJob(job, output);
    });
}

async function showActor(
  connection: Connection,
  address: string,
  isJson: boolean,
  output: Output,
): Promise<void> {
  if (isJson) {
    const found = await connection.get(actorPath('actors', address));
    output.line(JSON.stringify(found, null, 2));
    return;
  }
  const path = actorPath('explain', address);
  const { explanation } = await connection.get<{ readonly explanation: string }>(path);
  output.line(printableLines(explanation));
}
