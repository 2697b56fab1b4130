/** Tables of histories: those in which an invariant holds, and those in which it must be found broken. */

import { expect, test } from 'vitest';
import type { HistoryRecord } from '../../../simulator/history/history.ts';
import { judge } from '../../../simulator/invariants/invariant.ts';
import type { JobsFacts, JobsInvariant } from '../../../simulator/jobs/facts.ts';
import { JOBS_FACTS } from './tale.ts';

export interface Told {
  readonly records: readonly HistoryRecord[];
  readonly endsAtMs: number;
}

export interface Case {
  readonly told: () => Told;
  readonly facts?: Partial<JobsFacts>;
  /** When the run is over; default: at its last record. */
  readonly endedAtMs?: number;
}

export interface Table {
  /** All of them have to exercise the invariant. */
  readonly good: Readonly<Record<string, Case | (() => Told)>>;
  readonly bad: Readonly<Record<string, Case | (() => Told)>>;
}

function judged(invariant: JobsInvariant, given: Case | (() => Told)) {
  const { told, facts = {}, endedAtMs } = typeof given === 'function' ? { told: given } : given;
  const { records, endsAtMs } = told();
  return judge([invariant], { ...JOBS_FACTS, ...facts }, records, endedAtMs ?? endsAtMs);
}

/** One test for each history. */
export function testVerdicts(invariant: JobsInvariant, { good, bad }: Table): void {
  for (const [name, given] of Object.entries(good))
    test(`${invariant.id} holds: ${name}`, () => {
      const { violations, exercised } = judged(invariant, given);
      expect(violations.map(({ what }) => what)).toEqual([]);
      expect(exercised[invariant.id]).toBeGreaterThan(0);
    });
  for (const [name, given] of Object.entries(bad))
    test(`${invariant.id} is broken: ${name}`, () => {
      expect(judged(invariant, given).violations.length).toBeGreaterThan(0);
    });
}
