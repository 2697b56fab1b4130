/** A run of `test`: the cases of a machine, played, counted and scored. */

import type { Command } from 'commander';
import { type Coverage, coverageOf } from '../../testing/model/coverage.ts';
import { engineDriver } from '../../testing/model/engine-driver.ts';
import { type LiveFailure, oracleOf, playLive } from '../../testing/model/live.ts';
import { MEASURES, type Measure } from '../../testing/model/noting.ts';
import type { Oracle } from '../../testing/model/observation.ts';
import { type PhasedCase, Suite } from '../../testing/model/suite.ts';
import type { Mutant } from '../../testing/mutants/mutant.ts';
import { type MutationScore, scoreOf } from '../../testing/mutants/mutation-score.ts';
import type { TestOptions } from '../commands/test.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { loadMachine, type MachineModule } from '../loaders/machine-module.ts';
import { counted, grouped, type Output, printable } from '../render/output.ts';
import { writeFailures } from './failure-file.ts';
import { type JudgedJournal, judgeJournals, printJournal } from './judged-journal.ts';
import { percent, printCoverage, printFailure, printScore } from './report.ts';
import { TeamSuite } from './team-suite.ts';

const FOLDER = 'escapement-failures';

interface Result {
  readonly machine: string;
  readonly situations: number;
  readonly grew: string | undefined;
  readonly merged: number;
  readonly learned: readonly string[];
  readonly cases: number;
  readonly steps: number;
  readonly failures: readonly LiveFailure[];
  readonly files: readonly string[];
  readonly coverage: Coverage | undefined;
  /** Path of the chart with counts. */
  readonly picture: string | undefined;
  readonly score: Scored | undefined;
  readonly journals: readonly JudgedJournal[];
}

interface Scored extends MutationScore {
  /** Left out where the tests that were made are scored. */
  readonly suite?: {
    readonly command: string;
    readonly files: readonly string[];
    /** Mutants that are killed because their runs took too long. */
    readonly late: readonly string[];
  };
}

export async function runTests(
  path: string,
  options: TestOptions,
  output: Output,
  command: Command,
): Promise<ExitCode> {
  const measures = measuresIn(options, command);
  const module = await loadMachine(path, options.machine, options.driver);
  output.progress(`${module.name}: exploring`);
  const suite = suiteOf(path, module, options);
  const { driver } = module;
  const [input] = Object.values(suite.samples.inputs);
  const oracle = driver === undefined ? 'full' : await oracleOf(driver, input);
  const cases = [...suite.cases(options.steps, oracle)];
  const failures = await play(module, suite, cases, options, output);
  const source = { module: path, driver: options.driver, machine: module.name };
  const files = failures.length === 0 ? [] : writeFailures(options.out ?? FOLDER, source, failures);
  const coverage =
    measures.length > 0 || options.picture !== undefined
      ? coverageOf(module.machine, suite.samples, cases, module.unreachable)
      : undefined;
  const picture =
    coverage !== undefined && options.picture !== undefined
      ? await drawn(module, coverage, options.picture, output)
      : undefined;
  const score =
    options.mutants === true || options.suite !== undefined
      ? await scored(module, suite, cases, { ...options, oracle }, output)
      : undefined;
  const journals = await judgeJournals(module, suite, cases, options, output);
  output.progress(undefined);
  const { graph, samples } = suite;
  const result: Result = {
    machine: module.name,
    situations: graph.situations.size,
    grew: graph.grew,
    merged: graph.merged,
    learned: samples.learned,
    cases: cases.length,
    steps: cases.reduce((sum, { steps }) => sum + steps.length, 0),
    failures,
    files,
    coverage,
    picture,
    score,
    journals,
  };
  if (options.json === true) output.line(JSON.stringify(asJson(result), null, 2));
  else print(result, measures, output);
  if (failures.length > 0 || journals.some(({ issues }) => issues.length > 0)) return EXIT.broken;
  return isBelow(result, measures, options.min) ? EXIT.below : EXIT.done;
}

/** @throws {CommandFailure} when the machine cannot even begin. */
function suiteOf(path: string, module: MachineModule, { seed }: TestOptions): Suite {
  const { machine, samples } = module;
  const suite = new Suite(machine, { samples, seed });
  const begins = [...suite.graph.roots.values()].map((key) => suite.graph.situations.get(key));
  if (begins.some((situation) => situation?.snapshot !== undefined)) return suite;
  throw new CommandFailure(
    EXIT.badData,
    `${path}: Machine "${module.name}" throws as it is spawned with ${JSON.stringify(suite.samples.inputs)}. Export samples: { inputs: { usual: { … } } } with an input that it takes.`,
  );
}

