/**
 * The repair sweep of a gate: once in a while the index of deadlines is compared with the jobs.
 *
 * It reads the index alone and takes no turn. What it finds is a fault of the product: it is
 * counted, logged, and mended.
 */

import type { NoteParams } from '../../../machines/jobs/notes.ts';
import type { Cancel } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { ActorRow } from '../../../runtime/query.ts';
import { allRows } from '../all-rows.ts';
import type { GateNode } from './node.ts';

/** Begins to sweep; the returned function ends it. */
export function startSweep(node: GateNode, note: (note: NoteParams) => void): Cancel {
  let cancel: Cancel = () => {};
  const plan = (): void => {
    const { clock, config } = node;
    cancel = clock.schedule(clock.now() + config.gateCheckIntervalMs, () => {
      plan();
      if (node.runtime.isHosting) sweep(node, note);
    });
  };
  plan();
  return () => cancel();
}

function sweep(node: GateNode, note: (note: NoteParams) => void): void {
  const { runtime, counters } = node;
  for (const row of allRows(runtime, { kind: 'gate-job', status: 'active', tag: 'running' })) {
    counters.add('job_timeout_checks_total', { strategy: 'gateSweep' });
    if (lacksDeadline(row)) repair(node, row.address, note);
  }
}

/** A job that is tracked always waits for its overall deadline. */
function lacksDeadline({ state, dueAt }: ActorRow): boolean {
  return dueAt === null && state.includes('"armed"');
}

function repair(node: GateNode, address: string, note: (note: NoteParams) => void): void {
  const { runtime, logger, clock } = node;
  const jobId = address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));
  note({ event: 'timeout.repaired', at: clock.now(), jobId, timer: 'overallLimit' });
  runtime
    .actor(address as `gate-job/${string}`)
    .send({ type: 'deadlines.renew' })
    .catch((thrown: unknown) => {
      logger.warn({ jobId, error: messageOf(thrown) }, 'a deadline could not be renewed');
    });
}
