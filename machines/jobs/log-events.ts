/**
 * Log events of the machines of the jobs system: what they say happened, for logs and counters.
 *
 * A machine says something by its action `note`; the program that hosts it writes the line and
 * counts. Log events decide nothing: a run without anybody who listens is the same run.
 */

/** Every name that may stand in a log line of the jobs system. */
export const LOG_EVENTS = [
  'job.accepted',
  'submission.shed',
  'submission.deferred',
  'job.ended',
  'timeout.detected',
  'timeout.reported',
  'timeout.reportFailed',
  'timeout.declared',
  'timeout.obeyed',
  'timeout.rejected',
  'timeout.withdrawn',
  'timeout.fallback',
  'timeout.shadowed',
  'status.corrected',
  'leader.acquired',
  'leader.lost',
  'leader.fenceRaised',
  'timeout.repaired',
  'job.extended',
  'job.extensionRefused',
  'extension.granted',
  'extension.denied',
  'extension.credited',
  'extension.removed',
  'worker.suspect',
  'worker.recovered',
  'worker.evicted',
  'worker.orphaned',
  'worker.registered',
  'worker.attemptLost',
  'workflow.transition',
  'workflow.transition.refused',
  'workflow.attempt.stale',
  'workflow.retried',
  'dispatch.failed',
  'cores.miscounted',
  'datacenter.silent',
  'datacenter.heard',
  'event.late',
  'gate.recovered',
  'report.received',
] as const;

export type LogEventName = (typeof LOG_EVENTS)[number];

export interface LogEvent {
  readonly event: LogEventName;
  readonly at: number;
  readonly jobId?: string;
  readonly datacenter?: string;
  readonly leaderFence?: number;
  readonly [field: string]: unknown;
}
