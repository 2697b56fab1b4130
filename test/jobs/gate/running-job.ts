/** A job that a gate has sent to two datacenters, and what their jobs say of it. */

import { GateStage, type ServiceScript } from './stand-ins.ts';

const ACCEPTS: ServiceScript = { submit: { accepted: true } };
export const JOB = { jobId: 'j1', timeoutMs: 600_000, workflows: [{ id: 'w1', handler: 'h' }] };
const FIGURES = {
  elapsedMs: 5_000,
  timeoutMs: 600_000,
  sinceProgressMs: 2_000,
  queued: false,
  extensionsMs: 30_000,
  maxWorkerExtensionMs: 30_000,
  workersWithExtensions: 1,
  holdMs: 0,
  locallyTimedOut: false,
  targetDatacenters: ['A', 'B'],
  gateId: 'gate-1',
};

const originOf = (datacenter: string) => ({
  jobId: 'j1',
  datacenter,
  managerId: `${datacenter}.manager-1`,
  leaderFence: 1,
});

const tally = { workflowsTotal: 1, workflowsCompleted: 0, workflowsFailed: 0 };

export const progress = (datacenter: string) => ({
  type: 'progress.reported',
  ...originOf(datacenter),
  figures: FIGURES,
  ...tally,
  reportSeq: 1,
  hasRecentProgress: true,
});

export const final = (datacenter: string, status: string, results: readonly object[] = []) => ({
  type: 'final.reported',
  ...originOf(datacenter),
  figures: FIGURES,
  ...tally,
  workflowsCompleted: status === 'completed' ? 1 : 0,
  status,
  reason: null,
  localReason: null,
  gateReason: null,
  sinceEndedMs: 0,
  decisionEpoch: null,
  results,
  resultsOmitted: false,
});

/** Where the job is at its gate. */
export const TO = 'gate-job/j1@gate-1';

/** A job that runs at A and B. */
export async function running(a: ServiceScript = {}, b: ServiceScript = {}) {
  const stage = new GateStage();
  await stage.open('A', { ...ACCEPTS, ...a });
  await stage.open('B', { ...ACCEPTS, ...b });
  await stage.start();
  const client = await stage.connect();
  await stage.during(client.submit(JOB));
  await stage.until(1);
  return { stage, client };
}
