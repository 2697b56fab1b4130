/**
 * `undelivered list | show | retry | drop`: messages that nobody could take, which wait for a
 * person to decide.
 */

import { Command } from 'commander';
import type { Undelivered } from '../../runtime/actor.ts';
import type { ErrorShape } from '../../runtime/base/errors.ts';
import { segment } from '../api/connection.ts';
import { readPages } from '../api/pages.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseLimit } from '../arguments.ts';
import { counted, type Output, printable } from '../render/output.ts';
import { type Column, printTable } from '../render/table.ts';
import { agoText, momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface ListOptions extends ServerOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

interface Row {
  readonly id: string;
  readonly at: number;
  readonly to: string;
  readonly from: string | null;
  readonly type: string;
  readonly error: ErrorShape;
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { title: 'id', text: ({ id }) => id },
  { title: 'when', text: ({ at }) => agoText(at, Date.now()) },
  { title: 'event', text: ({ type }) => type },
  { title: 'to', text: ({ to }) => to },
  { title: 'from', text: ({ from }) => from ?? '' },
  { title: 'why', text: ({ error }) => error.code, format: () => 'red' },
];

export function undeliveredCommand(around: Surroundings): Command {
  return new Command('undelivered')
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement undelivered list\n  $ escapement undelivered retry 0mf3k2a1b-x7Kq2m',
    )
    .addCommand(listCommand(around))
    .addCommand(showCommand(around))
    .addCommand(retryCommand(around))
    .addCommand(dropCommand(around));
}

function listCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('list')
      .description('Which messages there are, the oldest first.')
      .option('--limit <n>', 'list at most N, up to 500', parseLimit, 50)
      .option('--cursor <cursor>', 'go on where a list has ended')
      .option('--all', 'all there are'),
  )
    .addHelpText('after', `\nExamples:\n  $ escapement undelivered list --all\n\n${SERVER_EXITS}`)
    .action((options: ListOptions) => list(options, around));
}

async function list(options: ListOptions, { output, env }: Surroundings): Promise<void> {
  const connection = connectionOf(options, env, output);
  const { rows, cursor } = await readPages<Row>(
    async (page) => {
      const found = await connection.get<{
        readonly undelivered: readonly Row[];
        readonly cursor: string | null;
      }>('/v1/undelivered', page);
      return { rows: found.undelivered, cursor: found.cursor };
    },
    options,
    output,
  );
  if (options.json === true) {
    output.line(JSON.stringify({ undelivered: rows, cursor }, null, 2));
    return;
  }
  if (rows.length === 0) output.line('Everything was delivered.');
  else printTable(COLUMNS, rows, output);
  if (cursor !== null)
    output.line(output.paint('dim', `${counted(rows.length, 'message')} shown; --all shows all.`));
}

function showCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('show')
      .description('One message with all it says.')
      .argument('<id>', 'id of the message'),
  )
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement undelivered show 0mf3k2a1b-x7Kq2m\n\n${SERVER_EXITS}`,
    )
    .action(async (id: string, options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const found = await connection.get<Undelivered>(`/v1/undelivered/${segment(id)}`);
      if (options.json === true) output.line(JSON.stringify(found, null, 2));
      else print(found, output);
    });
}

function print({ id, at, to, from, event, error }: Undelivered, output: Output): void {
  output.line(output.paint('bold', printable(id)));
  const facts = [
    ['when', `${momentText(at)}, ${agoText(at, Date.now())}`],
    ['to', to],
    ['from', from ?? 'outside'],
    ['why', `${error.message} (${error.code})`],
    ['event', JSON.stringify(event)],
  ] as const;
  for (const [name, text] of facts) output.line(`  ${name.padEnd(7)}${printable(text)}`);
}

function retryCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('retry')
      .description('Deliver a message once more. It is gone from the list when it is taken.')
      .argument('<id>', 'id of the message'),
  )
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement undelivered retry 0mf3k2a1b-x7Kq2m\n\nExits 1 when it is refused again.\n${SERVER_EXITS}`,
    )
    .action(async (id: string, options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const path = `/v1/undelivered/${segment(id)}/retry`;
      const { body } = await connection.ask('POST', path, { body: {} });
      if (options.json === true) output.line(JSON.stringify(body, null, 2));
      else output.line(`${printable(id)} was delivered`);
    });
}

function dropCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('drop')
      .description('Throw a message away for good.')
      .argument('<id>', 'id of the message'),
  )
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement undelivered drop 0mf3k2a1b-x7Kq2m\n\n${SERVER_EXITS}`,
    )
    .action(async (id: string, options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const { body } = await connection.ask('DELETE', `/v1/undelivered/${segment(id)}`);
      if (options.json === true) output.line(JSON.stringify(body, null, 2));
      else output.line(`${printable(id)} was dropped`);
    });
}
