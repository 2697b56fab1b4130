/**
 * Gauges of a datacenter, measured when somebody looks: jobs that are tracked, workflows that wait.
 *
 * Both are read from the index of committed records. A manager that does not lead has none of either.
 */

import { allRows } from '../jobs-service/all-rows.ts';
import type { ManagerNode } from './node.ts';
import { waitingCount } from './waiting.ts';

export function observeDatacenter(node: ManagerNode): void {
  const whenLeading = (read: () => number) => () => (node.runtime.isHosting ? read() : 0);
  node.counters.observe(
    'timeout_strategies_active_count',
    whenLeading(() => trackedJobs(node)),
  );
  node.counters.observe(
    'dispatch_queue_length',
    whenLeading(() => waitingCount(node)),
  );
  node.counters.observe(
    'backlog_workflows_count',
    whenLeading(() => node.backlog.workflows),
  );
  node.counters.observe(
    'backlog_wait_seconds',
    whenLeading(() => (node.backlog.waitMs ?? 0) / 1_000),
  );
}

function trackedJobs({ runtime }: ManagerNode): number {
  return [...allRows(runtime, { kind: 'job', tag: 'tracked' })].length;
}
