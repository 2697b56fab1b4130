/** `workers`: lists the workers of a node, and how they are. */

import { Command } from 'commander';
import type { WorkerPage } from '../../machines/jobs/messages/client.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { WORKER_COLUMNS } from '../render/job-columns.ts';
import { printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import type { Surroundings } from './commands.ts';

type WorkersAnswer = Omit<WorkerPage, 'cursor'>;

const HELP = `
Examples:
  $ escapement workers
  $ escapement workers --json

A gate asks its datacenters; those that do not answer are named.
${SERVER_EXITS}`;

export function workersCommand({ output, env }: Surroundings): Command {
  return withServerOptions(new Command('workers'))
    .addHelpText('after', HELP)
    .action(async (options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const found = await connection.get<WorkersAnswer>('/v1/workers');
      if (options.json === true) {
        output.line(JSON.stringify(found, null, 2));
        return;
      }
      const { workers, unanswered } = found;
      if (workers.length === 0) output.line('There are no workers.');
      else printTable(WORKER_COLUMNS, workers, output);
      if (unanswered.length > 0)
        output.complain(`warning: no answer from ${unanswered.map(printable).join(', ')}.\n`);
    });
}
