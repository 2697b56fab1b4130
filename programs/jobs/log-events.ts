/**
 * Log lines and counters from the log events of machines.
 *
 * Each log event is one line of the log, under the level of its table here. Counting needs no log: a
 * silent program has the same numbers.
 */

import type { LogEvent, LogEventName } from '../../machines/jobs/log-events.ts';
import type { Performer } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Counters, Labels } from './counters.ts';

/** Levels of log events: what a user should look at, what he may want to know, and what happens all the time. */
const WARNINGS: ReadonlySet<LogEventName> = new Set<LogEventName>([
  'timeout.detected',
  'timeout.declared',
  'timeout.fallback',
  'timeout.rejected',
  'timeout.shadowed',
  'timeout.repaired',
  'cores.miscounted',
  'leader.fenceRaised',
  'leader.lost',
  'worker.suspect',
  'worker.evicted',
  'worker.orphaned',
  'workflow.transition.refused',
  'dispatch.failed',
  'datacenter.silent',
  'submission.shed',
  'submission.deferred',
]);
const DETAILS: ReadonlySet<LogEventName> = new Set<LogEventName>([
  'workflow.transition',
  'workflow.attempt.stale',
  'report.received',
  'extension.credited',
]);

/** Counters that a log event moves; what is missing in a label is called `none`. */
const COUNTED: Partial<
  Record<LogEventName, (note: LogEvent) => ReadonlyArray<readonly [string, Labels]>>
> = {
  'timeout.detected': ({ reason }) => [
    ['job_timeouts_detected_total', { reason: text(reason) }],
    ['job_timeout_checks_total', { strategy: 'deadline' }],
  ],
  'timeout.reported': ({ datacenter }) => [
    ['job_timeout_reports_sent_total', { dc: text(datacenter) }],
  ],
  'timeout.reportFailed': ({ datacenter }) => [
    ['job_timeout_reports_failed_total', { dc: text(datacenter) }],
  ],
  'timeout.declared': ({ reason }) => [
    ['gate_global_timeouts_declared_total', { reason: text(reason) }],
  ],
  'timeout.rejected': ({ rejection }) => [
    ['timeout_fence_token_rejections_total', { reason: text(rejection) }],
  ],
  'timeout.repaired': ({ timer }) => [['timeout_repairs_total', { timer: text(timer) }]],
  'report.received': ({ kind }) => [
    kind === 'timeout'
      ? ['gate_dc_timeout_reports_received_total', {}]
      : ['gate_dc_progress_reports_received_total', {}],
  ],
  'leader.acquired': () => [['timeout_leader_transfers_total', {}]],
  'job.ended': ({ status }) => [['timeout_tracking_stopped_total', { reason: text(status) }]],
  'job.extended': () => [['operator_extensions_total', { result: 'granted' }]],
  'job.extensionRefused': ({ refusal }) => [
    ['operator_extensions_total', { result: text(refusal) }],
  ],
  'extension.granted': () => [['worker_extensions_total', { result: 'granted' }]],
  'extension.denied': ({ denialReason }) => [
    ['worker_extensions_total', { result: text(denialReason) }],
  ],
  'extension.removed': ({ cause }) => [
    ['worker_extensions_cleaned_total', { reason: text(cause) }],
  ],
  'dispatch.failed': () => [['dispatches_failed_total', {}]],
  'cores.miscounted': () => [['cores_miscounted_total', {}]],
  'worker.evicted': ({ reason }) => [['workers_evicted_total', { reason: text(reason) }]],
  'worker.attemptLost': ({ cause }) => [['worker_attempts_lost_total', { cause: text(cause) }]],
  'workflow.retried': ({ cause }) => [['workflow_retries_total', { cause: text(cause) }]],
  'workflow.attempt.stale': ({ message }) => [['stale_attempts_total', { type: text(message) }]],
  'status.corrected': () => [['job_status_corrections_total', {}]],
  'event.late': ({ kind }) => [['late_events_total', { kind: text(kind) }]],
};

const text = (value: unknown): string => (typeof value === 'string' ? value : 'none');

/**
 * The performer of every machine's `note`. `listener` is the user's: what it throws costs no line and no
 * count, and is told in the log. `hear` is the program's own.
 */
export function logPerformer(
  logger: Logger,
  counters: Counters,
  listener: ((note: LogEvent) => void) | undefined,
  hear: (note: LogEvent) => void = () => {},
): Performer {
  return ({ params }: { readonly params: LogEvent }) => {
    for (const [name, labels] of COUNTED[params.event]?.(params) ?? []) counters.add(name, labels);
    hear(params);
    const { event } = params;
    if (WARNINGS.has(event)) logger.warn(params, event);
    else if (DETAILS.has(event)) logger.debug(params, event);
    else logger.info(params, event);
    try {
      listener?.(params);
    } catch (thrown) {
      logger.warn({ noted: event, error: messageOf(thrown) }, 'onNote threw');
    }
  };
}
