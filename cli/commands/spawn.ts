/** `spawn`: begins an actor of one of a node's own kinds. */

import { Command, InvalidArgumentError } from 'commander';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseAddress } from '../arguments.ts';
import { printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface SpawnOptions extends ServerOptions {
  readonly input?: unknown;
  readonly ifAbsent?: boolean;
}

const HELP = `
Examples:
  $ escapement spawn order/42
  $ escapement spawn order/42 --input '{"total": 99}' --if-absent

It is done when the actor is on disk. One that is there already is refused, exit 65, unless --if-absent is said.

${SERVER_EXITS}`;

export function spawnCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('spawn')
      .argument('<actor>', 'its address, such as order/42 or order/42@shop', parseAddress)
      .option('--input <json>', 'what its machine gets as input', parseJson)
      .option('--if-absent', 'leave one that is there already as it is'),
  )
    .addHelpText('after', HELP)
    .action(async (address: string, options: SpawnOptions) => {
      const { input, ifAbsent = false, json = false } = options;
      const connection = connectionOf(options, env, output);
      const asked = { address, ifAbsent, ...(input !== undefined && { input }) };
      const { body } = await connection.ask('POST', '/v1/actors', { body: asked });
      if (json) output.line(JSON.stringify(body, null, 2));
      else output.line(`${printable((body as { readonly address: string }).address)} is there`);
    });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It must be JSON, such as \'{"total": 99}\'.');
  }
}