async function play(
  module: MachineModule,
  suite: Suite,
  cases: readonly PhasedCase[],
  options: TestOptions,
  output: Output,
): Promise<readonly LiveFailure[]> {
  const { machine, driver, invariants, name } = module;
  const gaits = [{ name: 'playing', factory: driver ?? (() => engineDriver(machine)) }];
  if (driver === undefined && options.restarts)
    gaits.push({
      name: 'restarting before each step',
      factory: () => engineDriver(machine, { restartsAlways: true }),
    });
  for (const gait of gaits) {
    const { failures } = await playLive(machine, suite.samples, cases, {
      driver: gait.factory,
      invariants,
      onCase: (played) =>
        output.progress(
          `${name}: ${gait.name}, ${grouped(played)} of ${grouped(cases.length)} tests`,
        ),
    });
    if (failures.length > 0) return failures;
  }
  return [];
}

async function drawn(
  { machine, name }: MachineModule,
  coverage: Coverage,
  folder: string | true,
  output: Output,
): Promise<string> {
  output.progress(`${name}: drawing`);
  const { writePicture } = await import('./coverage-picture.ts');
  return writePicture(folder === true ? '.' : folder, name, machine, coverage);
}

/** By the tests that were made, or by those of the team. */
async function scored(
  { machine, name }: MachineModule,
  { samples }: Suite,
  cases: readonly PhasedCase[],
  options: TestOptions & { readonly oracle: Oracle },
  output: Output,
): Promise<Scored> {
  const { oracle, suite: command, sample: mutantsMax, workers } = options;
  const what = command === undefined ? 'mutant' : 'your tests, mutant';
  const onMutant = (looked: number, all: number): void =>
    output.progress(`${name}: ${what} ${looked} of ${all}`);
  const asked = { oracle, onMutant, ...(mutantsMax !== undefined && { mutantsMax }) };
  if (command === undefined) return scoreOf(machine, samples, cases, asked);
  const team = new TeamSuite(command, machine, options.limit);
  try {
    output.progress(`${name}: your tests, with the machine as it is`);
    await team.begin();
    const kills = (mutant: Mutant) => team.kills(mutant);
    const score = await scoreOf(machine, samples, [], { ...asked, kills, atOnce: workers });
    return { ...score, suite: { command, files: team.files, late: team.late } };
  } finally {
    team.end();
  }
}

function measuresIn({ coverage }: TestOptions, command: Command): readonly Measure[] {
  if (coverage === undefined) return [];
  if (coverage === true) return MEASURES;
  const names = coverage.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(MEASURES as readonly string[]).includes(name));
  if (unknown !== undefined)
    command.error(`error: --coverage ${unknown}: it must be of ${MEASURES.join(', ')}`);
  return names as Measure[];
}

function isBelow(
  { coverage, score }: Result,
  measures: readonly Measure[],
  min: number | undefined,
): boolean {
  if (min === undefined) return false;
  if (coverage !== undefined && coverage.idleExcuses.length > 0) return true;
  const shares = measures.map((measure) => coverage?.shares[measure]);
  if (shares.some((share) => share !== undefined && percent(share.reached, share.all) < min))
    return true;
  return score !== undefined && percent(score.killed, score.killable) < min;
}

function asJson({ coverage, ...result }: Result): object {
  return {
    ...result,
    grew: result.grew ?? null,
    coverage: coverage && {
      ...coverage.shares,
      idleExcuses: coverage.idleExcuses,
      hits: Object.fromEntries(coverage.hits),
    },
  };
}

function print(result: Result, measures: readonly Measure[], output: Output): void {
  const { failures, coverage, score, files } = result;
  for (const [index, failure] of failures.entries()) printFailure(failure, files[index], output);
  const verdict =
    failures.length === 0
      ? output.paint('green', 'all hold')
      : output.paint('red', counted(failures.length, 'failure'));
  output.line(
    `${printable(result.machine)}: ${counted(result.cases, 'test')} of ${counted(result.steps, 'step')} over ${counted(result.situations, 'situation')}: ${verdict}`,
  );
  if (result.grew !== undefined)
    output.line(
      `  not all situations were looked at: "${result.grew}" in the context grows without end`,
    );
  if (result.learned.length > 0)
    output.line(
      `  payloads guessed for ${printable(result.learned.join(', '))}; export samples to give better ones`,
    );
  if (coverage !== undefined && measures.length > 0) printCoverage(coverage, measures, output);
  if (result.picture !== undefined) output.line(`picture: ${printable(result.picture)}`);
  if (score !== undefined) printScore(score, output);
  for (const journal of result.journals) printJournal(journal, output);
}
