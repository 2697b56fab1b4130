/**
 * `send`: one event for one actor.
 *
 * It has an id from the start, so that it can be sent again after a broken line and is taken once.
 */

import { Command, InvalidArgumentError } from 'commander';
import { actorPath } from '../api/connection.ts';
import { isPassing, patiently } from '../api/patience.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseAddress, parseId } from '../arguments.ts';
import { CommandFailure } from '../exit.ts';
import { printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface SendOptions extends ServerOptions {
  readonly jsonPayload?: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

const HELP = `
Examples:
  $ escapement send order/42 order.paid
  $ escapement send order/42 order.paid --json-payload '{"by": "ada"}' --id request-8f3a

It is done when the turn that took the event is on disk. Of several sends with one id one is taken. Actors of the
jobs system take none: submit, cancel or extend jobs.

${SERVER_EXITS}`;

export function sendCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('send')
      .argument('<actor>', 'its address, such as order/42 or order/42@shop', parseAddress)
      .argument('<event>', 'type of the event')
      .option('--json-payload <json>', 'its other fields, a JSON object', parseFields)
      .option('--id <id>', 'makes it repeatable; default: a new one', parseId),
  )
    .addHelpText('after', HELP)
    .action(async (address: string, type: string, options: SendOptions) => {
      const { jsonPayload = {}, json = false } = options;
      const { newId } = await import('../new-id.ts');
      const id = options.id ?? newId();
      const connection = connectionOf(options, env, output);
      const asked = { body: { ...jsonPayload, type }, headers: { 'idempotency-key': id } };
      const { body } = await patiently(() =>
        connection.ask('POST', actorPath('actors', address), asked),
      ).catch((thrown: unknown) => {
        throw explained(thrown, id);
      });
      const taken = { ...(body as { readonly address: string }), id };
      if (json) output.line(JSON.stringify(taken, null, 2));
      else output.line(`${printable(taken.address)} took ${printable(type)}`);
    });
}

function parseFields(text: string): Readonly<Record<string, unknown>> {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    // What it should be is said below.
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new InvalidArgumentError('It must be a JSON object, such as \'{"by": "ada"}\'.');
  if ('type' in fields) throw new InvalidArgumentError('The type is the argument <event>.');
  return fields as Readonly<Record<string, unknown>>;
}

function explained(thrown: unknown, id: string): unknown {
  if (!(thrown instanceof CommandFailure) || !isPassing(thrown)) return thrown;
  const what = `${thrown.message}\nIt may have been taken all the same; send it with --id ${id} to have it taken once.`;
  return new CommandFailure(thrown.exitCode, what, { cause: thrown });
}
