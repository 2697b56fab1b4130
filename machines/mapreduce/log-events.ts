/**
 * Notes that the machines of a run make about themselves: the events of monitoring. They decide nothing.
 */

export const MONITORING_EVENTS = [
  'AgentStarted',
  'CommandStarted',
  'CommandCompleted',
  'AgentCompleted',
  'TimeoutOccurred',
  'TimeoutResolved',
  'TimeoutExtended',
  'TimeoutAlert',
  'EnforcementUnavailable',
  'SignalSent',
  'RunPaused',
  'RunContinued',
  'ItemRetried',
  'ItemFinal',
  'RunEnded',
] as const;

export type MonitoringEvent = (typeof MONITORING_EVENTS)[number];

/** Fields as they stand in a line of JSON. */
export interface LogEvent {
  readonly event: MonitoringEvent;
  readonly at: number;
  readonly run_id: string;
  readonly agent_id?: string;
  readonly [field: string]: unknown;
}
