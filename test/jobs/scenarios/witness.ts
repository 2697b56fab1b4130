/** Witness of a scenario: ends, transitions and states of a cluster, in the time of its script. */

import { expect } from 'vitest';
import { workerHealthAddress } from '../../../machines/jobs/addresses.ts';
import type { LogEventName } from '../../../machines/jobs/log-events.ts';
import { isAt } from '../cluster/recorder.ts';
import type { Cluster } from '../cluster.ts';

/** "At t" of the scenarios: within the second after it, never early. */
export function expectAt(atMs: number | undefined, seconds: number): void {
  expect(isAt(atMs, seconds), `expected at ${seconds} s, was at ${atMs} ms`).toBe(true);
}

/** How a job ended, where, and in which second, in the order in which it ended there. */
export function endsOf(cluster: Cluster, jobId = 'j1') {
  return cluster.recorder.notes('job.ended', { jobId }).map(({ node, atMs, fields }) => ({
    node,
    atMs,
    status: fields['status'],
    reason: fields['reason'],
  }));
}

/** The one end of a job of one datacenter: how and when. */
export function expectEnd(
  cluster: Cluster,
  seconds: number,
  end: { readonly status: string; readonly reason: string | null; readonly node?: string },
  jobId = 'j1',
): void {
  const ends = endsOf(cluster, jobId);
  expect(ends).toHaveLength(1);
  expect(ends[0]).toMatchObject(end);
  expectAt(ends[0]?.atMs, seconds);
}

/** Notes of a name as seconds, whole ones rounded down. */
export function secondsOf(
  cluster: Cluster,
  event: LogEventName,
  fields: Readonly<Record<string, unknown>> = {},
): number[] {
  return cluster.recorder.notes(event, fields).map(({ atMs }) => Math.floor(atMs / 1_000));
}

/** Where a workflow went, `from>to of attempt at second`. */
export function transitionsOf(cluster: Cluster, workflowId = 'w1', jobId = 'j1'): string[] {
  return cluster.recorder
    .notes('workflow.transition', { workflowId, jobId })
    .map(({ atMs, fields: { from, to, attemptId } }) => {
      const run = String(attemptId).split('#')[1];
      return `${from}>${to} #${run} @${Math.floor(atMs / 1_000)}`;
    });
}

/** What `worker-health` knows of a worker: its state, and its deadline in the time of the script. */
export function healthOf(cluster: Cluster, worker: string, datacenter = 'A') {
  const { value, context } = cluster.snapshot(workerHealthAddress(worker, datacenter));
  const { deadline, ...rest } = context as { readonly deadline: number };
  const [state] = Object.keys(value as object);
  const { trusted } = value as { readonly trusted?: { readonly standing: string } };
  return {
    ...rest,
    state: trusted?.standing ?? state,
    deadlineMs: cluster.time.sinceBegin(deadline),
  };
}

/** A committed context of an actor. */
export function contextOf<TContext = Readonly<Record<string, unknown>>>(
  cluster: Cluster,
  address: string,
): TContext {
  return cluster.snapshot(address).context as TContext;
}
