/**
 * The steps of a plan, carried out on a world with a jobs system in it.
 *
 * A step that cannot be done (crashing a node that is down) makes the run fail if people wrote it;
 * chance plans leave it out and say so.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { encodeFrame } from '../../runtime/delivery.ts';
import type { InterceptedEvent } from '../world.ts';
import { matchOf } from './message-names.ts';
import { toShownName } from './names.ts';
import type { NodeSet, PlannedWorkflow, Step } from './plan.ts';
import type { JobsScene } from './scene.ts';

/** Does it now. @throws {Error} when it cannot be done. */
export function carryOut(step: Step, scene: JobsScene): unknown {
  const { world, clients } = scene;
  switch (step.do) {
    case 'submit':
      for (const workflow of step.job.workflows) refuseDispatches(workflow, step.job.jobId, scene);
      return clients.submit(step.job);
    case 'cancel':
      return clients.cancel(step.to, step.jobId);
    case 'get':
      return clients.get(step.to, step.jobId);
    case 'ask':
      return clients.ask(step.to, step.question);
    case 'extendJob':
      return clients.extend(step.to, step.jobId, step.byMs, step.requestId);
    case 'extend':
      return extend(step, scene);
    case 'crash':
      return world.node(step.node).crash();
    case 'restart':
      if (step.forgets === true) world.forget(world.node(step.node).place);
      return world.node(step.node).start();
    case 'pause':
      return world.node(step.node).pause(step.forMs);
    case 'partition':
      return partition(step.sides, step.forMs, scene);
    case 'heal':
      return world.network.heal();
    case 'lead':
      return lead(step.manager, scene);
    case 'link':
      return link(step, scene);
    case 'skew':
      return world.node(step.node).skew(step.byMs);
    case 'inject':
      return inject(step, scene);
  }
}

/** This manager takes the lease of its datacenter, as if the one before had just ended. */
export function lead(manager: string, { world }: JobsScene): void {
  world.office.appoint(world.node(manager).place, manager);
}

/** The nodes that are meant: `A` and `A.*` are all of a datacenter. */
function nodesOf(names: NodeSet, { world, system }: JobsScene): readonly string[] {
  const known = world.nodes().map(({ node }) => node);
  return names.flatMap((name) => {
    const datacenter = name.endsWith('.*') ? name.slice(0, -2) : name;
    if (!system.datacenters.includes(datacenter)) return known.filter((node) => node === name);
    return known.filter((node) => node.startsWith(`${datacenter}.`));
  });
}

function extend(step: Extract<Step, { do: 'extend' }>, { system }: JobsScene): Promise<unknown> {
  const { worker, jobId, workflowId, progress, reason } = step;
  const newest = system
    .runningOn(worker)
    .filter((run) => jobId === undefined || run.jobId === jobId)
    .findLast((run) => workflowId === undefined || run.workflowId === workflowId);
  if (newest === undefined)
    throw impossible(
      step.atMs,
      `nothing runs on ${toShownName(worker)} that could ask for an extension`,
    );
  // A run that stops before the answer has come gets none.
  const wish = { progress: progress === 'NaN' ? Number.NaN : progress, reason };
  return newest.extend(wish as never).catch(() => undefined);
}

function partition(sides: readonly NodeSet[], forMs: number | null, scene: JobsScene): void {
  const { world } = scene;
  const groups = sides.map((side) => nodesOf(side, scene));
  const pairs = groups.flatMap((one, index) =>
    groups.slice(index + 1).map((other) => [one, other] as const),
  );
  for (const [one, other] of pairs) world.network.cut(one, other);
  if (forMs === null) return;
  world.at(world.now() + forMs, () => {
    for (const [one, other] of pairs) world.network.heal(one, other);
  });
}

function link(step: Extract<Step, { do: 'link' }>, scene: JobsScene): void {
  const { between, action, messageType, count } = step;
  const match = messageType === undefined ? {} : matchOf(messageType);
  if (match === undefined) throw new Error(`There is no message "${messageType}".`);
  const [one, other] = between;
  scene.world.network.intercept({
    between: [nodesOf(one, scene), nodesOf(other, scene)],
    ...match,
    ...(count !== undefined && { count }),
    action,
  });
}

/** Workers refuse the dispatch: it names a handler that none of them has. */
function refuseDispatches(
  workflow: PlannedWorkflow,
  jobId: string,
  { world, system }: JobsScene,
): void {
  const scripts = Object.entries(workflow.in ?? {});
  for (const datacenter of system.datacenters) {
    const own = scripts.find(([place]) => place === datacenter)?.[1].rejects;
    const rejects = own ?? workflow.rejects ?? false;
    if (rejects === false) continue;
    const isOurs = (event: InterceptedEvent): boolean => {
      const { jobId: job, attemptId } = event as InterceptedEvent & { attemptId: string };
      return job === jobId && attemptId.startsWith(`${workflow.id}#`);
    };
    // Said again when it is not answered: the same attempt is refused as often as it is tried.
    const refused = new Set<unknown>();
    world.network.intercept({
      between: [system.managersOf(datacenter), system.workersOf(datacenter)],
      type: 'dispatch.requested',
      where: (event) => {
        if (!isOurs(event)) return false;
        const attempt = event.attemptId;
        if (rejects !== true && refused.size >= rejects && !refused.has(attempt)) return false;
        refused.add(attempt);
        return true;
      },
      action: { alter: (event) => ({ ...event, handler: 'refused' }) },
    });
  }
}

/** As the other side would send it: the gate to a datacenter, or a datacenter to the gate. */
function inject(step: Extract<Step, { do: 'inject' }>, { world, system }: JobsScene): void {
  const { type: name, ...fields } = step.message as { type: string; jobId: string };
  const match = matchOf(name);
  if (match === undefined) throw new Error(`There is no message "${name}".`);
  const jobId = String(fields.jobId);
  const isForGate = system.gates.includes(step.to);
  const gate = isForGate ? step.to : (system.gates[0] ?? 'gate-1');
  const datacenter = isForGate ? String((fields as { datacenter?: unknown }).datacenter) : step.to;
  const atGate = `gate-job/${jobId}@${gate}`;
  const atDatacenter = `job/${jobId}@${datacenter}`;
  const [from, to] = isForGate ? [atDatacenter, atGate] : [atGate, atDatacenter];
  const sender = world.hostOf(placeOf(from));
  const receiver = world.hostOf(placeOf(to));
  if (sender === undefined || receiver === undefined)
    throw impossible(
      step.atMs,
      `a message to "${to}" needs a node that hosts it and one that sends it`,
    );
  const event = { ...fields, type: match.type };
  const envelope = JSON.stringify({ to, from, counter: 0, after: 0, event });
  sender.transport.send(receiver.node, encodeFrame([envelope], []));
}

/** The author of the step did not know how the run would go. */
function impossible(atMs: number, what: string): RuntimeError {
  return new RuntimeError('SCENARIO_INVALID', `At ${atMs.toLocaleString('en-GB')} ms ${what}.`);
}
