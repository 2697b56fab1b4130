/**
 * Result of a scenario: jobs, workers and counters, as plain data for people and programs.
 *
 * Guarantees: the keys mean what docs/scenarios.md says, and none changes its meaning; new ones may
 * come. The same plan gives the same result, to the last digit. Nodes are called as in files.
 */

import type { Authority, JobStatus, WorkflowStatus } from '../../../machines/jobs/words.ts';
import type { History } from '../../history.ts';
import type { Judgement, Violation } from '../../invariants.ts';
import { toShownName, workersOf } from '../names.ts';
import type { Plan } from '../plan.ts';
import { JobEnds } from './job-ends.ts';
import { findMisses } from './misses.ts';
import type { Scenario } from './scenario.ts';
import { Tally } from './tally.ts';

export interface ScenarioResult {
  readonly name: string;
  readonly seed: number;
  readonly endedAtMs: number;
  readonly turns: number;
  readonly traceHash: string;
  readonly jobs: Readonly<Record<string, JobEnd>>;
  readonly workers: Readonly<Record<string, WorkerEnd>>;
  readonly counters: Counters;
  /** Invariants that did not hold. */
  readonly violations: readonly Violation[];
  /** What was expected and is not so. */
  readonly failures: readonly string[];
}

export interface JobEnd {
  readonly gate: GateEnd | null;
  /** The datacenters that know the job. */
  readonly datacenters: Readonly<Record<string, DatacenterEnd>>;
}

export interface GateEnd {
  readonly status: JobStatus;
  readonly reason: string | null;
  /** When the outcome was published. */
  readonly atMs: number | null;
  /** Timeouts that it declared, and how many of them it took back. */
  readonly decisions: number;
  readonly withdrawn: number;
  /** Datacenters whose end was presumed. */
  readonly unconfirmed: readonly string[];
}

export interface DatacenterEnd {
  readonly status: JobStatus;
  readonly reason: string | null;
  readonly gateReason: string | null;
  readonly atMs: number | null;
  readonly leader: string;
  readonly leaderFence: number;
  readonly startedAtMs: number;
  readonly extensionsMs: number;
  readonly authority: Authority;
  /** What it found by itself. */
  readonly localReason: string | null;
  /** When it reported a timeout to the gate; null: never. */
  readonly reportedAtMs: number | null;
  readonly workflows: Readonly<Record<string, WorkflowEnd>>;
  readonly lateEvents: number;
}

export interface WorkflowEnd {
  readonly state: WorkflowStatus;
  /** How many were dispatched. */
  readonly attempts: number;
  /** When it took its last state. */
  readonly atMs: number | null;
}

export interface WorkerEnd {
  /** Health of its newest registration; null when it never registered. */
  readonly health: string | null;
  /** These are of the whole run. */
  readonly extensions: number;
  readonly extendedMs: number;
  readonly denials: number;
  readonly lastDenial: string | null;
}

export interface Counters {
  readonly staleFencesRejected: number;
  readonly statusCorrections: number;
  /** Timeouts reported, not reports sent. */
  readonly timeoutReports: number;
  readonly globalTimeoutsDeclared: number;
  readonly extensionsGranted: number;
  readonly extensionsDenied: number;
  /** Messages about attempts that were not the current ones. */
  readonly staleAttempts: number;
}

/** A plan that has been played. */
export interface PlayedPlan {
  readonly history: Pick<History, 'records'>;
  readonly judgement: Pick<Judgement, 'violations'>;
  readonly endedAtMs: number;
  readonly traceHash: string;
}

export function resultOf({ plan, expect }: Scenario, run: PlayedPlan): ScenarioResult {
  const ends = new JobEnds();
  const tally = new Tally();
  let turns = 0;
  for (const record of run.history.records) {
    if (record.type === 'log') tally.takeLog(record);
    if (record.type !== 'turn') continue;
    turns += 1;
    ends.take(record);
    tally.takeTurn(record);
  }
  const result = {
    name: plan.name,
    seed: plan.seed,
    endedAtMs: run.endedAtMs,
    turns,
    traceHash: run.traceHash,
    jobs: jobEnds(plan, ends),
    workers: workerEnds(plan, tally),
    counters: tally.counters(ends.timeoutReports),
    violations: run.judgement.violations,
  };
  return { ...result, failures: findMisses(expect, result) };
}

function jobEnds({ steps, topology }: Plan, ends: JobEnds): Readonly<Record<string, JobEnd>> {
  const submitted = steps.flatMap((step) => (step.do === 'submit' ? [step.job.jobId] : []));
  const jobs = [...new Set(submitted)].map((jobId) => {
    const known = Object.keys(topology.datacenters).flatMap((datacenter) => {
      const end = ends.datacenterEnd(jobId, datacenter);
      return end === null ? [] : [[datacenter, end] as const];
    });
    const gate = topology.gates === 0 ? null : ends.gateEnd(jobId);
    return [jobId, { gate, datacenters: Object.fromEntries(known) }] as const;
  });
  return Object.fromEntries(jobs);
}

function workerEnds({ topology }: Plan, tally: Tally): Readonly<Record<string, WorkerEnd>> {
  const workers = Object.keys(topology.datacenters).flatMap((name) => workersOf(topology, name));
  return Object.fromEntries(workers.map((worker) => [toShownName(worker), tally.worker(worker)]));
}
