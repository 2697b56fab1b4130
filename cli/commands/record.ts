/**
 * `record`: has a node record for a while, and writes what it has recorded to a file.
 */

import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { CommandAnswer } from '../../inspector/protocol.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { collect, parsePositiveDurationMs } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface RecordCommandOptions extends ServerOptions {
  readonly output: string;
  readonly for: number;
  readonly kind: readonly string[];
  readonly actor: readonly string[];
}

const HELP = `
Examples:
  $ escapement record -o run.jsonl --for 1m
  $ escapement record -o order.jsonl --for 10s --actor order/42@shop
  $ escapement inspect run.jsonl

The node keeps it in memory meanwhile, up to 10,000 turns and 32 MiB; beyond them the oldest go.
${SERVER_EXITS}`;

export function recordCommand({ output, env }: Surroundings): Command {
  return withServerOptions(
    new Command('record')
      .requiredOption('-o, --output <file>', 'file to write, JSON lines')
      .option('--for <duration>', 'how long', parsePositiveDurationMs, 30_000)
      .option('--kind <kind>', 'only actors of this kind; may be given again', collect, [])
      .option(
        '--actor <address>',
        'only this actor, with its place; may be given again',
        collect,
        [],
      ),
  )
    .addHelpText('after', HELP)
    .action(async (options: RecordCommandOptions) => {
      const connection = connectionOf(options, env, output);
      const { for: forMs, kind: kinds, actor: addresses } = options;
      const body = {
        type: 'record',
        forMs,
        ...(kinds.length > 0 && { kinds }),
        ...(addresses.length > 0 && { addresses }),
      };
      const { body: answer } = await connection.ask('POST', '/inspector/api/command', { body });
      const { outcome, why } = answer as CommandAnswer;
      if (outcome !== 'taken') throw new CommandFailure(EXIT.noPermission, why);
      output.progress(`recording for ${Math.round(forMs / 1_000)} s`);
      await delay(forMs);
      output.progress(undefined);
      const text = await connection.text('/inspector/api/recording');
      writeFileSync(options.output, text);
      const lines = text.split('\n').length - 1;
      if (options.json === true) output.line(JSON.stringify({ file: options.output, lines }));
      else output.line(`${lines} lines in ${printable(options.output)}`);
    });
}
