/** `extend`: adds time to a job. A request that has to be repeated adds it once. */

import { Command } from 'commander';
import type { ExtendAnswer } from '../../machines/jobs/messages/client.ts';
import { segment } from '../api/connection.ts';
import { patiently } from '../api/patience.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseId, parsePositiveDurationMs } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { type Output, printable } from '../render/output.ts';
import { durationText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface ExtendOptions extends ServerOptions {
  readonly by?: number;
  readonly datacenter?: string;
  readonly requestId?: string;
}

const HELP = `
Examples:
  $ escapement extend import-2026-03-01 --by 5m
  $ escapement extend import-2026-03-01 --by 1h --datacenter A

Exits 1 when no datacenter has added the time, for one because the job has ended.
${SERVER_EXITS}`;

export function extendCommand({ output, env, setExitCode }: Surroundings): Command {
  return withServerOptions(
    new Command('extend')
      .argument('<job>', 'id of the job', parseId)
      .option('--by <duration>', 'how much more; required', parsePositiveDurationMs)
      .option('--datacenter <name>', 'only there', parseId)
      .option('--request-id <id>', 'adds the time once, however often it is asked for', parseId),
  )
    .addHelpText('after', HELP)
    .action(async (jobId: string, options: ExtendOptions, command: Command) => {
      const { by: byMs, datacenter, json = false } = options;
      if (byMs === undefined) command.error("error: option '--by <duration>' is missing");
      const { newId } = await import('../new-id.ts');
      const requestId = options.requestId ?? newId();
      const connection = connectionOf(options, env, output);
      const path = `/v1/jobs/${segment(jobId)}/extend`;
      const body = { byMs, requestId, ...(datacenter !== undefined && { datacenter }) };
      const answer = await patiently(() => connection.ask('POST', path, { body }));
      const extended = answer.body as ExtendAnswer;
      if (json) output.line(JSON.stringify(extended, null, 2));
      else print(jobId, byMs, extended, output);
      if (!extended.accepted) setExitCode(EXIT.broken);
    });
}

function print(jobId: string, byMs: number, answer: ExtendAnswer, output: Output): void {
  const { accepted, reason, extensionsMs, datacenters = [] } = answer;
  if (accepted)
    output.line(
      `job ${jobId} has ${durationText(byMs)} more; added in all: ${durationText(extensionsMs)}`,
    );
  else output.line(`job ${jobId} has no more time: ${printable(reason ?? 'refused')}`);
  for (const one of datacenters) {
    const why = one.accepted
      ? `added in all: ${durationText(one.extensionsMs)}`
      : `not added: ${printable(one.reason ?? 'refused')}`;
    output.line(`  ${printable(one.datacenter)}  ${why}`);
  }
}
