/**
 * `simulate`: a workload on a cluster of anybody's own machines, on many seeds, each with other faults
 * at other moments.
 *
 * Guarantees: the same options give the same report. It does not throw for what broke; it does for
 * options that cannot be, and with SEALED for a machine or a performer that reaches for real time,
 * chance or I/O, because such a run could not be repeated.
 */

import { parseDuration } from '../../runtime/base/duration.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { KindMap } from '../../runtime/runtime.ts';
import { MENU } from '../faults.ts';
import { type ClusterOptions, shapeOf } from './cluster.ts';
import type { OwnInvariant } from './own-invariant.ts';
import { drawQuiet, drawSimulation, type SimulationPlan } from './plan.ts';
import { checkPlan } from './plan-check.ts';
import { SimulationReport } from './report.ts';
import { deadlinesOf, playSimulation, type Simulated } from './run.ts';
import { shrink } from './shrink.ts';
import { stepsOf, type WorkloadOf, type WorkloadStep } from './workload.ts';

export interface SimulateOptions<TKinds extends KindMap = KindMap> extends ClusterOptions<TKinds> {
  /** What clients do; called once for each run. */
  readonly workload: WorkloadOf<NoInfer<TKinds>>;
  /** What must hold beside what the engine promises. */
  readonly invariants?: readonly OwnInvariant<NoInfer<TKinds>>[];
  /** How many runs. Default 100. */
  readonly seeds?: number;
  /** The first seed. Default 1. */
  readonly from?: number;
  /** How long each run is; the faults are over after half of it. Default `10m`. */
  readonly until?: string | number;
  /** What may go wrong: kinds of the menu, all of them, or none. Default `all`. */
  readonly nemeses?: 'all' | 'none' | readonly string[];
  /** Ends with this many failures. Default 1. */
  readonly failuresMax?: number;
  /** Plays this plan alone, as it is. */
  readonly plan?: SimulationPlan;
  /**
   * File for the page of the first failure: the run in the inspector, without a server. The report names it.
   */
  readonly page?: string;
}

/** Every kind of fault, and what it is, in a sentence. */
export const NEMESES: Readonly<Record<string, string>> = Object.fromEntries(
  MENU.map(({ kind, says }) => [kind, says]),
);

/** @throws {RuntimeError} OPTION_INVALID, SEALED */
export async function simulate<TKinds extends KindMap>(
  options: SimulateOptions<TKinds>,
): Promise<SimulationReport> {
  const { seeds = 100, from = 1, until = '10m', nemeses = 'all', failuresMax = 1 } = options;
  for (const [name, value] of Object.entries({ seeds, from, failuresMax }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RuntimeError(
        'OPTION_INVALID',
        `"${name}" must be a positive integer, got ${value}.`,
      );
  if (!Number.isSafeInteger(from + seeds))
    throw new RuntimeError('OPTION_INVALID', 'The last seed would be no whole number.');
  const { invariants = [], workload, ...cluster } = options as unknown as SimulateOptions;
  const simulated: Simulated = { ...cluster, workload, invariants, shape: shapeOf(cluster) };
  const untilMs = parseDuration(until);
  const kinds = kindsMeant(nemeses);
  if (options.plan !== undefined)
    checkPlan(options.plan, {
      shape: simulated.shape,
      kinds: Object.keys(NEMESES),
      stepsOf: (seed) => plannedSteps(simulated.workload, seed).map(({ id }) => id),
    });
  const report = new SimulationReport(
    invariants.map(({ says }) => says),
    options.kinds,
  );
  for await (const plan of options.plan === undefined
    ? plansOf(simulated, { from, seeds, untilMs, kinds })
    : [options.plan]) {
    const run = await playSimulation(simulated, plan);
    report.take(run);
    if (run.judgement.violations.length === 0) continue;
    const play = (smaller: SimulationPlan) => playSimulation(simulated, smaller);
    report.fail(options.plan === undefined ? await shrink(run, play) : { run });
    if (report.failures.length >= failuresMax) break;
  }
  if (options.page !== undefined && report.failures.length > 0) {
    const { writePage } = await import('../../inspector/failure-page.ts');
    await writePage(options.page, await report.page());
    report.writtenTo(options.page);
  }
  return report;
}

function kindsMeant(nemeses: 'all' | 'none' | readonly string[]): readonly string[] {
  const known = Object.keys(NEMESES);
  if (nemeses === 'all') return known;
  if (nemeses === 'none') return [];
  const unknown = nemeses.filter((kind) => !known.includes(kind));
  if (unknown.length === 0) return nemeses;
  const what = `"nemeses" names "${unknown.join('", "')}". There are: ${known.join(', ')}.`;
  throw new RuntimeError('OPTION_INVALID', what);
}

interface Drawing {
  readonly from: number;
  readonly seeds: number;
  readonly untilMs: number;
  readonly kinds: readonly string[];
}

async function* plansOf(simulated: Simulated, drawing: Drawing): AsyncGenerator<SimulationPlan> {
  const { from, seeds, untilMs, kinds } = drawing;
  const { shape, workload } = simulated;
  for (let seed = from; seed < from + seeds; seed++) {
    const steps = plannedSteps(workload, seed);
    // Nothing goes wrong in the second half, and without faults there is nothing to aim.
    const quiet = drawQuiet(seed, Math.floor(untilMs / 2), steps);
    const deadlines =
      kinds.length === 0 ? [] : await deadlinesOf({ ...simulated, invariants: [] }, quiet);
    yield drawSimulation(seed, { untilMs, shape, nemeses: kinds, steps, deadlines });
  }
}

/** The steps of a seed before there is anybody to do them. */
function plannedSteps(workload: WorkloadOf<KindMap>, seed: number): readonly WorkloadStep[] {
  return stepsOf(workload, seed, 'main', () => {
    throw new Error('Nothing runs yet: send and spawn inside of the steps of the workload.');
  });
}
