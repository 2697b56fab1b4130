/**
 * Now and then a run in which far more is submitted at once than may wait: bounds of a few workflows, and
 * some dozen small jobs within seconds. Half of these runs have no faults, so that what is refused can be
 * told from what was lost.
 */

import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { Chance } from '../../world.ts';
import { gatesOf } from '../names.ts';
import type { Step, Topology } from '../plan.ts';

export interface Flood {
  readonly config: Partial<JobsConfiguration>;
  readonly steps: readonly Step[];
  readonly isFaultFree: boolean;
}

const PROBABILITY = 0.1;
const WITHIN_MS = 3_000;
/** A client goes on submitting for half a minute: what takes longer than that is refused in the end. */
const LONGEST_MS = [5_000, 60_000];

/** Undefined in most runs. */
export function drawFlood(
  chance: Chance,
  { topology, untilMs }: { readonly topology: Topology; readonly untilMs: number },
): Flood | undefined {
  if (!chance.is(PROBABILITY)) return undefined;
  const to = chance.pick([...Object.keys(topology.datacenters), ...gatesOf(topology)]);
  const atMs = chance.whole(0, Math.max(0, Math.floor(untilMs / 2)));
  const count = chance.whole(10, 40);
  const longestMs = chance.pick(LONGEST_MS);
  const steps = Array.from({ length: count }, (_, index): Step => {
    const workflows = Array.from({ length: chance.whole(1, 3) }, (__, number) => ({
      id: `w${number + 1}`,
      runsMs: Math.round(chance.scaled(1, longestMs)),
    }));
    const job = { jobId: `f${index + 1}`, to, timeoutMs: 600_000, workflows };
    return { atMs: atMs + chance.whole(0, WITHIN_MS), do: 'submit', job };
  });
  const config = {
    backlogWorkflowsMax: chance.whole(1, 4),
    backlogFreeWorkflows: chance.whole(0, 4),
    backlogWaitMaxMs: chance.is(0.5) ? null : Math.round(chance.scaled(1, 60_000)),
  };
  return { config, steps, isFaultFree: chance.is(0.5) };
}
