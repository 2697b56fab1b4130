/**
 * Reductions of what goes wrong: fewer faults, a quiet network, fewer targets, shorter faults.
 */

import type { Nemesis } from '../../faults.ts';
import { namesOf, withoutParts } from '../../simulation.ts';
import { withoutFaults } from '../../world.ts';
import type { NetworkPlan, Plan } from '../plan.ts';
import type { Candidate, Reduction } from './reduction.ts';

export const fewerNemeses: Reduction = {
  rank: 0,
  *candidates(plan) {
    for (const { left, out } of withoutParts(plan.nemeses)) {
      const names = out.map(({ id, kind }) => `${id} (${kind})`);
      // The last fault must not take the pace of the disks with it: that is another change.
      const nemeses = left.length === 0 ? withoutFaults(plan) : { nemeses: left };
      yield { plan: { ...plan, ...nemeses }, change: `without ${namesOf(names, 'faults')}` };
    }
  },
};

export const promptDisks: Reduction = {
  rank: 5,
  *candidates({ commitMs, ...plan }) {
    if (commitMs !== undefined && plan.nemeses.length === 0)
      yield { plan, change: 'with disks that take no time' };
  },
};

/** The least that a real network has. */
const QUIET_MS: NetworkPlan['delayMs'] = [1, 1];

export const quieterNetwork: Reduction = {
  rank: 1,
  *candidates(plan) {
    const { network } = plan;
    const isQuiet = network.loss + network.duplicate + network.reorder === 0;
    if (!isQuiet) {
      const quiet = { ...network, loss: 0, duplicate: 0, reorder: 0 };
      yield { plan: { ...plan, network: quiet }, change: 'on a network without noise' };
      for (const noise of ['loss', 'duplicate', 'reorder'] as const)
        if (network[noise] > 0)
          yield {
            plan: { ...plan, network: { ...network, [noise]: 0 } },
            change: `without ${noise} on the network`,
          };
    }
    const [minMs, maxMs] = network.delayMs;
    if (maxMs > QUIET_MS[1])
      yield {
        plan: { ...plan, network: { ...network, delayMs: QUIET_MS } },
        change: `with frames that take ${QUIET_MS[1]} ms`,
      };
    if (maxMs > minMs && minMs > 0)
      yield {
        plan: { ...plan, network: { ...network, delayMs: [minMs, minMs] } },
        change: `with frames that all take ${minMs} ms`,
      };
  },
};

export const fewerTargets: Reduction = {
  rank: 2,
  *candidates(plan) {
    for (const nemesis of plan.nemeses) {
      if (nemesis.targets.length < 2) continue;
      // Without any target it would be about everybody.
      for (const { left, out } of withoutParts(nemesis.targets))
        if (left.length > 0)
          yield {
            plan: changed(plan, nemesis, { targets: left }),
            change: `with ${nemesis.id} sparing ${namesOf(out, 'targets')}`,
          };
    }
  },
};

export const shorterNemeses: Reduction = {
  rank: 3,
  *candidates(plan) {
    for (const nemesis of plan.nemeses) {
      for (const durMs of [1, nemesis.durMs / 10, nemesis.durMs / 2].map(Math.ceil))
        if (durMs < nemesis.durMs)
          yield {
            plan: changed(plan, nemesis, { durMs }),
            change: `with ${nemesis.id} for ${durMs} ms`,
          };
    }
  },
};

/** From the moment of healing on nothing goes wrong; without one it may go wrong to the end. */
export const noHealing: Reduction = {
  rank: 5,
  *candidates(plan): Iterable<Candidate> {
    if (plan.healAtMs === null) return;
    yield { plan: { ...plan, healAtMs: null }, change: 'without a moment of healing' };
  },
};

function changed(plan: Plan, nemesis: Nemesis, change: Partial<Nemesis>): Plan {
  const nemeses = plan.nemeses.map((one) => (one === nemesis ? { ...one, ...change } : one));
  return { ...plan, nemeses };
}
