/**
 * `lint MODULE`: what is wrong with a machine before any test is run, above all with its time.
 *
 * Exit 0 when there is nothing but notes, 1 for errors and warnings (with `--strict` for notes too), 64 for
 * wrong usage, 65 for a module that has no such machine.
 */

import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit.ts';
import { counted, type Output, printable } from '../render/output.ts';

interface LintOptions {
  readonly machine?: string;
  readonly strict?: boolean;
  readonly json?: boolean;
}

const HELP = `
Examples:
  $ escapement lint order.js
  $ escapement lint machines.js --machine order --json

Exit codes: 0 notes at most, 1 errors or warnings, 64 usage, 65 bad module.`;

const COLOURS = { error: 'red', warning: 'yellow', note: 'dim' } as const;

export function lintCommand(output: Output, setExitCode: (code: ExitCode) => void): Command {
  return new Command('lint')
    .argument('<module>', 'module that exports the machine')
    .option('--machine <name>', 'which of several machines of the module')
    .option('--strict', 'notes make it fail too')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (path: string, { machine: wanted, strict = false, json }: LintOptions) => {
      const { loadMachine } = await import('../loaders/machine-module.ts');
      const { lint } = await import('../../testing/lint/lint.ts');
      const { name, machine, samples } = await loadMachine(path, wanted, undefined);
      const issues = lint(machine, samples);
      const counts = { error: 0, warning: 0, note: 0 };
      for (const { level } of issues) counts[level] += 1;
      const isBad = counts.error + counts.warning + (strict ? counts.note : 0) > 0;
      if (isBad) setExitCode(EXIT.broken);
      if (json === true) {
        output.line(JSON.stringify({ machine: name, ...counts, issues }, null, 2));
        return;
      }
      for (const { level, rule, where, message } of issues) {
        output.line(`${output.paint(COLOURS[level], level)} ${rule}  ${printable(where)}`);
        output.line(`  ${printable(message)}`);
      }
      const found = `${counted(counts.error, 'error')}, ${counted(counts.warning, 'warning')}, ${counted(counts.note, 'note')}`;
      output.line(`${printable(name)}: ${found}`);
    });
}
