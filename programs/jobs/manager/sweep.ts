/**
 * The repair sweep: once in a while the index of deadlines is compared with the jobs that are led.
 *
 * It reads the index alone and takes no turn. What it finds is a fault of the product: it is
 * counted, logged, and mended.
 */

import type { Cancel } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { ActorRow } from '../../../runtime/query.ts';
import { allRows } from '../all-rows.ts';
import { type ManagerNode, readJob } from './node.ts';

/** Begins to sweep; the returned function ends it. */
export function startSweep(node: ManagerNode): Cancel {
  let cancel: Cancel = () => {};
  const plan = (): void => {
    const { clock, config } = node;
    cancel = clock.schedule(clock.now() + config.checkIntervalMs, () => {
      plan();
      if (node.runtime.isHosting) sweep(node);
    });
  };
  plan();
  return () => cancel();
}

function sweep(node: ManagerNode): void {
  const { runtime, counters } = node;
  for (const row of allRows(runtime, { kind: 'job', status: 'active' })) {
    counters.add('job_timeout_checks_total', { strategy: 'sweep' });
    if (lacksDeadline(row)) repair(node, row.address);
  }
}

/** A job that is tracked always waits for something. */
function lacksDeadline({ state, dueAt }: ActorRow): boolean {
  return dueAt === null && state.includes('tracking');
}

function repair(node: ManagerNode, address: string): void {
  const { runtime, counters, logger, clock, datacenter } = node;
  const jobId = address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));
  counters.add('timeout_repairs_total', { timer: 'overallLimit' });
  const { leaderFence } = readJob(node, jobId) ?? {};
  const fields = { at: clock.now(), jobId, datacenter, leaderFence };
  logger.warn({ event: 'timeout.repaired', ...fields }, 'timeout.repaired');
  runtime
    .actor(address as `job/${string}`)
    .send({ type: 'deadlines.renew' })
    .catch((thrown: unknown) => {
      logger.warn({ jobId, error: messageOf(thrown) }, 'a deadline could not be renewed');
    });
}
