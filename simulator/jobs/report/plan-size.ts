/** Size of a plan: what shrinking makes less of. */

import { count } from '../../explanation.ts';
import { nodesOf } from '../names.ts';
import type { Plan, Step } from '../plan.ts';

export interface PlanSize {
  readonly jobs: number;
  readonly workflows: number;
  readonly steps: number;
  readonly datacenters: number;
  readonly nodes: number;
  /** Nemeses, steps of people that do harm, and noise on the network as one. */
  readonly faults: number;
}

const ASKING: ReadonlySet<Step['do']> = new Set([
  'submit',
  'cancel',
  'get',
  'ask',
  'extendJob',
  'extend',
  'lead',
  'heal',
]);

export function sizeOf({ steps, nemeses, network, topology }: Plan): PlanSize {
  const jobs = steps.flatMap((step) => (step.do === 'submit' ? [step.job] : []));
  const isNoisy = network.loss + network.duplicate + network.reorder > 0;
  const harms = steps.filter((step) => !ASKING.has(step.do));
  return {
    jobs: new Set(jobs.map(({ jobId }) => jobId)).size,
    workflows: jobs.reduce((sum, { workflows }) => sum + workflows.length, 0),
    steps: steps.length,
    datacenters: Object.keys(topology.datacenters).length,
    nodes: nodesOf(topology).length,
    faults: nemeses.length + harms.length + (isNoisy ? 1 : 0),
  };
}

/** `1 job, 2 datacenters, 3 faults`. */
export function sizeWords({ jobs, workflows, datacenters, nodes, faults }: PlanSize): string {
  return [
    count(jobs, 'job'),
    count(workflows, 'workflow'),
    count(datacenters, 'datacenter'),
    count(nodes, 'node'),
    count(faults, 'fault'),
  ].join(', ');
}
