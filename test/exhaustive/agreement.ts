/**
 * Agreement of the gate and a datacenter, which must hold in every world, whatever is still under way.
 */

import { recordOf } from '../../machines/jobs/gate-job/context.ts';
import type { GateJobContext } from '../../machines/jobs/gate-job.ts';
import { compareEpochs } from '../../machines/jobs/job/context.ts';
import type { JobContext } from '../../machines/jobs/job.ts';
import type { Finding } from './actor-states.ts';

/** What one datacenter and the gate know of each other. `job` is undefined where there is none. */
export function checkAgreement(
  gate: GateJobContext,
  datacenter: string,
  job: JobContext | undefined,
): Finding | undefined {
  return (
    findWrongEnd(gate, datacenter, job) ??
    findForeignFence(gate, datacenter, job) ??
    findForeignEpoch(gate, datacenter, job)
  );
}

/** OUT-2: an end that the gate knows of is the end that the datacenter has. */
function findWrongEnd(
  { datacenters }: GateJobContext,
  datacenter: string,
  job: JobContext | undefined,
): Finding | undefined {
  const final = recordOf(datacenters, datacenter)?.final ?? null;
  if (final === null) return undefined;
  const [told, real] = [final, job].map((end) => `${end?.status} (${end?.reason})`);
  if (told === real) return undefined;
  const what = `the gate has ${told} as the end in ${datacenter}, where it is ${real}`;
  return { invariant: 'OUT-2', what };
}

/** FE-1: nobody knows a higher fence than the leader itself. */
function findForeignFence(
  { datacenters }: GateJobContext,
  datacenter: string,
  job: JobContext | undefined,
): Finding | undefined {
  const known = recordOf(datacenters, datacenter)?.leaderFence ?? 0;
  if (job?.leaderFence === undefined || known <= job.leaderFence) return undefined;
  const what = `the gate knows fence ${known} of ${datacenter}, which has ${job.leaderFence}`;
  return { invariant: 'FE-1', what };
}

/** FE-2: nobody has obeyed a number that the gate has not given. */
function findForeignEpoch(
  { gateBoot, counter }: GateJobContext,
  datacenter: string,
  job: JobContext | undefined,
): Finding | undefined {
  const obeyed = job?.obeyedDecisionEpoch ?? null;
  if (obeyed === null || compareEpochs(obeyed, [gateBoot, counter]) <= 0) return undefined;
  const what = `${datacenter} has obeyed ${obeyed}, the gate is at ${gateBoot},${counter}`;
  return { invariant: 'FE-2', what };
}
