/**
 * The hunt for planted bugs: seeds are played with each plant until it was found often enough, or the
 * one plan that it names.
 *
 * Guarantees: a plant counts as found by a run only when that run is clean without it. Seeds are
 * played in order, so the first hit is the first there is. All plants get on at the same pace, as many
 * at a time as there are processes: what is found soon is known soon.
 */

import type { Copies } from './copy.ts';
import { PLANS_FOLDER, type Plant } from './plant.ts';
import type { PlayedSeed } from './seed-player.ts';
import { playSeeds, type Run, type Told } from './seeds.ts';
import { isFoundBySuite } from './suite.ts';

export interface HuntOptions {
  readonly plants: readonly Plant[];
  readonly from: number;
  readonly seeds: number;
  /** Hits after which a plant is known well enough. */
  readonly hitsMax: number;
  readonly processes: number;
  /** What one run may take before it is left out. */
  readonly limitMs: number;
  readonly onFound: (finding: Finding) => void;
}

export interface Finding {
  readonly id: string;
  readonly found: boolean;
  /** Where a plan was played, the seed that stands in it. */
  readonly firstSeed: number | null;
  readonly hits: number;
  /** What the first hit broke; a test file where that is the finder. */
  readonly invariant: string | null;
  /** Records of its history until then. */
  readonly traceLength: number | null;
  /** Seeds, or plans, that were played, the last one included. */
  readonly played: number;
  /** Runs that took too long, and what they were. */
  readonly undecided: number;
}

interface Hunted {
  readonly plant: Plant;
  readonly runs: readonly Run[];
  readonly hits: PlayedSeed[];
  played: number;
  undecided: number;
}

/** Runs that a process plays before others have their turn: at first few, then more. */
const CHUNKS = [10, 20, 40, 80];

export async function hunt(copies: Copies, options: HuntOptions): Promise<readonly Finding[]> {
  const { plants, from, seeds, processes } = options;
  const findings = new Map<string, Finding>();
  const baseline = new Baseline(copies.clean, options.limitMs);
  const inOrder = Array.from({ length: seeds }, (_, index) => from + index);
  const queue: Hunted[] = plants.map((plant) => {
    const runs = plant.plan === undefined ? inOrder : [`${PLANS_FOLDER}/${plant.plan}`];
    return { plant, runs, hits: [], played: 0, undecided: 0 };
  });
  const finish = (finding: Finding): void => {
    findings.set(finding.id, finding);
    options.onFound(finding);
  };
  const work = async (): Promise<void> => {
    for (let hunted = queue.shift(); hunted !== undefined; hunted = queue.shift()) {
      const { plant } = hunted;
      if (plant.suite !== undefined) {
        finish(await suiteFinding(plant, plant.suite, copies));
        continue;
      }
      await playChunk(hunted, copies.with(plant), baseline, options);
      const isOver = hunted.hits.length >= options.hitsMax || hunted.played >= hunted.runs.length;
      if (isOver) finish(findingOf(hunted));
      else queue.push(hunted);
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  return plants.map(({ id }) => findings.get(id) as Finding);
}

async function playChunk(
  hunted: Hunted,
  folder: string,
  baseline: Baseline,
  { hitsMax, limitMs }: HuntOptions,
): Promise<void> {
  const { hits, played } = hunted;
  const size = CHUNKS.find((chunk) => chunk > played) ?? (CHUNKS.at(-1) as number);
  const runs = hunted.runs.slice(played, played + size);
  const told = await playSeeds({ folder, runs, hitsMax: hitsMax - hits.length, limitMs });
  for (const [index, one] of told.entries()) {
    if ('undecided' in one) hunted.undecided += 1;
    else if (one.invariant !== null && (await baseline.isClean(runs[index] as Run))) hits.push(one);
  }
  hunted.played += told.length;
}

function findingOf({ plant, hits, played, undecided }: Hunted): Finding {
  const [first] = hits;
  return {
    id: plant.id,
    found: first !== undefined,
    firstSeed: first?.seed ?? null,
    hits: hits.length,
    invariant: first?.invariant ?? null,
    traceLength: first?.traceLength ?? null,
    played,
    undecided,
  };
}

async function suiteFinding(plant: Plant, suite: string, copies: Copies): Promise<Finding> {
  const found = await isFoundBySuite(suite, { clean: copies.clean, planted: copies.with(plant) });
  return {
    id: plant.id,
    found,
    firstSeed: null,
    hits: found ? 1 : 0,
    invariant: found ? suite : null,
    traceLength: null,
    played: 0,
    undecided: 0,
  };
}

/** What runs come to without any plant, each played once. */
class Baseline {
  readonly #folder: string;
  readonly #limitMs: number;
  readonly #played = new Map<Run, Promise<readonly Told[]>>();

  constructor(folder: string, limitMs: number) {
    this.#folder = folder;
    this.#limitMs = limitMs;
  }

  async isClean(run: Run): Promise<boolean> {
    const known =
      this.#played.get(run) ??
      playSeeds({ folder: this.#folder, runs: [run], hitsMax: 1, limitMs: this.#limitMs });
    this.#played.set(run, known);
    const [told] = await known;
    return told !== undefined && 'invariant' in told && told.invariant === null;
  }
}
