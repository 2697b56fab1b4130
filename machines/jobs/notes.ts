/**
 * Notes that the machines of the jobs system make about themselves, for logs and counters.
 *
 * A machine notes something by its action `note`; the program that hosts it writes the line and
 * counts. Notes decide nothing: a run without anybody who listens is the same run.
 */

/** Every name that may stand in a log line of the jobs system. */
export const NOTES = [
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

export type NoteName = (typeof NOTES)[number];

export interface NoteParams {
  readonly event: NoteName;
  readonly at: number;
  readonly jobId?: string;
  readonly datacenter?: string;
  readonly leaderFence?: number;
  readonly [field: string]: unknown;
}
