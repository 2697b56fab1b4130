/**
 * Plays a plan on real processes, and says whether they came to the end of the simulator.
 *
 * Guarantees: the plan is over when everything has ended that ends in the simulator, and nothing
 * is left to be said; at the latest when its time and some patience are used up. What it compares
 * is read when it is over. The cluster is gone afterwards, whatever happened.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import { gatesOf } from '../../simulator/jobs/names.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import type { Expectation } from '../../simulator/jobs/scenario/expectation.ts';
import type { ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { differences, toleranceOf, unmet } from './agreement.ts';
import { fallenFences } from './fences.ts';
import type { LogRecord } from './log-book.ts';
import { type RealResult, realResult, viewKey } from './outcome.ts';
import { placeOf } from './process-cluster.ts';
import { scaledPlan } from './scaled-plan.ts';
import { type Call, ProcessScene } from './scene.ts';

export interface PlayOptions {
  readonly plan: Plan;
  readonly expect?: Expectation;
  readonly factor: number;
  /** At the pace of the plan; default: when all is over. */
  readonly looksAtMs?: number;
  /** What the simulator makes of it. */
  readonly simulated: ScenarioResult;
  /** Whether there is nothing more to wait for. Default: when nothing is different any more. */
  readonly isOver?: (real: RealResult) => boolean;
  /** Another compiled command line than that of the sources as they are. */
  readonly program?: string | undefined;
}

export interface ProcessPlay {
  readonly name: string;
  readonly factor: number;
  readonly real: RealResult;
  readonly simulated: ScenarioResult;
  readonly calls: readonly Call[];
  /** What the file expects and did not come. */
  readonly failures: readonly string[];
  /** What is one thing in the simulator and another with processes. */
  readonly differences: readonly string[];
  /** Ends that were told twice and differently, steps that could not be done, nodes that ended. */
  readonly troubles: readonly string[];
  readonly seconds: number;
}

/** How much longer than the simulator's it may take, on the clock of the processes. */
const PATIENCE_MS = 12_000;
const LOOK_MS = 100;
/** A deadline after the end is waited for when it is not later than this many times the end. */
const AFTERMATH_FACTOR = 2;

export async function playOnProcesses(options: PlayOptions): Promise<ProcessPlay> {
  const { plan, expect = new Map(), factor, looksAtMs, simulated } = options;
  const begun = performance.now();
  const scene = await ProcessScene.open(scaledPlan(plan, factor), options.program);
  try {
    await scene.bringUp();
    const scaled = scaledPlan(plan, factor);
    const zeroAt = await begin(scene, scaled);
    const tolerance = toleranceOf(factor);
    const look = async (): Promise<RealResult> => {
      const views = await allViews(scene, plan);
      const { records } = scene.cluster.book;
      return realResult({ plan, factor, zeroAt, records, views });
    };
    const compare = (real: RealResult) => ({
      failures: unmet(expect, real, tolerance),
      differences: differences(simulated, real, tolerance, expect),
    });
    await carryOutAfter(scene, zeroAt, scaled);
    const looksAt = looksAtMs ?? momentOfLook(plan, simulated);
    await pause(Math.max(0, zeroAt + looksAt / factor - Date.now()));
    await scene.settled();
    const isFixed = looksAtMs !== undefined;
    let real = await look();
    let found = compare(real);
    const lastAt = Date.now() + (isFixed ? 0 : PATIENCE_MS);
    const isOver = (): boolean =>
      options.isOver?.(real) ?? found.failures.length + found.differences.length === 0;
    while (Date.now() < lastAt && !isOver()) {
      await pause(LOOK_MS);
      real = await look();
      found = compare(real);
    }
    const { records } = scene.cluster.book;
    const troubles = [...(await scene.troubles()), ...twoEnds(records), ...fallenFences(records)];
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    const { name } = plan;
    return { name, factor, real, simulated, calls: scene.calls, ...found, troubles, seconds };
  } finally {
    await scene.close();
  }
}

/**
 * What happens at zero. Zero is when the first job was accepted: from then on it counts, and a
 * client on a busy machine may have needed a while to say it.
 */
async function begin(scene: ProcessScene, scaled: Plan): Promise<number> {
  const beganAt = Date.now();
  const first = scaled.steps.filter(({ atMs }) => atMs === 0);
  for (const step of first) scene.carryOut(step);
  if (!first.some((step) => step.do === 'submit')) return beganAt;
  await scene.settled();
  const accepted = scene.cluster.book.records.find(({ event }) => event === 'job.accepted');
  return accepted?.at ?? beganAt;
}

async function carryOutAfter(scene: ProcessScene, zeroAt: number, scaled: Plan): Promise<void> {
  const later = scaled.steps.filter(({ atMs }) => atMs > 0);
  for (const step of later.sort((one, other) => one.atMs - other.atMs)) {
    const inMs = zeroAt + step.atMs - Date.now();
    if (inMs > 0) await pause(inMs);
    scene.carryOut(step);
  }
}

/** When everything has ended that ends; a job that was completed is watched until it would be due. */
function momentOfLook({ steps, untilMs }: Plan, { jobs }: ScenarioResult): number {
  const ends = Object.values(jobs).flatMap(({ gate, datacenters }) => [
    ...(gate === null ? [] : [gate]),
    ...Object.values(datacenters),
  ]);
  if (untilMs !== null && ends.some(({ atMs }) => atMs === null)) return untilMs;
  const lastMs = Math.max(0, ...ends.map(({ atMs }) => atMs ?? 0), ...steps.map(endOfStep));
  const dueMs = steps.map((step) => (step.do === 'submit' ? step.atMs + step.job.timeoutMs : 0));
  const latest = Math.max(lastMs, ...dueMs.filter((due) => due <= AFTERMATH_FACTOR * lastMs));
  return untilMs === null ? latest : Math.min(untilMs, latest);
}

function endOfStep(step: Plan['steps'][number]): number {
  const forMs = 'forMs' in step ? (step.forMs ?? 0) : 0;
  return step.atMs + forMs;
}

async function allViews(scene: ProcessScene, plan: Plan): Promise<ReadonlyMap<string, JobView>> {
  const jobIds = new Set(
    plan.steps.flatMap((step) => (step.do === 'submit' ? [step.job.jobId] : [])),
  );
  const places = [...gatesOf(plan.topology), ...Object.keys(plan.topology.datacenters)];
  const views = new Map<string, JobView>();
  for (const jobId of jobIds)
    for (const place of places) {
      const view = await scene.view(jobId, place);
      if (view !== undefined) views.set(viewKey(jobId, place), view);
    }
  return views;
}

/** An end may be told again after a crash, but not another one. */
function twoEnds(records: readonly LogRecord[]): readonly string[] {
  const ends = new Map<string, string>();
  const broken: string[] = [];
  for (const { node, event, fields } of records) {
    if (event !== 'job.ended') continue;
    const key = `${fields.jobId} at ${placeOf(node)}`;
    const end = `${fields.status}/${fields.reason}`;
    const known = ends.get(key);
    if (known !== undefined && known !== end) broken.push(`${key} ended as ${known} and as ${end}`);
    ends.set(key, end);
  }
  return broken;
}
