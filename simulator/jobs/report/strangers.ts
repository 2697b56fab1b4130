/** Names in a plan of nodes, places or jobs that are not there, each by its path. */

import type { Plan, PlannedJob, Step } from '../plan.ts';
import { jobOf } from './pruned.ts';
import { There } from './there.ts';

export interface Stranger {
  /** As in `nemeses[0].targets[1]`. */
  readonly path: string;
  readonly name: string;
}

interface Named extends Stranger {
  readonly isThere: (name: string) => boolean;
}

/** Empty when everything is there. */
export function strangersIn(plan: Plan): readonly Stranger[] {
  const there = new There(plan);
  const jobs = new Set(plan.steps.flatMap((step) => jobOf(step) ?? []));
  const named = [
    ...plan.steps.flatMap((step, index) => [...namesOfStep(step, `steps[${index}]`, there)]),
    ...plan.nemeses.flatMap(({ targets }, index) => {
      const isThere = (name: string): boolean => there.hasNode(name) || jobs.has(name);
      return listed(targets, `nemeses[${index}].targets`, isThere);
    }),
  ];
  return named.filter(({ name, isThere }) => !isThere(name));
}

function* namesOfStep(step: Step, path: string, there: There): Generator<Named> {
  const isPlace = (name: string): boolean => there.hasPlace(name);
  const isNode = (name: string): boolean => there.hasNode(name);
  const isAnybody = (name: string): boolean => there.hasNodeOrClient(name);
  if ('to' in step) yield { path: `${path}.to`, name: step.to, isThere: isPlace };
  if ('node' in step) yield { path: `${path}.node`, name: step.node, isThere: isNode };
  switch (step.do) {
    case 'submit':
      return yield* namesOfJob(step.job, `${path}.job`, there);
    case 'extend':
      return yield { path: `${path}.worker`, name: step.worker, isThere: isNode };
    case 'lead':
      return yield { path: `${path}.manager`, name: step.manager, isThere: isNode };
    case 'partition':
      for (const [index, side] of step.sides.entries())
        yield* listed(side, `${path}.sides[${index}]`, isAnybody);
      return;
    case 'link':
      for (const [index, side] of step.between.entries())
        yield* listed(side, `${path}.between[${index}]`, isAnybody);
  }
}

function* namesOfJob(job: PlannedJob, path: string, there: There): Generator<Named> {
  const isPlace = (name: string): boolean => there.hasPlace(name);
  const isNode = (name: string): boolean => there.hasNode(name);
  yield { path: `${path}.to`, name: job.to, isThere: isPlace };
  yield* listed(job.datacenters ?? [], `${path}.datacenters`, isPlace);
  for (const [index, { onWorker = {}, in: places = {} }] of job.workflows.entries()) {
    const at = `${path}.workflows[${index}]`;
    if (typeof onWorker === 'string')
      yield { path: `${at}.onWorker`, name: onWorker, isThere: isNode };
    else
      for (const [place, name] of Object.entries(onWorker))
        yield { path: `${at}.onWorker.${place}`, name, isThere: isNode };
    for (const name of Object.keys(places)) yield { path: `${at}.in`, name, isThere: isPlace };
  }
}

function listed(names: readonly string[], path: string, isThere: Named['isThere']): Named[] {
  return names.map((name, index) => ({ path: `${path}[${index}]`, name, isThere }));
}
