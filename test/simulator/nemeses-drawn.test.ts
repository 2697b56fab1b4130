/** Nemeses as chance draws them, before any run: data that fits the cluster. */

import { describe, expect, test } from 'vitest';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { MENU } from '../../simulator/faults/menu.ts';
import type { ClusterShape } from '../../simulator/faults/nemesis-kind.ts';
import { allNodes, electedPlaces } from '../../simulator/faults/targets.ts';
import type { Topology } from '../../simulator/jobs/plan.ts';
import { Chance } from '../../simulator/world/chance.ts';
import { SeededRandom } from '../../simulator/world/random.ts';

const TOPOLOGIES: readonly Topology[] = [
  { gates: 0, datacenters: { A: { managers: 1, workers: 0 } } },
  { gates: 0, datacenters: { A: { managers: 2, workers: 1 } } },
  { gates: 1, datacenters: { A: { managers: 1, workers: 1 }, B: { managers: 3, workers: 2 } } },
];
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

const config = resolveConfiguration({});
const clusters: readonly ClusterShape[] = [
  ...TOPOLOGIES.map((topology) => ({ topology, config })),
  {
    places: { bank: ['bank-1', 'bank-2'], shop: ['shop-1', 'shop-2'] },
    lease: config,
    messages: ['order.paid'],
    limits: ['paymentLimit'],
  },
  { places: { main: ['main-1'] }, lease: config, messages: [], limits: [] },
];
const chanceOf = (seed: number) => new Chance(new SeededRandom(seed, 'drawn'));

describe.each(MENU)('$kind', ({ draw, fits }) => {
  const fitting = clusters.filter((cluster) => fits?.(cluster) ?? true);

  test('is drawn for clusters that it fits, and for one of them at least', () => {
    expect(fitting.length).toBeGreaterThan(0);
  });

  test('strikes nodes and places that there are, with parameters that can be kept', () => {
    for (const cluster of fitting) {
      const known = [...allNodes(cluster), ...electedPlaces(cluster)];
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
});
