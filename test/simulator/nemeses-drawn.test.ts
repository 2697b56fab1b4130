/** Nemeses as chance draws them, before any run: data that fits the cluster. */

import { describe, expect, test } from 'vitest';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { allNodes, allPlaces, type ClusterShape } from '../../simulator/faults/cluster-shape.ts';
import { MENU } from '../../simulator/faults/menu.ts';
import type { NemesisKind } from '../../simulator/faults/nemesis-kind.ts';
import { JOBS_MENU } from '../../simulator/jobs/faults/menu.ts';
import type { Topology } from '../../simulator/jobs/plan.ts';
import { shapeOf } from '../../simulator/jobs/shape.ts';
import { Chance } from '../../simulator/world/chance.ts';
import { SeededRandom } from '../../simulator/world/random.ts';

const TOPOLOGIES: readonly Topology[] = [
  { gates: 0, datacenters: { A: { managers: 1, workers: 0 } } },
  { gates: 0, datacenters: { A: { managers: 2, workers: 1 } } },
  { gates: 1, datacenters: { A: { managers: 1, workers: 1 }, B: { managers: 3, workers: 2 } } },
];
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

const config = resolveConfiguration({});
const jobsClusters = TOPOLOGIES.map((topology) => shapeOf(topology, config));

function clusterOf(places: Readonly<Record<string, readonly string[]>>, names: string[]) {
  return {
    places: Object.fromEntries(
      Object.entries(places).map(([place, nodes]) => [
        place,
        { hosts: nodes, nodes, isElected: true },
      ]),
    ),
    spared: ['client'],
    lease: config,
    messages: names,
    limits: names,
    waitsMs: [config.leaseMs],
    skewMaxMs: 60_000,
  };
}
const clusters: readonly ClusterShape[] = [
  clusterOf({ bank: ['bank-1', 'bank-2'], shop: ['shop-1', 'shop-2'] }, ['order.paid']),
  clusterOf({ main: ['main-1'] }, []),
];
const chanceOf = (seed: number) => new Chance(new SeededRandom(seed, 'drawn'));

describe.each(MENU)('$kind in a cluster of any machines', (kind) => describeKind(kind, clusters));

describe.each(JOBS_MENU)('$kind in a jobs system', (kind) => describeKind(kind, jobsClusters));

function describeKind<TShape extends ClusterShape>(
  { draw, fits }: Pick<NemesisKind<{ world: never; shape: TShape }>, 'draw' | 'fits'>,
  all: readonly TShape[],
): void {
  const fitting = all.filter((cluster) => fits?.(cluster) ?? true);

  test('is drawn for clusters that it fits, and for one of them at least', () => {
    expect(fitting.length).toBeGreaterThan(0);
  });

  test('strikes nodes and places that there are, with parameters that can be kept', () => {
    for (const cluster of fitting) {
      const known = [...allNodes(cluster), ...allPlaces(cluster)];
      for (const seed of SEEDS) {
        const drawn = draw(chanceOf(seed), cluster);
        expect(known).toEqual(expect.arrayContaining([...drawn.targets]));
        expect(JSON.parse(JSON.stringify(drawn))).toEqual(drawn);
        const numbers = Object.values(drawn.params).filter((value) => typeof value === 'number');
        expect(numbers.every(Number.isFinite)).toBe(true);
        if (drawn.durMs !== undefined) expect(drawn.durMs).toBeGreaterThanOrEqual(1);
      }
    }
  });

  test('is drawn alike from the same chance', () => {
    const [cluster] = fitting;
    if (cluster === undefined) return;
    for (const seed of SEEDS)
      expect(draw(chanceOf(seed), cluster)).toEqual(draw(chanceOf(seed), cluster));
  });
}
