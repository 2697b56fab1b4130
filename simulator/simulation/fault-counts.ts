/** Counts of the faults of a run, taken while its history grows. */

import type { HistoryRecord } from '../history.ts';
import type { FaultFigures, RunFigures } from './tally.ts';

/** Faults by kind, and how many of them changed something. */
export function faultsOf(records: readonly HistoryRecord[]): RunFigures['faults'] {
  const faults = new FaultCounts();
  for (const record of records) faults.see(record);
  return faults.figures();
}

export class FaultCounts {
  readonly #injected = new Map<string, number>();
  readonly #effective = new Map<string, Set<string>>();

  see(record: HistoryRecord): void {
    if (record.type !== 'fault') return;
    const { kind, id, change } = record;
    if (change === 'began') this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + 1);
    if (change === 'hit')
      this.#effective.set(kind, (this.#effective.get(kind) ?? new Set()).add(id));
  }

  figures(): Readonly<Record<string, FaultFigures>> {
    return Object.fromEntries(
      [...this.#injected].map(([kind, times]) => [
        kind,
        { injected: times, effective: this.#effective.get(kind)?.size ?? 0 },
      ]),
    );
  }
}
