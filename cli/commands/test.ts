/**
 * `test MODULE`: tests made from a machine, played on the engine or on a driver of the team's own.
 *
 * Exit 0 when nothing failed, 1 when a test failed, 2 when a share is below `--min`, 64 for wrong usage, 65
 * for a module that has no such machine. What plays them is loaded when it is needed.
 */

import { Command } from 'commander';
import { collect, parseCount, parsePositiveDurationMs } from '../arguments.ts';
import type { ExitCode } from '../exit.ts';
import type { Output } from '../render/output.ts';

export interface TestOptions {
  readonly machine?: string;
  readonly driver?: string;
  readonly steps: number;
  readonly seed: number;
  readonly coverage?: string | true;
  readonly picture?: string | true;
  readonly mutants?: boolean;
  readonly suite?: string;
  readonly sample?: number;
  readonly workers: number;
  readonly limit?: number;
  readonly min?: number;
  readonly journal: readonly string[];
  readonly kind?: string;
  readonly inspect?: boolean;
  readonly restarts: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

const HELP = `
A module exports a machine, and may export what helps to test it: samples ({ inputs, events, outputs }),
invariants (functions of a snapshot, by name) and driver. See docs/model-tests.md.

Examples:
  $ escapement test order.js
  $ escapement test order.js --coverage --min 100
  $ escapement test order.js --coverage states,transitions --json
  $ escapement test order.js --picture docs
  $ escapement test order.js --mutants
  $ escapement test order.js --suite "npx vitest run" --sample 40 --min 90
  $ escapement test order.js --journal ./data
  $ escapement test order.js --journal run.jsonl --kind order
  $ escapement test order.js --driver shop-driver.js --steps 500
  $ escapement test generate order.js --out test/order
  $ escapement test generate order.js --out test/order --journal ./data
  $ escapement test replay escapement-failures/order-1.json --inspect

Exit codes: 0 nothing failed, 1 a test failed, 2 a share is below --min, 64 usage, 65 bad module or file.`;

export function testCommand(output: Output, setExitCode: (code: ExitCode) => void): Command {
  return new Command('test')
    .argument('<what...>', 'a module; or "generate" and a module; or "replay" and a failure file')
    .option('--machine <name>', 'which of several machines of the module')
    .option('--driver <file>', 'module whose "driver" the tests are played on; default: the engine')
    .option('--steps <n>', 'steps of all tests together', parseCount, 3_000)
    .option('--seed <n>', 'seed of random walks', parseCount, 1)
    .option(
      '--coverage [measures]',
      'print what was covered: states,transitions,pairs,guards,timers',
    )
    .option('--picture [dir]', 'write the chart with how often each transition was taken, as SVG')
    .option('--mutants', 'print which changed machines the tests find, and tests for the others')
    .option('--suite <command>', 'run your own tests against the mutants: "npx vitest run"')
    .option('--sample <n>', 'try this number of mutants, evenly from all', parseCount)
    .option('--workers <n>', 'runs of --suite at the same time', parseCount, 1)
    .option(
      '--limit <duration>',
      'longest run of --suite against one mutant, which is killed by a longer one; default: five times the first run and 20 s',
      parsePositiveDurationMs,
    )
    .option(
      '--min <percent>',
      'least share of what was asked for; below it the exit code is 2',
      parseCount,
    )
    .option(
      '--journal <path>',
      'hold the machine against a data directory or a recording, and say what was seen there and never tested; may be given again',
      collect,
      [],
    )
    .option('--kind <kind>', 'kind of the actors in a journal; default: the name of the machine')
    .option('--no-restarts', 'do not play everything again with a restart before each step')
    .option(
      '--inspect',
      'of a replay: write the way to the failing step as a page of the inspector',
    )
    .option('--out <dir>', 'where files go: generated tests, failures')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (what: readonly string[], options: TestOptions, command: Command) => {
      const { action, path } = asked(what, command);
      if (action === 'replay') {
        const { replay } = await import('../machine-tests/replay.ts');
        setExitCode(await replay(path, options, output));
      } else if (action === 'generate') {
        const { generate } = await import('../machine-tests/generate.ts');
        setExitCode(await generate(path, options, output, command));
      } else {
        const { runTests } = await import('../machine-tests/run.ts');
        setExitCode(await runTests(path, options, output, command));
      }
    });
}

/** Both `generate MODULE` and `MODULE generate` are understood. */
function asked(
  what: readonly string[],
  command: Command,
): { readonly action: 'test' | 'generate' | 'replay'; readonly path: string } {
  const action = what.find((word) => word === 'generate' || word === 'replay');
  const paths = what.filter((word) => word !== action);
  const [path] = paths;
  if (path === undefined) command.error(`error: name a file to ${action ?? 'test'}`);
  if (paths.length > 1) command.error('error: name one file');
  return { action: (action as 'generate' | 'replay' | undefined) ?? 'test', path };
}
