/**
 * The core of a jobs system that faults leave alone in the end: enough to bring every job to its end, so
 * every gate, and of each datacenter a manager and a worker at least.
 */

import { coreOf as anyCoreOf, epsilonOf as anyEpsilonOf } from '../faults.ts';
import { BOOK_NODES } from './book.ts';
import { JOBS_MENU } from './faults/menu.ts';
import { datacenterOf, gatesOf, managersOf, nodesOf, workersOf } from './names.ts';
import type { Plan } from './plan.ts';
import { pinsOf } from './submission.ts';

export function coreOf(plan: Plan): readonly string[] {
  const { topology, healAtMs, book } = plan;
  const core = anyCoreOf(plan, nodesOf(topology), (chance) => [
    ...gatesOf(topology),
    ...wanted(plan),
    ...Object.keys(topology.datacenters)
      .flatMap((name) => [managersOf(topology, name), workersOf(topology, name)])
      .filter((peers) => peers.length > 0)
      .map((peers) => chance.pick(peers)),
  ]);
  return healAtMs === null || book === undefined ? core : [...core, ...BOOK_NODES];
}

/** Workers that work is bound to, and managers that the plan makes leaders. */
function wanted(plan: Plan): readonly string[] {
  const pinned = [...pinsOf(plan).values()].flatMap((pin) => Object.values(pin));
  const firsts = pinned.map((worker) => `${datacenterOf(worker)}.worker-1`);
  const leaders = plan.steps.map((step) => (step.do === 'lead' ? step.manager : ''));
  return [...pinned, ...firsts, ...leaders];
}

/** How far the wall clock of a node can be off true time at most. */
export function epsilonOf({ steps, nemeses }: Pick<Plan, 'steps' | 'nemeses'>): number {
  const skews = steps.map((step) => (step.do === 'skew' ? Math.abs(step.byMs) : 0));
  return Math.max(0, ...skews) + anyEpsilonOf(nemeses, JOBS_MENU);
}
