/** `revive`, `end`, `forget`: orders of operators about one actor. */

import { Command } from 'commander';
import { actorPath } from '../api/connection.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseAddress } from '../arguments.ts';
import { printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

const ORDERS = {
  revive: {
    done: 'is active again',
    help: 'One that was stopped goes on in the state in which it was: deadlines that have come meanwhile come at once.\nOne that is active exits 65, one that has come to its own end 1.',
  },
  end: {
    done: 'has ended',
    help: 'It takes nothing any more, whatever its machine says; what it has sent is delivered. One that has ended exits 1.',
  },
  forget: {
    done: 'is forgotten',
    help: 'Takes state and input of one that has ended away now, and not after its time. One that is active exits 65.',
  },
} as const;

export type OrderCommand = keyof typeof ORDERS;

export function orderCommand(name: OrderCommand, { output, env }: Surroundings): Command {
  const { done, help } = ORDERS[name];
  return withServerOptions(
    new Command(name).argument('<actor>', 'its address, such as order/42', parseAddress),
  )
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement ${name} order/42\n\n${help}\n\n${SERVER_EXITS}`,
    )
    .action(async (address: string, options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const { body } = await connection.ask('POST', actorPath(name, address), { body: {} });
      const { address: whole } = body as { readonly address: string };
      if (options.json === true) output.line(JSON.stringify(body, null, 2));
      else output.line(`${printable(whole)} ${done}`);
    });
}
