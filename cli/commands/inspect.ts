/**
 * `inspect`: opens a data directory, a recording or a plan in the browser, or writes it as one file that needs no
 * server.
 */

import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { parseCount } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { openRested } from '../loaders/rested.ts';
import type { Host } from '../node/host.ts';
import { counted, printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface InspectOptions {
  readonly html?: string;
  readonly as?: string;
  readonly output?: string;
  readonly port?: number;
}

const HELP = `
Examples:
  $ escapement inspect ./data
  $ escapement inspect run.jsonl --html run.html
  $ escapement inspect run.jsonl --as perfetto -o run.trace.json
  $ escapement inspect plan.json
  $ escapement inspect http://127.0.0.1:7400

A data directory is only read, also beside the node that has it open. A plan is played first. Of a node it
says where its own page is. It serves on this machine alone until it is ended.
Exit codes: 0 done, 64 usage, 65 there is nothing to be read, 69 the page is not built.`;

export function inspectCommand({ output, openStoredData, host }: Surroundings): Command {
  return new Command('inspect')
    .argument('<path|url>', 'data directory, recording (.jsonl), plan (.json), or a node')
    .option('--html <file>', 'write one file that opens without a server, and serve nothing')
    .option('--as <format>', 'convert a recording: jsonl, perfetto or otlp; with -o')
    .option('-o, --output <file>', 'file for --as')
    .option('--port <n>', 'port to listen on (7878, or the next free one)', parseCount)
    .addHelpText('after', HELP)
    .action(
      async (path: string, { html, as, output: file, port }: InspectOptions, command: Command) => {
        if (/^https?:\/\//.test(path)) {
          output.line(new URL('/inspector/', path).href);
          return;
        }
        if ((as === undefined) !== (file === undefined))
          command.error('error: --as needs -o, and -o needs --as');
        const { sort, lines } = await openRested(path, openStoredData, output);
        if (html !== undefined || (as !== undefined && file !== undefined)) {
          if (html !== undefined) {
            const { singleFile } = await import('../../inspector/single-file.ts');
            writeFileSync(html, singleFile(lines));
            output.line(`${counted(lines.length, 'line')} in ${printable(html)}`);
          }
          if (as !== undefined && file !== undefined) {
            const { fileOf } = await import('../../inspector/recording/formats.ts');
            writeFileSync(file, fileOf(lines, as).text);
            output.line(`${counted(lines.length, 'line')} in ${printable(file)}`);
          }
          return;
        }
        if (host === undefined)
          throw new CommandFailure(EXIT.unavailable, 'Nothing can listen here; use --html.');
        const { serveLines } = await import('../../inspector/resting-inspector.ts');
        const listener = await serveLines(lines, sort, port === undefined ? {} : { port });
        output.line(listener.url);
        await ended(host);
        await listener.close();
      },
    );
}

function ended(host: Host): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(signal, () => resolve());
  });
}
