/**
 * Spawns of workflows by their job: those of a small submission come with the job, and pass through its
 * outbox instead of being spawned one by one before it begins.
 */

import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { workflowAddress } from '../addresses.ts';
import type { WorkflowRules } from '../rules.ts';
import type { Saying } from '../step.ts';
import type { WorkflowInput } from '../workflow.ts';
import type { JobContext } from './context.ts';
import { viewOf } from './table.ts';

/** All its workflows are there, or are to be spawned. */
export interface JobAssembled {
  readonly type: 'job.assembled';
  readonly births?: WorkflowSpawns;
}

/** What a job needs to spawn its workflows: the rules of all, and the rest by place in `ids`. */
export interface WorkflowSpawns {
  readonly rules: WorkflowRules;
  readonly workflows: ReadonlyArray<Pick<WorkflowInput, 'handler' | 'payload' | 'cores'>>;
}

/** Spawns of the workflows that came with the job; `ready` are those that depend on nothing. */
export function spawnsOf(
  context: JobContext,
  unspawned: WorkflowSpawns | undefined,
  ready: ReadonlySet<string> = new Set(),
): readonly Saying[] {
  if (unspawned === undefined) return [];
  const { jobId, datacenter, startedAt: acceptedAt } = context;
  return viewOf(context.table).ids.map((workflowId, index) => {
    const work = unspawned.workflows[index] as WorkflowSpawns['workflows'][number];
    const input: WorkflowInput = {
      ...{ jobId, workflowId, datacenter, index, ...work, acceptedAt, rules: unspawned.rules },
      ...(ready.has(workflowId) && { isReady: true }),
    };
    return {
      to: workflowAddress(jobId, workflowId, datacenter),
      event: { type: SPAWN_EVENT, input },
    };
  });
}
