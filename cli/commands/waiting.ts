/** `waiting`: the places that a node's messages wait for and that do not answer. */

import { Command } from 'commander';
import type { WaitingPlace } from '../../runtime/delivery.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { type Column, printTable } from '../render/table.ts';
import type { Surroundings } from './commands.ts';

type Row = Omit<WaitingPlace, 'node'> & { readonly node: string | null };

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { title: 'place', text: ({ place }) => place, format: () => 'yellow' },
  { title: 'at node', text: ({ node }) => node ?? 'nobody hosts it' },
  { title: 'messages', text: ({ messages }) => String(messages), side: 'right' },
  { title: 'receivers', text: ({ receivers }) => String(receivers), side: 'right' },
  { title: 'tries', text: ({ attempts }) => String(attempts), side: 'right' },
];

const HELP = `
Examples:
  $ escapement waiting
  $ escapement waiting --json

They are tried for as long as they wait. A place that nobody hosts is down, or misspelt.

${SERVER_EXITS}`;

export function waitingCommand({ output, env }: Surroundings): Command {
  return withServerOptions(new Command('waiting'))
    .addHelpText('after', HELP)
    .action(async (options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const found = await connection.get<{ readonly waiting: readonly Row[] }>('/v1/waiting');
      if (options.json === true) output.line(JSON.stringify(found, null, 2));
      else if (found.waiting.length === 0) output.line('Nothing waits for a place that is silent.');
      else printTable(COLUMNS, found.waiting, output);
    });
}
