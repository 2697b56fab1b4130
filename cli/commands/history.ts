/** `history`: what happened to a job or an actor, turn by turn, as the node that is asked has it. */

import { Command } from 'commander';
import type { HistoryRow } from '../../runtime/actor.ts';
import { actorPath, segment } from '../api/connection.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseJobOrActor, parseLimit } from '../arguments.ts';
import { type Output, printable } from '../render/output.ts';
import { stateText } from '../render/state-text.ts';
import { printTable } from '../render/table.ts';
import { momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface HistoryOptions extends ServerOptions {
  readonly limit: number;
}

interface HistoryAnswer {
  readonly address: string;
  /** Oldest first. */
  readonly history: readonly HistoryRow[];
}

const HELP = `
Examples:
  $ escapement history import-2026-03-01
  $ escapement history import-2026-03-01 --limit 20 --json
  $ escapement history order/42

A gate tells what it knows of the job; for the rest ask a manager of its datacenter, with --url.
${SERVER_EXITS}`;

export function historyCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('history')
      .argument('<job|actor>', 'id of a job, or address of an actor', parseJobOrActor)
      .option('--limit <n>', 'the latest N turns, up to 500', parseLimit, 100),
  )
    .addHelpText('after', HELP)
    .action(async (jobId: string, options: HistoryOptions) => {
      const connection = connectionOf(options, env, output);
      const path = jobId.includes('/')
        ? actorPath('history', jobId)
        : `/v1/jobs/${segment(jobId)}/history`;
      const found = await connection.get<HistoryAnswer>(path, { limit: options.limit });
      if (options.json === true) output.line(JSON.stringify(found, null, 2));
      else print(found, output);
    });
}

function print({ address, history }: HistoryAnswer, output: Output): void {
  output.line(output.paint('bold', printable(address)));
  printTable<HistoryRow>(
    [
      { title: 'turn', text: ({ turn }) => String(turn), side: 'right' },
      { title: 'at', text: ({ at }) => momentText(at) },
      { title: 'event', text: ({ event }) => event },
      { title: 'state', text: ({ state }) => stateText(state), format: () => 'cyan' },
      {
        title: 'did',
        text: ({ did = [], error }) =>
          error === undefined ? did.join(', ') : `failed: ${error.message} (${error.code})`,
        format: ({ error }) => (error === undefined ? undefined : 'red'),
      },
    ],
    history,
    output,
  );
}
