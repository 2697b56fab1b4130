/** `timers`: lists what is due, and when. */

import { Command } from 'commander';
import { readPages } from '../api/pages.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseDurationMs, parseId, parseLimit } from '../arguments.ts';
import { counted } from '../render/output.ts';
import { stateText } from '../render/state-text.ts';
import { type Column, printTable } from '../render/table.ts';
import { dueText, momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface TimersOptions extends ServerOptions {
  readonly before?: number;
  readonly kind?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

/** The next deadline of an actor. */
interface TimerView {
  readonly address: string;
  readonly kind: string;
  readonly state: string;
  readonly dueAt: number;
  readonly dueInMs: number;
}

const COLUMNS: ReadonlyArray<Column<TimerView>> = [
  { title: 'due', text: ({ dueInMs }) => dueText(dueInMs) },
  { title: 'at', text: ({ dueAt }) => momentText(dueAt) },
  { title: 'actor', text: ({ address }) => address },
  { title: 'state', text: ({ state }) => stateText(state), format: () => 'cyan' },
];

const HELP = `
Examples:
  $ escapement timers
  $ escapement timers --before 1h --kind job
  $ escapement timers --all --json

Each actor of the place has its next deadline in the list, the soonest first.
${SERVER_EXITS}`;

export function timersCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('timers')
      .option('--before <duration>', 'only those that are due sooner', parseDurationMs)
      .option('--kind <kind>', 'only actors of this kind', parseId)
      .option('--limit <n>', 'list at most N, up to 500', parseLimit, 50)
      .option('--cursor <cursor>', 'go on where a list has ended')
      .option('--all', 'all there are'),
  )
    .addHelpText('after', HELP)
    .action((options: TimersOptions) => list(options, around));
}

async function list(options: TimersOptions, { output, env }: Surroundings): Promise<void> {
  const { before, kind } = options;
  const connection = connectionOf(options, env, output);
  const { rows, cursor } = await readPages<TimerView>(
    async (page) => {
      const asked = { before, kind, ...page };
      const found = await connection.get<{
        readonly timers: readonly TimerView[];
        readonly cursor: string | null;
      }>('/v1/timers', asked);
      return { rows: found.timers, cursor: found.cursor };
    },
    options,
    output,
  );
  if (options.json === true) {
    output.line(JSON.stringify({ timers: rows, cursor }, null, 2));
    return;
  }
  if (rows.length === 0) output.line('Nothing is due.');
  else printTable(COLUMNS, rows, output);
  if (cursor !== null)
    output.line(output.paint('dim', `${counted(rows.length, 'actor')} shown; --all shows all.`));
}
