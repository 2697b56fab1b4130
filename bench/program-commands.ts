/**
 * The other side of NodeProgram.ask: commands on standard input, one JSON text on each line, and
 * one answer for each on standard output, in the same order.
 *
 * The program ends when its standard input does, so it does not outlive its starter. A
 * command that fails ends the program, and the caller hears why.
 */

import { createInterface } from 'node:readline';

type Commands = Readonly<Record<string, (argument: never) => unknown>>;

export function serve(commands: Commands): void {
  let last: Promise<void> = Promise.resolve();
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { command, argument } = JSON.parse(line) as { command: string; argument: never };
    // Rejections end the process: nobody handles them.
    last = last.then(async () => say(await commands[command]?.(argument)));
  });
  lines.once('close', () => process.exit());
}

/** Standard output is a pipe, so it is written before this returns. */
export function say(what: unknown): void {
  process.stdout.write(`${JSON.stringify(what ?? null)}\n`);
}
