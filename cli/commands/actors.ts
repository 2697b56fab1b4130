/** `actors`: lists the actors of a node that match the options. */

import { Command, Option } from 'commander';
import { type ActorRow, WAITING_FOR, type WaitingFor } from '../../runtime/api.ts';
import { readPages } from '../api/pages.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseDurationMs, parseLimit } from '../arguments.ts';
import { counted } from '../render/output.ts';
import { stateText } from '../render/state-text.ts';
import { type Column, printTable } from '../render/table.ts';
import { agoText, dueText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

const STATUSES: ReadonlyArray<ActorRow['status']> = ['active', 'done', 'stopped'];

interface ActorsOptions extends ServerOptions {
  readonly kind?: string;
  readonly status?: ActorRow['status'];
  readonly state?: string;
  readonly tag?: string;
  readonly stuckFor?: number;
  readonly deadlineBefore?: number;
  readonly waitingFor?: WaitingFor;
  readonly sort?: 'address' | 'deadline';
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

const HELP = `
Examples:
  $ escapement actors
  $ escapement actors --kind order --state awaitingPayment --stuck-for 1h
  $ escapement actors --deadline-before 10m --all --json
  $ escapement actors --waiting-for effect
  $ escapement actors --sort deadline --limit 10

They are those of the node's own place, in the order of their addresses, or of their next deadlines.
They wait for a timer, a promise (or callback, or observable), a durable effect, the acknowledgement
of what they have sent, or, when for none of these, for a message.
With --json: "actors", and the "cursor" to go on with, null at the end.

${SERVER_EXITS}`;

export function actorsCommand(around: Surroundings): Command {
  return withServerOptions(
    new Command('actors')
      .option('--kind <kind>', 'only actors of this kind')
      .addOption(
        new Option('--status <status>', 'only actors that stand like this').choices(STATUSES),
      )
      .option('--state <state>', 'only actors in this state; JSON for a nested one')
      .option('--tag <tag>', 'only actors whose state has this tag')
      .option(
        '--stuck-for <duration>',
        'only actors that took no event for so long',
        parseDurationMs,
      )
      .option('--deadline-before <duration>', 'only actors with a sooner deadline', parseDurationMs)
      .addOption(
        new Option('--waiting-for <what>', 'only actors that wait for this').choices(WAITING_FOR),
      )
      .addOption(new Option('--sort <by>', 'in which order').choices(['address', 'deadline']))
      .option('--limit <n>', 'list at most N, up to 500', parseLimit, 50)
      .option('--cursor <cursor>', 'go on where a list has ended')
      .option('--all', 'all there are'),
  )
    .addHelpText('after', HELP)
    .action((options: ActorsOptions) => list(options, around));
}

async function list(options: ActorsOptions, { output, env }: Surroundings): Promise<void> {
  const { kind, status, state, tag, stuckFor, deadlineBefore, waitingFor, sort } = options;
  const connection = connectionOf(options, env, output);
  const { rows, cursor } = await readPages<ActorRow>(
    async (page) => {
      const narrowed = { kind, status, state, tag, stuckFor, deadlineBefore, waitingFor, sort };
      const asked = { ...narrowed, ...page };
      const found = await connection.get<{
        readonly actors: readonly ActorRow[];
        readonly cursor: string | null;
      }>('/v1/actors', asked);
      return { rows: found.actors, cursor: found.cursor };
    },
    options,
    output,
  );
  if (options.json === true) {
    output.line(JSON.stringify({ actors: rows, cursor }, null, 2));
    return;
  }
  if (rows.length === 0) output.line('There are no such actors.');
  else printTable(columnsAt(Date.now()), rows, output);
  if (cursor !== null)
    output.line(output.paint('dim', `${counted(rows.length, 'actor')} shown; --all shows all.`));
}

function columnsAt(now: number): ReadonlyArray<Column<ActorRow>> {
  return [
    { title: 'actor', text: ({ address }) => address },
    {
      title: 'status',
      text: ({ status }) => status,
      format: ({ status }) => (status === 'stopped' ? 'red' : 'dim'),
    },
    { title: 'state', text: ({ state }) => stateText(state), format: () => 'cyan' },
    { title: 'due', text: ({ dueAt }) => (dueAt === null ? '' : dueText(dueAt - now)) },
    { title: 'last event', text: ({ turnAt }) => agoText(turnAt, now) },
  ];
}
