/**
 * A planned job as a client submits it.
 *
 * What the work is like is in the payload of each workflow, for the scripted handler. A workflow
 * whose first attempt goes to a certain worker has a handler of its own, which only the workers
 * have that may take it.
 */

import type { NewJob, NewWorkflow } from '../../programs/jobs/client.ts';
import type { Plan, PlannedJob, PlannedWorkflow, WorkflowScript } from './plan.ts';
import type { HandlerScript } from './scripted-handler.ts';

/** Which worker of each datacenter has a handler; where none is named every one has. */
export type Pin = Readonly<Record<string, string>>;

const SCRIPTED = 'scripted';

export function newJob(job: PlannedJob): NewJob & { readonly jobId: string } {
  const { jobId, timeoutMs, datacenters, failFast } = job;
  const { stuckThresholdMs, allStuckThresholdMs, datacenterTimeoutQuorum } = job;
  return {
    jobId,
    timeoutMs,
    ...(datacenters !== undefined && { targetDatacenters: datacenters }),
    ...(failFast !== undefined && { failFast }),
    ...(stuckThresholdMs !== undefined && { stuckThresholdMs }),
    ...(allStuckThresholdMs !== undefined && { allStuckThresholdMs }),
    ...(datacenterTimeoutQuorum !== undefined && { datacenterTimeoutQuorum }),
    workflows: job.workflows.map(newWorkflow),
    ...job.malformed,
  } as unknown as NewJob & { readonly jobId: string };
}

function newWorkflow(workflow: PlannedWorkflow): NewWorkflow {
  const { id, cores, dependsOn, in: places, onWorker, ...script } = workflow;
  const scripts = Object.entries(places ?? {}).map(([place, one]) => [place, handlerScript(one)]);
  const whole = {
    ...handlerScript(script),
    ...(scripts.length > 0 && { in: Object.fromEntries(scripts) }),
  };
  return {
    id,
    handler: onWorker === undefined ? SCRIPTED : pinName(pinOf(onWorker)),
    payload: JSON.stringify(whole),
    ...(cores !== undefined && { cores }),
    ...(dependsOn !== undefined && { dependsOn: [...dependsOn] }),
  };
}

function handlerScript(script: WorkflowScript): HandlerScript {
  const { runsMs, progressEveryMs, stopsProgressAtMs, failsTimes, completesItems } = script;
  const { secondReportAfterMs } = script;
  return {
    ...(runsMs !== undefined && { runs: runsMs ?? 'never' }),
    ...(progressEveryMs !== undefined && { progressEvery: progressEveryMs ?? 'never' }),
    ...(stopsProgressAtMs !== undefined && { stopsProgressAt: stopsProgressAtMs }),
    ...(secondReportAfterMs !== undefined && { secondReportAfter: secondReportAfterMs }),
    ...(failsTimes !== undefined && { failsTimes }),
    ...(completesItems !== undefined && { completesItems }),
    ...(script.ignoresCancel === true && { ignoresCancel: true }),
  };
}

/** Every pin of a plan, by the name of its handler. */
export function pinsOf({ steps }: Pick<Plan, 'steps'>): ReadonlyMap<string, Pin> {
  const pins = new Map<string, Pin>();
  for (const step of steps) {
    if (step.do !== 'submit') continue;
    for (const { onWorker } of step.job.workflows) {
      if (onWorker === undefined) continue;
      const pin = pinOf(onWorker);
      pins.set(pinName(pin), pin);
    }
  }
  return pins;
}

function pinOf(onWorker: NonNullable<PlannedWorkflow['onWorker']>): Pin {
  if (typeof onWorker !== 'string') return onWorker;
  return { [onWorker.slice(0, onWorker.indexOf('.'))]: onWorker };
}

function pinName(pin: Pin): string {
  return ['on', ...Object.values(pin)].join(':');
}
