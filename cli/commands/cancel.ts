/** `cancel`: ends a job early. Doing it twice does no harm. */

import { Command } from 'commander';
import type { CancelAnswer } from '../../machines/jobs/messages/client.ts';
import { segment } from '../api/connection.ts';
import { patiently } from '../api/patience.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { parseId } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

const HELP = `
Examples:
  $ escapement cancel import-2026-03-01

A job that has ended otherwise is not cancelled any more: exit 1.
${SERVER_EXITS}`;

export function cancelCommand({ output, env, setExitCode }: Surroundings): Command {
  return withServerOptions(new Command('cancel').argument('<job>', 'id of the job', parseId))
    .addHelpText('after', HELP)
    .action(async (jobId: string, options: ServerOptions) => {
      const connection = connectionOf(options, env, output);
      const path = `/v1/jobs/${segment(jobId)}/cancel`;
      const { body } = await patiently(() => connection.ask('POST', path, { body: {} }));
      const answer = body as CancelAnswer;
      if (options.json === true) output.line(JSON.stringify(answer, null, 2));
      else output.line(`job ${jobId} ${words(answer)}`);
      if (!isCancelled(answer)) setExitCode(EXIT.broken);
    });
}

function isCancelled({ accepted, reason }: CancelAnswer): boolean {
  return accepted || reason === 'alreadyCancelled';
}

function words({ accepted, reason }: CancelAnswer): string {
  if (reason === 'alreadyCancelled') return 'was cancelled already';
  if (accepted) return 'is cancelled';
  return reason === 'alreadyFinal'
    ? 'has ended already'
    : `is not cancelled: ${printable(reason ?? '')}`;
}
