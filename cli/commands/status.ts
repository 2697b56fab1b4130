/**
 * `status`: whether a node takes work and keeps its deadlines, how much waits to begin there, and until
 * when its certificate is good.
 */

import { Command } from 'commander';
import { Refusal } from '../api/failures.ts';
import {
  connectionOf,
  SERVER_EXITS,
  type ServerOptions,
  withServerOptions,
} from '../api/server-options.ts';
import { EXIT } from '../exit.ts';
import { counted, type Output, printable } from '../render/output.ts';
import { durationText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

/** Answer of `/readyz`; a node of an earlier release says less. */
interface Readiness {
  readonly status: string;
  readonly hosting?: boolean;
  readonly reason?: string;
  readonly latenessMs?: number;
  readonly backlog?: {
    readonly workflows: number;
    readonly clients: number;
    /** null: nobody knows, because nothing was done yet. */
    readonly waitMs: number | null;
    readonly isShedding: boolean;
  };
  readonly certificate?: { readonly expiresAt: string; readonly daysLeft: number };
}

const HELP = `
Examples:
  $ escapement status
  $ escapement status --json

With --json it is what /readyz says; nobody needs a token for it. A node that hosts its place tells by how much
deadlines are late, where that is a tenth of a second or more. A manager that leads tells its backlog: how many
workflows wait to begin, about how long they will, and whether jobs are refused because of it.

${SERVER_EXITS}`;

export function statusCommand({ output, env, setExitCode }: Surroundings): Command {
  return withServerOptions(new Command('status'))
    .addHelpText('after', HELP)
    .action(async (options: ServerOptions) => {
      const said = await connectionOf(options, env, output)
        .get<Readiness>('/readyz')
        .catch(readinessIn);
      if (options.json === true) output.line(JSON.stringify(said, null, 2));
      else print(said, output);
      if (said.status !== 'ready') setExitCode(EXIT.unavailable);
    });
}

/** Less is what a turn and a commit take. */
const LATENESS_SHOWN_MS = 100;

/** A node that takes no work says so with a 503. @throws what it was, where it was something else */
function readinessIn(thrown: unknown): Readiness {
  const { status, body } = thrown instanceof Refusal ? thrown : { status: 0, body: undefined };
  const said = body as Readiness | undefined;
  if (status === 503 && said?.status === 'notReady') return said;
  throw thrown;
}

function print(readiness: Readiness, output: Output): void {
  const { status, hosting, reason, latenessMs = 0, backlog, certificate } = readiness;
  const role = hosting === undefined ? '' : hosting ? ', leads' : ', stands by';
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  const isReady = status === 'ready';
  output.line(`${output.paint(isReady ? 'green' : 'yellow', printable(status))}${role}${why}`);
  if (latenessMs >= LATENESS_SHOWN_MS)
    output.line(
      output.paint('yellow', printable(`deadlines are up to ${durationText(latenessMs)} late`)),
    );
  if (backlog !== undefined) {
    const { workflows, clients, waitMs, isShedding } = backlog;
    const wait = waitMs === null || workflows === 0 ? '' : `, for about ${durationText(waitMs)}`;
    const waiting = `${counted(workflows, 'workflow')} of ${counted(clients, 'client')} to begin`;
    output.line(printable(`${waiting}${wait}`));
    if (isShedding) output.line(output.paint('yellow', 'jobs are refused, because too much waits'));
  }
  if (certificate === undefined) return;
  const { expiresAt, daysLeft } = certificate;
  const days = counted(daysLeft, 'day');
  output.line(printable(`its certificate expires in ${days}, at ${expiresAt}`));
}
