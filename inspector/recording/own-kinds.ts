/**
 * Definitions of the kinds that come with Escapement, for sources that have none: a dead directory, a simulated run.
 *
 * A kind of somebody's own may have the same name: where its actors are in states that this one does not have, it is
 * another machine, and there is no definition.
 */

import type { AnyStateMachine } from 'xstate';
import { agentMachine } from '../../machines/agents/agent.ts';
import { delegationMachine } from '../../machines/agents/delegation.ts';
import { orchestrationMachine } from '../../machines/agents/orchestration.ts';
import { taskMachine } from '../../machines/agents/task.ts';
import { attemptMachine } from '../../machines/jobs/attempt.ts';
import { gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { jobMachine } from '../../machines/jobs/job.ts';
import { jobsServiceMachine } from '../../machines/jobs/jobs-service.ts';
import { submissionPartMachine } from '../../machines/jobs/submission-part.ts';
import { workerMachine } from '../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import { leadershipMachine } from '../../machines/leadership.ts';
import { failedItemMachine } from '../../machines/mapreduce/failed-item.ts';
import { mapAgentMachine } from '../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../machines/mapreduce/run.ts';
import { definitionOf } from '../drawing/from-machine.ts';
import type { KindDefinition, RecordedHeader, RecordedLine } from '../protocol.ts';
import { activePaths } from '../state-paths.ts';

type Machines = Readonly<Record<string, AnyStateMachine>>;

/** By the names under which the programs register them. */
export const OWN_KINDS: Machines = {
  agent: agentMachine,
  attempt: attemptMachine,
  delegation: delegationMachine,
  desk: jobsServiceMachine,
  'failed-item': failedItemMachine,
  'gate-job': gateJobMachine,
  job: jobMachine,
  leadership: leadershipMachine,
  'map-agent': mapAgentMachine,
  mapreduce: runMachine,
  orchestration: orchestrationMachine,
  'submission-page': submissionPartMachine,
  task: taskMachine,
  worker: workerMachine,
  'worker-health': workerHealthMachine,
  'worker-pool': workerPoolMachine,
  workflow: workflowMachine,
};

/** The lines with definitions of the kinds in them, right behind the header. */
export function withDefinitions(
  lines: ReadonlyArray<RecordedHeader | RecordedLine>,
  machines: Machines = OWN_KINDS,
): Array<RecordedHeader | RecordedLine> {
  const paths = new Map<string, Set<string>>();
  for (const line of lines) {
    if (line.type !== 'turn') continue;
    const kind = line.address.slice(0, Math.max(0, line.address.indexOf('/')));
    const seen = paths.get(kind) ?? new Set();
    paths.set(kind, seen);
    for (const path of activePaths(line.state)) seen.add(path);
  }
  const definitions = [...paths].flatMap(([kind, seen]): RecordedLine[] => {
    const machine = Object.hasOwn(machines, kind) ? machines[kind] : undefined;
    if (machine === undefined) return [];
    const chart = definitionOf(machine);
    const known = new Set(chart.states.map(({ id }) => id));
    if (![...seen].every((path) => known.has(path))) return [];
    const definition: KindDefinition = { kind, version: 1, chart };
    return [{ type: 'definition', at: 0, node: '', definition }];
  });
  return [...lines.slice(0, 1), ...definitions, ...lines.slice(1)];
}
