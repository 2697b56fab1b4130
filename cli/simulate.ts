/**
 * `simulate`: plays scenario files, or clusters under faults from seeds, on simulated time.
 *
 * Exit 0 when what was expected came and every invariant held, 1 when not, 64 for options that make
 * no sense, 65 for a file that is no scenario. What plays them is loaded when it is needed.
 */

import { Command } from 'commander';
import { collect, parseCount } from './arguments.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { Output } from './output.ts';

export interface SimulateOptions {
  readonly json?: boolean;
  readonly seeds?: number;
  readonly seed?: number;
  readonly from: number;
  readonly until?: string;
  readonly nemesis?: readonly string[];
  readonly processes?: number;
  readonly strict?: boolean;
}

const HELP = `
A file describes a cluster, what happens to it, and what must come of it; see docs/scenarios.md.
A directory stands for the .yaml, .yml and .json files in it.

Without files, each seed makes a cluster, its jobs and what goes wrong, all by chance and the same
every time; invariants watch the run. See docs/simulator.md.

Examples:
  $ escapement simulate scenario.yaml
  $ escapement simulate a.yaml b.yaml scenarios/ --json
  $ escapement simulate --seeds 1000
  $ escapement simulate --seeds 200 --from 5001 --until 30m --nemesis crash --nemesis clog
  $ escapement simulate --seeds 100 --nemesis none
  $ escapement simulate --seed 4711

Exit codes: 0 what was expected came and every invariant held, 1 something else came, 64 usage,
65 a file is no scenario.`;

export function simulateCommand(output: Output, setExitCode: (code: ExitCode) => void): Command {
  return new Command('simulate')
    .description('Play scenarios, or clusters under faults from seeds, on simulated time.')
    .argument('[file...]', 'scenario files, or directories of them')
    .option('--seeds <n>', 'play so many seeds, on all cores', parseCount)
    .option('--from <n>', 'the first of them', parseCount, 1)
    .option('--seed <n>', 'play this seed alone', parseCount)
    .option(
      '--until <duration>',
      'end each run then: 90s, 30m, 2h; default: when all jobs are final',
    )
    .option(
      '--nemesis <kind>',
      'only faults of this kind, or none; may be given several times',
      collect,
    )
    .option(
      '--processes <n>',
      'how many run at the same time; default: one for each core',
      parseCount,
    )
    .option('--strict', 'fail also when an invariant was never exercised or a mark never reached')
    .option('--json', 'print the result as JSON; for several files a list of results')
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], options: SimulateOptions, command: Command) => {
      const isForSeeds = options.seeds !== undefined || options.seed !== undefined;
      if (isForSeeds === paths.length > 0)
        command.error('error: name scenario files, or say --seeds <n> or --seed <n>');
      if (!isForSeeds) {
        const { simulateFiles } = await import('./simulate-files.ts');
        setExitCode(await simulateFiles(paths, options, output));
        return;
      }
      const { simulateSeeds } = await import('./simulate-seeds.ts');
      setExitCode((await simulateSeeds(options, output)) ? EXIT.done : EXIT.broken);
    });
}
