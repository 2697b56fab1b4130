/** `timers`: lists what is due, and when: at a node, or in a data directory. */

import { Command } from 'commander';
import { systemClock } from '../../runtime/system/clock.ts';
import { orFrom } from '../api/failures.ts';
import { readPages } from '../api/pages.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseDurationMs, parseId, parseLimit } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { counted } from '../render/output.ts';
import { stateText } from '../render/state-text.ts';
import { type Column, printTable } from '../render/table.ts';
import { dueText, momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface TimersOptions extends ServerOptions {
  readonly from?: string;
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
  $ escapement timers --kind mapreduce --from .escapement
  $ escapement timers --kind agents --from .escapement/agents

Each actor of the place has its next deadline in the list, the soonest first. The kinds mapreduce and agents stand for runs
and all that belongs to them.
${SERVER_EXITS}`;

export function timersCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('timers')
      .option('--before <duration>', 'only those that are due sooner', parseDurationMs)
      .option('--kind <kind>', 'only actors of this kind', parseId)
      .option('--limit <n>', 'list at most N, up to 500', parseLimit, 50)
      .option('--cursor <cursor>', 'go on where a list has ended')
      .option('--all', 'all there are')
      .option('--from <dir>', 'read a data directory, also beside the process that has it'),
  )
    .addHelpText('after', HELP)
    .action((options: TimersOptions) => list(options, around));
}

async function list(options: TimersOptions, around: Surroundings): Promise<void> {
  const { output } = around;
  const { rows, cursor } =
    options.from === undefined
      ? await orFrom(askNode(options, around))
      : await lookInto(options.from, options, around);
  if (options.json === true) {
    output.line(JSON.stringify({ timers: rows, cursor }, null, 2));
    return;
  }
  if (rows.length === 0) output.line('Nothing is due.');
  else printTable(COLUMNS, rows, output);
  if (cursor !== null)
    output.line(output.paint('dim', `${counted(rows.length, 'actor')} shown; --all shows all.`));
}

/** Kinds of a run and of what belongs to it, under one name. */
const KINDS_OF_RUNS: Readonly<Record<string, readonly string[]>> = {
  agents: ['agent', 'delegation', 'orchestration', 'task'],
  mapreduce: ['map-agent', 'mapreduce'],
};

const kindsOf = (kind = ''): ReadonlyArray<string | undefined> =>
  KINDS_OF_RUNS[kind] ?? [kind === '' ? undefined : kind];

interface Page {
  readonly rows: readonly TimerView[];
  readonly cursor: string | null;
}

async function askNode(options: TimersOptions, { output, env }: Surroundings): Promise<Page> {
  const connection = connectionOf(options, env, output);
  const ask = (kind: string | undefined): Promise<Page> =>
    readPages<TimerView>(
      async (page) => {
        const asked = { before: options.before, kind, ...page };
        const found = await connection.get<{
          readonly timers: readonly TimerView[];
          readonly cursor: string | null;
        }>('/v1/timers', asked);
        return { rows: found.timers, cursor: found.cursor };
      },
      options,
      output,
    );
  const [first, ...others] = kindsOf(options.kind);
  const page = await ask(first);
  if (options.cursor !== undefined) return page;
  const rows = [...page.rows];
  for (const kind of others) rows.push(...(await ask(kind)).rows);
  return { ...page, rows: rows.toSorted((one, other) => one.dueAt - other.dueAt) };
}

async function lookInto(
  directory: string,
  { before, kind, limit, all, cursor }: TimersOptions,
  { openStoredData }: Surroundings,
): Promise<Page> {
  if (openStoredData === undefined)
    throw new CommandFailure(
      EXIT.unavailable,
      `${directory}: there is nothing here to open it with.`,
    );
  const data = await openStoredData(directory, 'look');
  try {
    const now = systemClock({ unref: true }).now();
    const rows: TimerView[] = [];
    for (const { address, entry } of data.actors()) {
      const { dueAt, state } = entry;
      if (dueAt === null || (before !== undefined && dueAt >= now + before)) continue;
      if (kind !== undefined && !kindsOf(kind).includes(entry.kind)) continue;
      rows.push({ address, kind: entry.kind, state, dueAt, dueInMs: dueAt - now });
    }
    rows.sort((one, other) => one.dueAt - other.dueAt);
    const begin =
      cursor === undefined ? 0 : rows.findIndex(({ address }) => address === cursor) + 1;
    const shown = rows.slice(begin, all === true ? undefined : begin + limit);
    return {
      rows: shown,
      cursor: shown.at(-1) !== rows.at(-1) ? (shown.at(-1)?.address ?? null) : null,
    };
  } finally {
    await data.close();
  }
}
