/** Invariants that are made to be broken, and plans that break them, for tests of reports. */

import type { Nemesis } from '../../simulator/faults/nemesis.ts';
import type { JobsInvariant } from '../../simulator/jobs/facts.ts';
import { PLAN_VERSION, type Plan } from '../../simulator/jobs/plan.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';

/** Broken by whatever makes a datacenter change its leader. */
export const noNewLeader: JobsInvariant = {
  id: 'XX-1',
  kind: 'safety',
  says: 'No place is led again.',
  watch: (_, verdict) => {
    const led = new Set<string>();
    return {
      lease: (record) => {
        if (record.change !== 'acquired') return;
        verdict.exercised();
        if (led.has(record.place)) verdict.broken(`${record.node} leads ${record.place}`, record);
        led.add(record.place);
      },
    };
  },
};

/** Broken by a job whose time is up. */
export const noTimeout: JobsInvariant = {
  id: 'XX-2',
  kind: 'safety',
  says: 'No job of a datacenter is timed out.',
  watch: (_, verdict) => ({
    turn: (record) => {
      if (record.kind !== 'job') return;
      verdict.exercised();
      if (record.state === 'timedOut') verdict.broken(`${record.address} is timed out`, record);
    },
  }),
};

export function planOf(changes: Partial<Plan> = {}): Plan {
  return {
    version: PLAN_VERSION,
    name: 'made for a test',
    system: 'jobs',
    seed: 11,
    untilMs: 60_000,
    network: { delayMs: [1, 5], loss: 0, duplicate: 0, reorder: 0 },
    topology: {
      gates: 1,
      datacenters: { A: { managers: 2, workers: 1 }, B: { managers: 1, workers: 1 } },
    },
    config: {},
    steps: [],
    nemeses: [],
    healAtMs: null,
    ...changes,
  };
}

export function nemesis(id: string, kind: string, changes: Partial<Nemesis> = {}): Nemesis {
  return { id, kind, atMs: 5_000, durMs: 3_000, targets: [], params: {}, ...changes };
}

/** Judged by these alone, up to the first violation. */
export const playing =
  (...invariants: readonly JobsInvariant[]) =>
  (plan: Plan): Promise<Run> =>
    play(plan, { invariants, endsAtViolation: true });
