/**
 * `diagram MODULE`: draws the machines of a module as SVG, Mermaid or DOT, into files of the working directory.
 *
 * A file is written over only when it is a diagram that this command has drawn.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { AnyStateMachine } from 'xstate';
import { bundledElk, definitionOf, dotOf, mermaidOf, svgOf } from '../../inspector/drawing.ts';
import type { ChartDefinition } from '../../inspector/protocol.ts';
import { collect } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { loadMachines } from '../loaders/upgrade-module.ts';
import { type Output, printable } from '../render/output.ts';

interface DiagramOptions {
  readonly svg?: boolean;
  readonly mermaid?: boolean;
  readonly dot?: boolean;
  readonly kind?: readonly string[];
  readonly out: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const FORMATS = {
  svg: { ending: 'svg', note: (text: string) => `<!-- ${text} -->\n` },
  mermaid: { ending: 'mmd', note: (text: string) => `%% ${text}\n` },
  dot: { ending: 'dot', note: (text: string) => `// ${text}\n` },
} as const;
type Format = keyof typeof FORMATS;

const NOTE = 'Drawn by "escapement diagram".';

const HELP = `
MODULE is a file that exports machines, or "kinds" as for "start node --kinds". One file is written for
each machine, called as its kind; "--out -" prints instead.

Examples:
  $ escapement diagram ./machines.js
  $ escapement diagram ./machines.js --kind order --mermaid --out -
  $ escapement diagram ./machines.js --svg --dot --out docs

Exit codes: 0 drawn, 64 usage, 65 bad module, 73 a file is there that is no diagram of ours, 74 I/O.`;

export function diagramCommand(output: Output): Command {
  return new Command('diagram')
    .argument('<module>', 'module that exports the machines')
    .option('--svg', 'draw SVG, the default')
    .option('--mermaid', 'write Mermaid (stateDiagram-v2)')
    .option('--dot', 'write DOT, for Graphviz')
    .option('--kind <kind>', 'only this kind; may be given several times', collect)
    .option('--out <dir>', 'folder to write to, or "-" for standard output', '.')
    .option('--force', 'write over files that are no diagrams of ours')
    .option('--json', 'print the definitions as JSON and draw nothing')
    .addHelpText('after', HELP)
    .action(async (path: string, options: DiagramOptions) => {
      const { machines, others } = await loadMachines(path);
      const definitions = wanted(machines, options.kind).map(
        ([kind, machine]) => [kind, definitionOf(machine)] as const,
      );
      if (options.json === true) {
        output.line(JSON.stringify(Object.fromEntries(definitions), null, 2));
        return;
      }
      if (others.length > 0)
        output.complain(`left alone, as they are no machines: ${printable(others.join(', '))}\n`);
      const written = new Map<string, string>();
      for (const [kind, definition] of definitions)
        for (const format of formatsOf(options)) {
          output.progress(`drawing ${printable(kind)}`);
          const { ending, note } = FORMATS[format];
          const text = `${note(NOTE)}${await drawn(definition, format)}`;
          written.set(join(options.out, `${fileName(kind)}.${ending}`), text);
        }
      output.progress(undefined);
      if (options.out === '-') for (const text of written.values()) output.write(text);
      else writeFiles(written, options.force === true, output);
    });
}

function formatsOf(options: DiagramOptions): readonly Format[] {
  const asked = (Object.keys(FORMATS) as Format[]).filter((format) => options[format] === true);
  return asked.length > 0 ? asked : ['svg'];
}

async function drawn(definition: ChartDefinition, format: Format): Promise<string> {
  if (format === 'mermaid') return mermaidOf(definition);
  if (format === 'dot') return dotOf(definition);
  return svgOf(definition, await bundledElk());
}

function wanted(
  machines: ReadonlyMap<string, AnyStateMachine>,
  kinds: readonly string[] = [],
): ReadonlyArray<readonly [string, AnyStateMachine]> {
  const unknown = kinds.find((kind) => !machines.has(kind));
  if (unknown !== undefined) {
    const known = [...machines.keys()].join(', ');
    throw new CommandFailure(EXIT.usage, `--kind ${unknown}: the module has ${known}.`);
  }
  return [...machines].filter(([kind]) => kinds.length === 0 || kinds.includes(kind));
}

/** A kind may be called like a path. */
const fileName = (kind: string): string =>
  kind.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'machine';

/** All or none: the files are looked at before the first is written. */
function writeFiles(files: ReadonlyMap<string, string>, isForced: boolean, output: Output): void {
  const foreign = [...files.keys()].find((file) => !isForced && isForeign(file));
  if (foreign !== undefined)
    throw new CommandFailure(
      EXIT.locked,
      `${foreign} is there and was not drawn by this command. Give another folder with --out, or --force.`,
    );
  for (const [file, text] of files) {
    writeFileSync(file, text);
    output.line(printable(file));
  }
}

function isForeign(file: string): boolean {
  try {
    return !readFileSync(file, 'utf8').slice(0, 100).includes(NOTE);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw thrown;
  }
}
