/**
 * Names of messages between nodes in the specification and in files, and the events that they are here.
 *
 * An acknowledgement is one event for all that is acknowledged; which it is stands in the event.
 */

import type { InterceptedEvent } from '../world.ts';

const EVENTS: Readonly<Record<string, string>> = {
  JobSubmission: 'job.submitted',
  JobProgressReport: 'progress.reported',
  JobTimeoutReport: 'timeout.reported',
  JobGlobalTimeout: 'timeout.declared',
  JobLeaderTransfer: 'leader.transferred',
  JobFinalStatus: 'final.reported',
  JobStatusCorrection: 'status.corrected',
  JobStatusRequest: 'status.requested',
  JobCancel: 'cancel.requested',
  HealthcheckExtensionRequest: 'extension.requested',
  WorkerRegister: 'worker.registered',
  WorkerRegisterAck: 'register.answered',
  WorkerHeartbeat: 'heartbeat.received',
  HeartbeatAck: 'heartbeat.acked',
  WorkflowProgress: 'progress.received',
  WorkflowDispatch: 'dispatch.requested',
  WorkflowDispatchAck: 'dispatch.answered',
  WorkflowResult: 'result.received',
  WorkflowCancel: 'cancel.ordered',
  WorkflowCancelAck: 'cancel.answered',
  WorkflowStopped: 'attempt.stopped',
  LeaderAnnounce: 'leader.announced',
  LeaderAnnounceAck: 'announce.answered',
  JobGet: 'job.asked',
  JobList: 'jobs.asked',
  JobWatch: 'job.watched',
  JobExtend: 'job.extend',
};
const ACK = 'Ack';
const ACK_EVENT = 'ack.received';

export interface MessageMatch {
  readonly type: string;
  readonly where?: (event: InterceptedEvent) => boolean;
}

/** Every name that `matchOf` knows. */
export const MESSAGE_NAMES: readonly string[] = [
  ...Object.keys(EVENTS),
  ...[
    'JobProgressReport',
    'JobTimeoutReport',
    'JobGlobalTimeout',
    'JobLeaderTransfer',
    'JobFinalStatus',
    'JobStatusCorrection',
    'JobCancel',
  ].map((name) => `${name}${ACK}`),
];

/** Which events a message is; undefined when there is no such message. */
export function matchOf(message: string): MessageMatch | undefined {
  const type = EVENTS[message];
  if (type !== undefined) return { type };
  if (!MESSAGE_NAMES.includes(message)) return undefined;
  const acked = EVENTS[message.slice(0, -ACK.length)];
  return { type: ACK_EVENT, where: (event) => event.ackOf === acked };
}
