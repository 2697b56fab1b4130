/**
 * `why`: explains why a job or an actor ended, or what ends it next: at a node, or in a data directory, a recording or
 * a plan.
 */

import { Command } from 'commander';
import type { ActorsPage, Why, WhyAnswer } from '../../inspector/protocol.ts';
import type { Connection } from '../api/connection.ts';
import { orFrom } from '../api/failures.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseJobOrActor } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { OpenStoredData } from '../loaders/stored-data.ts';
import type { Output } from '../render/output.ts';
import { printWhy } from '../render/why-text.ts';
import type { Surroundings } from './commands.ts';

interface WhyOptions extends ServerOptions {
  readonly from?: string;
}

const HELP = `
Examples:
  $ escapement why import-2026-03-01
  $ escapement why order/42
  $ escapement why order/42 --from ./data
  $ escapement why job/import-7@A --from run.jsonl --json

With --from it needs no node: a data directory is only read, a plan is played first.
${SERVER_EXITS}`;

export function whyCommand({ output, env, openStoredData }: Surroundings): Command {
  return withServerOptions(
    new Command('why')
      .argument('<job|actor>', 'id of a job, or address of an actor', parseJobOrActor)
      .option('--from <path>', 'data directory, recording (.jsonl) or plan (.json) to look into'),
  )
    .addHelpText('after', HELP)
    .action(async (name: string, options: WhyOptions) => {
      const why =
        options.from === undefined
          ? await orFrom(askNode(connectionOf(options, env, output), name))
          : await lookInto(options.from, name, openStoredData, output);
      if (options.json === true) output.line(JSON.stringify(why, null, 2));
      else printWhy(why, output);
    });
}

async function askNode(connection: Connection, name: string): Promise<Why> {
  const address = name.includes('@') ? name : await found(connection, name);
  const { why } = await connection.get<WhyAnswer>('/inspector/api/why', { address });
  return why;
}

/** Whole address of a job, or of an actor of which the place is not said. */
async function found(connection: Connection, name: string): Promise<string> {
  const wanted = candidates(name);
  for (const start of wanted) {
    const page = await connection.get<ActorsPage>('/inspector/api/actors', {
      text: `${start}@`,
      limit: 200,
    });
    const row = page.rows.find(({ address }) => address.startsWith(`${start}@`));
    if (row !== undefined) return row.address;
  }
  throw none(name);
}

async function lookInto(
  path: string,
  name: string,
  open: OpenStoredData | undefined,
  output: Output,
): Promise<Why> {
  const { openRested } = await import('../loaders/rested.ts');
  const { Recorded } = await import('../../inspector/recording/recorded.ts');
  const { recordedLookup } = await import('../../inspector/recording/recorded-views.ts');
  const { whyOf } = await import('../../inspector/lookup.ts');
  const recorded = new Recorded((await openRested(path, open, output)).lines);
  const address = name.includes('@')
    ? name
    : candidates(name).flatMap((start) =>
        [...recorded.actors.keys()].filter((each) => each.startsWith(`${start}@`)),
      )[0];
  const answer = address === undefined ? undefined : await whyOf(recordedLookup(recorded), address);
  if (answer === undefined) throw none(name);
  return answer.why;
}

/** A job is known at its gate, and in each of its datacenters. */
const candidates = (name: string): readonly string[] =>
  name.includes('/') ? [name] : [`job/${name}`, `gate-job/${name}`];

const none = (name: string): CommandFailure =>
  new CommandFailure(EXIT.broken, `There is no ${name.includes('/') ? 'actor' : 'job'} ${name}.`);
