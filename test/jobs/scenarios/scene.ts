/**
 * Readings of a scenario beside the ends of witness.ts: records of jobs, and the turns of a node.
 *
 * Everything is read from outside: from notes, from committed snapshots, from the inspection
 * stream of a node. Times are milliseconds of the script.
 */

import { expect } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { LogEventName } from '../../../machines/jobs/log-events.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { InspectionRecord } from '../../../runtime/base/inspection.ts';
import { decodeFrame, encodeFrame } from '../../../runtime/delivery/frame.ts';
import type { LogLine } from '../cluster/recorder.ts';
import type { Cluster } from '../cluster.ts';

/** Goes to a moment, in seconds; nothing that is due after it has happened then. */
export function goTo(cluster: Cluster, seconds: number): Promise<void> {
  return cluster.runUntil(Math.round(seconds * 1_000));
}

/** The one end of a job at a node. */
export function endAt(cluster: Cluster, node: string, jobId = 'j1'): LogLine {
  const ends = cluster.recorder.notes('job.ended', { jobId }).filter((line) => line.node === node);
  expect(ends).toHaveLength(1);
  return ends[0] as LogLine;
}

export function hasEnded(cluster: Cluster, jobId = 'j1'): boolean {
  return cluster.recorder.notes('job.ended', { jobId }).length > 0;
}

/** When each note of that name was made, of all nodes or of one. */
export function timesOf(
  cluster: Cluster,
  name: LogEventName,
  fields: Readonly<Record<string, unknown>> = {},
): readonly number[] {
  return cluster.recorder.notes(name, fields).map(({ atMs }) => atMs);
}

export const jobAt = (cluster: Cluster, datacenter: string, jobId = 'j1'): JobContext =>
  cluster.snapshot(`job/${jobId}@${datacenter}`).context as JobContext;

export const gateJobAt = (cluster: Cluster, gate: string, jobId = 'j1'): GateJobContext =>
  cluster.snapshot(`gate-job/${jobId}@${gate}`).context as GateJobContext;

export const workflowAt = (cluster: Cluster, datacenter: string, name = 'j1/w1') =>
  cluster.snapshot(`workflow/${name}@${datacenter}`) as {
    readonly value: unknown;
    readonly context: WorkflowContext;
  };

/** A moment of a record, on the time of the script. */
const sinceBegin = (cluster: Cluster, at: number): number => cluster.time.sinceBegin(at);

export interface Turn {
  readonly atMs: number;
  readonly address: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

/** The turns that a node takes from now on, with the events that caused them. */
export function watchTurns(
  cluster: Cluster,
  runtime: { inspect(reader: (record: InspectionRecord) => void): () => void },
): readonly Turn[] {
  const turns: Turn[] = [];
  runtime.inspect((record) => {
    if (record.type !== 'turn') return;
    const { at, address, event } = record;
    turns.push({ atMs: sinceBegin(cluster, at), address, event });
  });
  return turns;
}

export interface SentMessage {
  readonly from: string;
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

/** The messages that leave the turns of a node from now on. */
export function watchSent(runtime: {
  inspect(reader: (record: InspectionRecord) => void): () => void;
}): readonly SentMessage[] {
  const sent: SentMessage[] = [];
  runtime.inspect((record) => {
    if (record.type === 'messageSent') sent.push(record);
  });
  return sent;
}

/**
 * A process that goes on under the name of a node that is gone: it claims no place, and says what it
 * is told to, in the name of any actor.
 */
export async function strayNode(cluster: Cluster, node: string) {
  cluster.passport.admit(node, undefined);
  const transport = cluster.network.join(node);
  const refusals: string[] = [];
  await transport.start({
    peerUp: () => {},
    peerDown: () => {},
    frameReceived: (_, frame) => {
      for (const { error } of decodeFrame(frame).receipts as Array<{ error?: { code: string } }>)
        if (error !== undefined) refusals.push(error.code);
    },
  });
  return {
    /** Codes of what was refused for good. */
    refusals,
    /** As a hint, or with a counter, which is answered. */
    say(peer: string, from: string, to: string, event: object, counter = 0): void {
      const envelope = JSON.stringify({ from, to, counter, after: 0, event });
      if (!transport.send(peer, encodeFrame([envelope], [])))
        throw new Error(`"${node}" is not connected to "${peer}".`);
    },
  };
}
