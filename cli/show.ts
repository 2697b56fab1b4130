/** `show`: one job with its datacenters, its workflows and the arithmetic of its deadline. */

import { Command } from 'commander';
import type { JobView } from '../machines/jobs/messages/client.ts';
import { segment } from './api/connection.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from './api/server-options.ts';
import { parseId } from './arguments.ts';
import type { Surroundings } from './commands.ts';
import { EXIT } from './exit.ts';
import { printJob } from './job-report.ts';

interface ShowOptions extends ServerOptions {
  readonly watch?: boolean;
}

const HELP = `
Examples:
  $ escapement show import-2026-03-01
  $ escapement show import-2026-03-01 --watch
  $ escapement show import-2026-03-01 --json

With --watch it also exits 1 when the job does not complete.
${SERVER_EXITS}`;

export function showCommand({ output, env, setExitCode }: Surroundings): Command {
  return withServerOptions(
    new Command('show')
      .argument('<job>', 'id of the job', parseId)
      .option('--watch', 'wait for its end and tell how it goes'),
  )
    .addHelpText('after', HELP)
    .action(async (jobId: string, options: ShowOptions) => {
      const { json = false, watch = false } = options;
      const connection = connectionOf(options, env, output);
      let job = await connection.get<JobView>(`/v1/jobs/${segment(jobId)}`);
      if (watch) {
        const { watchAloud } = await import('./watch-view.ts');
        job = await watchAloud(connection, jobId, output, { isQuiet: json });
        if (job.status !== 'completed') setExitCode(EXIT.broken);
      }
      if (json) output.line(JSON.stringify(job, null, 2));
      else printJob(job, output);
    });
}
