/**
 * Reductions of the cluster itself: fewer datacenters, gates and nodes, default configuration, and the
 * order of what is due at once.
 */

import { namesOf, withoutParts } from '../../simulation.ts';
import type { DatacenterTopology, Plan, Topology } from '../plan.ts';
import { pruned } from './pruned.ts';
import type { Reduction } from './reduction.ts';

export const fewerDatacenters: Reduction = {
  rank: 4,
  *candidates(plan) {
    const { topology } = plan;
    const names = Object.keys(topology.datacenters);
    for (const { left, out } of withoutParts(names)) {
      if (left.length === 0) continue;
      const datacenters = Object.fromEntries(
        left.map((name) => [name, topology.datacenters[name] as DatacenterTopology]),
      );
      yield {
        plan: on(plan, { ...topology, datacenters }),
        change: `without datacenter ${namesOf(out, 'others')}`,
      };
    }
  },
};

export const fewerNodes: Reduction = {
  rank: 4,
  *candidates(plan) {
    const { topology } = plan;
    for (const gates of fewer(topology.gates, 0))
      yield { plan: on(plan, { ...topology, gates }), change: `with ${gates} gates` };
    for (const [name, datacenter] of Object.entries(topology.datacenters)) {
      const { managers, workers, cores } = datacenter;
      const changed = (less: DatacenterTopology): Plan =>
        on(plan, { ...topology, datacenters: { ...topology.datacenters, [name]: less } });
      for (const count of fewer(managers, 1))
        yield {
          plan: changed({ ...datacenter, managers: count }),
          change: `with ${count} managers in ${name}`,
        };
      for (const count of fewer(workers, 0))
        yield {
          plan: changed({ ...datacenter, workers: count }),
          change: `with ${count} workers in ${name}`,
        };
      if (cores !== undefined)
        yield {
          plan: changed({ managers, workers }),
          change: `with workers of the usual size in ${name}`,
        };
    }
  },
};

export const defaultConfig: Reduction = {
  rank: 3,
  *candidates(plan) {
    for (const { left, out } of withoutParts(Object.entries(plan.config))) {
      const names = out.map(([name]) => name);
      const change = `with the default of ${namesOf(names, 'options')}`;
      yield { plan: { ...plan, config: Object.fromEntries(left) }, change };
    }
  },
};

export const usualBounds: Reduction = {
  rank: 3,
  *candidates({ bounds = {}, ...plan }) {
    for (const { left, out } of withoutParts(Object.entries(bounds))) {
      const change = `with the usual ${namesOf(
        out.map(([name]) => name),
        'bounds',
      )}`;
      yield {
        plan: left.length === 0 ? plan : { ...plan, bounds: Object.fromEntries(left) },
        change,
      };
    }
  },
};

/** What is due at the same moment happens as it was asked for, and nothing is left to chance. */
export const orderlyTies: Reduction = {
  rank: 5,
  *candidates({ isDrawn, ...plan }) {
    if (isDrawn === true) yield { plan, change: 'with what is due at once in the order of asking' };
  },
};

function on(plan: Plan, topology: Topology): Plan {
  return pruned({ ...plan, topology });
}

/** Boldest first: the least there may be, and one less than there are. */
function fewer(count: number, least: number): readonly number[] {
  return [...new Set([least, count - 1])].filter((one) => one >= least && one < count);
}
