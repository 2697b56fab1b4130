/** `jobs`: lists the jobs that match the options. */

import { Command, Option } from 'commander';
import type { JobPage, JobView } from '../../machines/jobs/messages/client.ts';
import { JOB_STATUSES, type JobStatus } from '../../machines/jobs/words.ts';
import { readPages } from '../api/pages.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseDurationMs, parseLimit } from '../arguments.ts';
import { JOB_COLUMNS } from '../render/job-columns.ts';
import { counted } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import type { Surroundings } from './commands.ts';

interface JobsOptions extends ServerOptions {
  readonly status?: JobStatus;
  readonly state?: JobStatus;
  readonly stuckFor?: number;
  readonly deadlineBefore?: number;
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

const HELP = `
Examples:
  $ escapement jobs
  $ escapement jobs --status running --stuck-for 30s
  $ escapement jobs --deadline-before 10m --all
  $ escapement jobs --status failed --json

What runs comes first, then what has ended; of each the newest first.
With --json: "jobs", and the "cursor" to go on with, null at the end.

${SERVER_EXITS}`;

export function jobsCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('jobs')
      .addOption(
        new Option('--status <status>', 'only jobs that stand like this').choices(JOB_STATUSES),
      )
      .addOption(
        new Option('--state <status>', 'the same as --status')
          .choices(JOB_STATUSES)
          .conflicts('status'),
      )
      .option('--stuck-for <duration>', 'only jobs without progress for so long', parseDurationMs)
      .option('--deadline-before <duration>', 'only jobs that are due sooner', parseDurationMs)
      .option('--limit <n>', 'list at most N, up to 500', parseLimit, 50)
      .option('--cursor <cursor>', 'go on where a list has ended')
      .option('--all', 'all there are'),
  )
    .addHelpText('after', HELP)
    .action((options: JobsOptions) => list(options, around));
}

async function list(options: JobsOptions, { output, env }: Surroundings): Promise<void> {
  const { status, state, stuckFor, deadlineBefore, json = false } = options;
  const connection = connectionOf(options, env, output);
  const { rows, cursor } = await readPages<JobView>(
    async (page) => {
      const found = await connection.get<JobPage>('/v1/jobs', {
        status: status ?? state,
        stuckFor,
        deadlineBefore,
        ...page,
      });
      return { rows: found.jobs, cursor: found.cursor };
    },
    options,
    output,
  );
  if (json) {
    output.line(JSON.stringify({ jobs: rows, cursor }, null, 2));
    return;
  }
  if (rows.length === 0) output.line('There are no such jobs.');
  else printTable(JOB_COLUMNS, rows, output);
  if (cursor !== null)
    output.line(output.paint('dim', `${counted(rows.length, 'job')} shown; --all shows all.`));
}
