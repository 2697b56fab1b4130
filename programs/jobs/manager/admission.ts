/**
 * Admission of messages to the actors of a datacenter.
 *
 * A gate speaks about its jobs, a worker about itself, and each message has the fields its schema says;
 * who may ask the jobs service is in jobs-service/admission.ts. What is refused is refused by name, reaches no machine,
 * and is counted by the runtime.
 */

import type { ZodType } from 'zod';
import { idOf, placeOf } from '../../../machines/jobs/addresses.ts';
import {
  ackReceived,
  cancelRequested,
  extendRequested,
  statusRequested,
  timeoutDeclared,
} from '../../../machines/jobs/messages/gate.ts';
import {
  announceAnswered,
  attemptStopped,
  cancelAnswered,
  dispatchAnswered,
  extensionRequested,
  heartbeatReceived,
  progressReceived,
  resultReceived,
  workerRegistered,
} from '../../../machines/jobs/messages/worker.ts';
import type { KindOptions } from '../../../runtime/actor.ts';
import { refuseNumber, refuseStart } from '../claims.ts';
import { schemaBreach } from '../jobs-service/schema-breach.ts';
import { type ManagerNode, readJob, readTerm } from './node.ts';

type Admit = NonNullable<KindOptions['admit']>;
type Schemas = Readonly<Record<string, ZodType>>;
type Message = Parameters<Admit>[0];

const FROM_GATE: Schemas = {
  'timeout.declared': timeoutDeclared,
  'cancel.requested': cancelRequested,
  'status.requested': statusRequested,
  'job.extend': extendRequested,
  'ack.received': ackReceived,
};

const TO_WORKFLOW: Schemas = {
  'dispatch.answered': dispatchAnswered,
  'progress.received': progressReceived,
  'result.received': resultReceived,
  'attempt.stopped': attemptStopped,
  'cancel.answered': cancelAnswered,
};

const TO_HEALTH: Schemas = {
  'heartbeat.received': heartbeatReceived,
  'extension.requested': extensionRequested,
  'announce.answered': announceAnswered,
};

const TO_POOL: Schemas = { 'worker.registered': workerRegistered };

/** Admission to jobs: their own gate, which has to be one of those configured. */
export function admitToJob(gates: ReadonlySet<string>, datacenter: string): Admit {
  return (message) => {
    const { to, from = '', event } = message;
    const gate = placeOf(from);
    if (!gates.has(gate)) return `${gate} is not a gate of this datacenter`;
    if (!from.startsWith('gate-job/') || idOf(from) !== idOf(to))
      return 'only the actor of this job at its gate speaks to it';
    const meant = (event as { datacenter?: unknown }).datacenter;
    if (meant !== undefined && meant !== datacenter) return `it is meant for another datacenter`;
    return checked(FROM_GATE, message);
  };
}

/**
 * The same, and what only the job itself can tell: that the gate is its own, and how far the numbers are
 * believed that it tells of.
 */
export function admitToJobOf(node: ManagerNode): Admit {
  const admit = admitToJob(new Set(node.gates), node.datacenter);
  return (message) => {
    const refusal = admit(message);
    const job = refusal === undefined ? readJob(node, idOf(message.to)) : undefined;
    if (job === undefined) return refusal;
    if (job.gateId !== placeOf(message.from ?? '')) return 'it is not a job of that gate';
    const { leaderFence, gateBoot, decisionEpoch } = message.event as ToldByGate;
    const boot = Math.max(gateBoot ?? 0, decisionEpoch?.[0] ?? 0);
    const [known] = job.highestDecisionEpoch;
    if (boot > known + node.config.fenceStepMax)
      return `decisionEpoch: ${boot} is too far above what is known here`;
    // A decision that echoes a later leader is answered; only an acknowledgement has the job go above it.
    if (message.event.type !== 'ack.received') return undefined;
    return refuseNumber(node, 'leaderFence', leaderFence, () => job.leaderFence);
  };
}

interface ToldByGate {
  readonly leaderFence?: number;
  readonly gateBoot?: number | null;
  readonly decisionEpoch?: readonly [number, number] | null;
}

export const admitToWorkflow: Admit = (message) => fromItself(TO_WORKFLOW, message);

export const admitToHealth: Admit = (message) =>
  idOf(message.to) === placeOf(message.from ?? '')
    ? fromItself(TO_HEALTH, message)
    : 'a worker speaks for itself only';

export const admitToPool: Admit = (message) => fromItself(TO_POOL, message);

/**
 * Admission of workers: the numbers that they tell of are believed as far as this place can go above
 * them.
 */
export function withinReach(node: ManagerNode, admit: Admit): Admit {
  return (message) => {
    const refusal = admit(message);
    if (refusal !== undefined) return refusal;
    const { term, bootEpoch } = message.event as ToldByWorker;
    return (
      refuseStart(node, bootEpoch) ??
      refuseNumber(node, 'term', term, () => readTerm(node, placeOf(message.from ?? '')))
    );
  };
}

interface ToldByWorker {
  readonly term?: number;
  readonly bootEpoch?: number;
}

/** Workers name themselves in what they say. */
function fromItself(schemas: Schemas, message: Message): string | undefined {
  const { workerId } = message.event as { workerId?: unknown };
  if (workerId !== placeOf(message.from ?? '')) return 'a worker speaks for itself only';
  return checked(schemas, message);
}

function checked(schemas: Schemas, { event }: Message): string | undefined {
  const schema = Object.hasOwn(schemas, event.type) ? schemas[event.type] : undefined;
  if (schema === undefined) return `${event.type} does not come from another place`;
  return schemaBreach(schema, event);
}
