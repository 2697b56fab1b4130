/** `test generate MODULE --out DIR`: writes test files that a team keeps. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { journalFiles } from '../../testing/journal/journal-files.ts';
import { generatedFiles } from '../../testing/model/generate.ts';
import { Suite } from '../../testing/model/suite.ts';
import type { TestOptions } from '../commands/test.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { loadMachine } from '../loaders/machine-module.ts';
import { importModule } from '../loaders/module-file.ts';
import { counted, type Output, printable } from '../render/output.ts';
import { readJournal } from './journal.ts';

export async function generate(
  path: string,
  options: TestOptions,
  output: Output,
  command: Command,
): Promise<ExitCode> {
  const { out: folder } = options;
  if (folder === undefined) command.error('error: say where the files go: --out <dir>');
  const module = await loadMachine(path, options.machine, undefined);
  const suite = new Suite(module.machine, {
    samples: module.samples,
    seed: options.seed,
    // Walks would be other ones after each change of the machine: they are for live runs.
    phases: ['transitions', 'ignored events', 'ties', 'holds'],
    caseStepsMax: 12,
  });
  const cases = [...suite.cases(options.steps)];
  const exported = await importModule(resolve(path));
  const importPath = relative(resolve(folder), resolve(path)).replaceAll('\\', '/');
  const names = {
    name: module.name,
    importPath: importPath.startsWith('.') ? importPath : `./${importPath}`,
    isDefault: exported.default === module.machine,
  };
  const { machine } = module;
  const kinds = options.kind === undefined ? [module.name, machine.id] : [options.kind];
  const journals = await Promise.all(
    options.journal.map((journal) => readJournal(journal, kinds, output)),
  );
  const actors = journals.flatMap((journal) => journal.actors);
  const files = [
    ...generatedFiles(cases, { machine, samples: suite.samples, ...names }),
    ...(journals.length > 0 ? journalFiles(actors, names) : []),
  ];
  mkdirSync(folder, { recursive: true });
  const written: Array<{ readonly file: string; readonly what: string }> = [];
  for (const { name, text, isKept } of files) {
    const file = join(folder, name);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    const what =
      before === text
        ? 'unchanged'
        : before !== undefined && isKept
          ? 'kept'
          : before === undefined
            ? 'new'
            : 'written again';
    if (what === 'new' || what === 'written again') writeFileSync(file, text);
    written.push({ file, what });
  }
  if (options.json === true)
    output.line(JSON.stringify({ cases: cases.length, files: written }, null, 2));
  else {
    for (const { file, what } of written) output.line(`${printable(file)}  ${what}`);
    output.line(
      `${counted(cases.length, 'test')}; run them with: npx vitest run ${printable(folder)}`,
    );
  }
  return EXIT.done;
}
