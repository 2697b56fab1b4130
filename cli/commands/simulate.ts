/**
 * `simulate`: plays scenario files, or clusters under faults from seeds, on simulated time.
 *
 * Exit 0 when what was expected came and every invariant held, 1 when not, 64 for options that make
 * no sense, 65 for a file that is no scenario. What plays them is loaded when it is needed.
 */

import { Command } from 'commander';
import { collect, parseCount } from '../arguments.ts';
import type { ExitCode } from '../exit.ts';
import type { Output } from '../render/output.ts';

export interface SimulateOptions {
  readonly json?: boolean;
  readonly seeds?: number;
  readonly seed?: number;
  readonly from: number;
  readonly until?: string;
  readonly nemesis?: readonly string[];
  readonly processes?: number;
  readonly strict?: boolean;
  readonly tiny?: boolean;
  readonly coverage?: boolean;
  readonly replay?: string;
  readonly trace?: boolean;
  readonly force?: boolean;
  readonly out?: string;
  readonly report: boolean;
}

const PLAYED = ['files', '--seeds', '--seed', '--replay'] as const;
type Played = (typeof PLAYED)[number];

const FITTING_SEED = [
  '--until',
  '--nemesis',
  '--tiny',
  '--no-tiny',
  '--processes',
  '--out',
  '--no-report',
  '--strict',
  '--coverage',
];

/** Options that may be given besides. */
const FITTING: Readonly<Record<Played, readonly string[]>> = {
  files: [],
  '--seeds': ['--from', ...FITTING_SEED],
  '--seed': ['--trace', ...FITTING_SEED],
  '--replay': ['--trace', '--force'],
};

const HELP = `
A file describes a cluster, what happens to it, and what must come of it; see docs/scenarios.md.
A directory stands for the .yaml, .yml and .json files in it.

Without files, each seed makes a cluster, its jobs and what goes wrong, all by chance and the same
every time; invariants watch the run. See docs/simulator.md.

Examples:
  $ escapement simulate scenario.yaml
  $ escapement simulate a.yaml b.yaml scenarios/ --json
  $ escapement simulate --seeds 1000
  $ escapement simulate --seeds 200 --from 5001 --until 30m --nemesis crashNodes --nemesis swizzleClog
  $ escapement simulate --seeds 100 --nemesis none
  $ escapement simulate --seed 4711 --trace
  $ escapement simulate --replay escapement-failures/4711-TO-1/plan.json

A seed that broke something is shrunk to a plan that people can read; it, a report and a page that shows it
are written to a folder.

Exit codes: 0 what was expected came and every invariant held, 1 something else came, 64 usage,
65 a file is no scenario or no plan.`;

export function simulateCommand(output: Output, setExitCode: (code: ExitCode) => void): Command {
  return new Command('simulate')
    .argument('[file...]', 'scenario files, or directories of them')
    .option('--seeds <n>', 'play N seeds, on all cores', parseCount)
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
    .option('--tiny', 'with tiny limits of the product in every run, and not in one of four')
    .option('--no-tiny', 'with the limits of production in every run')
    .option(
      '--processes <n>',
      'how many run at the same time; default: one for each core',
      parseCount,
    )
    .option('--replay <file>', 'play a saved plan')
    .option('--force', 'with --replay: play a plan of another version or release too')
    .option('--trace', 'with --seed or --replay: print every record of the run')
    .option('--out <dir>', 'where reports of failures go', 'escapement-failures')
    .option('--no-report', 'do not shrink failures and write no reports')
    .option('--coverage', 'print in which share of the runs each invariant had something to say')
    .option('--strict', 'fail also when an invariant was never exercised or a mark never reached')
    .option('--json', 'print the result as JSON; for several files a list of results')
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], options: SimulateOptions, command: Command) => {
      const { seed, seeds, replay, trace } = options;
      const asked: Readonly<Record<Played, boolean>> = {
        files: paths.length > 0,
        '--seeds': seeds !== undefined,
        '--seed': seed !== undefined,
        '--replay': replay !== undefined,
      };
      const [played, ...others] = PLAYED.filter((one) => asked[one]);
      if (played === undefined || others.length > 0)
        command.error(
          'error: name scenario files, or say one of --seeds <n>, --seed <n>, --replay <file>',
        );
      if (trace === true && seed === undefined && replay === undefined)
        command.error('error: --trace is for one run, of --seed <n> or --replay <file>');
      const unfit = unfitFor(played, command);
      if (unfit !== undefined) command.error(`error: ${unfit} means nothing with ${played}`);
      setExitCode(await simulate(paths, options, output));
    });
}

/** The first flag that was given and would do nothing. */
function unfitFor(played: Played, command: Command): string | undefined {
  const fits = new Set([played, '--json', ...FITTING[played]]);
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  return given.find(({ long }) => !fits.has(long ?? ''))?.long;
}

async function simulate(
  paths: readonly string[],
  options: SimulateOptions,
  output: Output,
): Promise<ExitCode> {
  if (paths.length > 0) {
    const { simulateFiles } = await import('../simulate/files.ts');
    return simulateFiles(paths, options, output);
  }
  if (options.replay !== undefined) {
    const { replayPlan } = await import('../simulate/replay.ts');
    return replayPlan(options.replay, options, output);
  }
  const { simulateSeeds } = await import('../simulate/seeds.ts');
  return simulateSeeds(options, output);
}
