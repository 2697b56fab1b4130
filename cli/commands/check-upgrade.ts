/**
 * `check-upgrade OLD NEW --data DIR`: rehearses changed machines against stored records.
 *
 * Exit 0 when nothing worse than a note was found, 1 when something would break. The data
 * is read and never written, also while a node has it open.
 */

import { Command } from 'commander';
import type { Rehearsal, RehearsalOptions, RehearsedKinds } from '../../runtime/rehearsal.ts';
import { collect, parseCount } from '../arguments.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { loadRelease } from '../loaders/upgrade-module.ts';
import { counted, type Output } from '../render/output.ts';
import { printReport } from '../render/upgrade-report.ts';

interface CheckOptions {
  readonly data?: string;
  readonly kind?: readonly string[];
  readonly limit: number;
  readonly strict?: boolean;
  readonly json?: boolean;
}

const WITHOUT_OLD = [
  'what the machines have gained and lost',
  'whether a delay has changed, or a record was broken before',
  'whether a deadline that is not stored was missing before',
];
const PROGRESS_EVERY = 1_000;

const HELP = `
OLD and NEW are module files that export "kinds": a machine, or { machine, version, migrate, … },
by kind. OLD may be "-" when the old code is not at hand.

Examples:
  $ escapement check-upgrade old/kinds.mjs new/kinds.mjs --data ./data
  $ escapement check-upgrade - new/kinds.mjs --data ./data --kind order --json

Exit codes: 0 nothing would break, 1 something would, 64 usage, 65 bad data or module,
69 store not available on this platform, 73 locked, 74 I/O, 77 no permission.`;

export function checkUpgradeCommand(
  output: Output,
  setExitCode: (code: ExitCode) => void,
): Command {
  return new Command('check-upgrade')
    .argument('<old>', 'module of the release that wrote the data, or "-"')
    .argument('<new>', 'module of the release to come')
    .option('--data <dir>', 'the data directory; required')
    .option('--kind <kind>', 'only this kind; may be given several times', collect)
    .option('--limit <n>', 'example addresses per finding', parseCount, 5)
    .option('--strict', 'a changed delay makes it fail too')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (oldPath: string, newPath: string, options: CheckOptions, command: Command) => {
      const { data, kind = [] } = options;
      // Required here and not by commander, which would not get to see a misspelt `--dta` then.
      if (data === undefined) command.error("error: option '--data <dir>' is missing");
      const old = oldPath === '-' ? undefined : await loadRelease('OLD', oldPath);
      const next = await loadRelease('NEW', newPath);
      checkKinds(kind, old, next);
      const { lmdbStore } = await import('../../stores/lmdb.ts');
      const { rehearse } = await import('../../runtime/rehearsal.ts');
      const store = lmdbStore(data, { isReadOnly: true });
      await store.open();
      try {
        const rehearsal = rehearse({ store, old, next, ...settings(options, output) });
        if (!print(rehearsal, old === undefined, options, output)) setExitCode(EXIT.broken);
      } finally {
        await store.close();
      }
    });
}

function settings(
  { kind = [], limit, strict = false }: CheckOptions,
  output: Output,
): Pick<RehearsalOptions, 'only' | 'examplesMax' | 'isStrict' | 'onRecord'> {
  return {
    only: kind,
    examplesMax: limit,
    isStrict: strict,
    onRecord: (records) => {
      if (records % PROGRESS_EVERY === 0)
        output.progress(`${counted(records, 'record')} rehearsed`);
    },
  };
}

/** True when nothing would break. */
function print(
  rehearsal: Rehearsal,
  isWithoutOld: boolean,
  { json = false }: CheckOptions,
  output: Output,
): boolean {
  output.progress(undefined);
  const leftOut = isWithoutOld ? WITHOUT_OLD : [];
  if (json) {
    // Absent and unknown are two things to the reader.
    const { differences = null } = rehearsal;
    output.line(JSON.stringify({ ...rehearsal, differences, leftOut }, null, 2));
  } else printReport(rehearsal, leftOut, output);
  return rehearsal.holds;
}

/** A kind that neither release has is misspelt. */
function checkKinds(
  kinds: readonly string[],
  old: RehearsedKinds | undefined,
  next: RehearsedKinds,
): void {
  const known = [...new Set([...(old?.keys() ?? []), ...next.keys()])];
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown === undefined) return;
  const what = `--kind ${unknown}: neither release has it. They have: ${known.join(', ')}.`;
  throw new CommandFailure(EXIT.usage, what);
}
