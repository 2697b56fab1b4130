/**
 * Bounds of a run: limits of the product that are not configuration, where they differ from production.
 *
 * Flat names, so that a plan can keep them and shrinking can leave them out one by one: `limit.mailboxMax`
 * is a limit of every runtime, `knob.creditIdsMax` a knob of the product (runtime/base/knob.ts),
 * `disk.historyMax` how many rows of history a disk keeps of an actor; `disk.wholeGroups` is 1 where no crash splits a
 * group.
 *
 * Knobs are turned for a whole process. Runs with the same bounds may overlap; one with others waits.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import { knobs, turnKnobs } from '../../runtime/base/knob.ts';
import { type RuntimeLimits, resolveLimits } from '../../runtime/base/limits.ts';
import type { DiskRules } from '../world.ts';

export type Bounds = Readonly<Record<string, number>>;

const OF_DISKS: ReadonlySet<string> = new Set(['disk.historyMax', 'disk.wholeGroups']);

/** @throws {RuntimeError} OPTION_INVALID for a bound that there is not, or a value that it cannot have. */
export function checkBounds(bounds: Bounds): void {
  const turnable = new Set(knobs().map(({ name }) => `knob.${name}`));
  resolveLimits(limitsIn(bounds));
  for (const name of Object.keys(bounds)) {
    if (OF_DISKS.has(name) || name.startsWith('limit.') || turnable.has(name)) continue;
    throw new RuntimeError('OPTION_INVALID', `There is no bound called "${name}".`);
  }
}

/** Limits of the runtimes. */
export function limitsIn(bounds: Bounds): Partial<RuntimeLimits> {
  return below('limit.', bounds);
}

export function disksIn(bounds: Bounds = {}): DiskRules {
  const { historyMax, wholeGroups = 0 } = below('disk.', bounds);
  return { ...(historyMax !== undefined && { historyMax }), wholeGroups: wholeGroups === 1 };
}

/** Runs that go on now, under the knobs that are turned now. */
let runs = 0;
let turned = '';
let turnBack = (): void => {};
const waiting: Array<() => void> = [];

/** Runs it with its knobs turned; all are back when the last one that has these has ended. */
export async function withinBounds<T>(bounds: Bounds = {}, run: () => Promise<T>): Promise<T> {
  const own = below('knob.', bounds);
  const key = JSON.stringify(Object.entries(own).sort());
  while (runs > 0 && turned !== key) await new Promise<void>((resolve) => waiting.push(resolve));
  if (runs === 0) {
    turnBack = turnKnobs(own);
    turned = key;
  }
  runs += 1;
  try {
    return await run();
  } finally {
    runs -= 1;
    if (runs === 0) {
      turnBack();
      for (const go of waiting.splice(0)) go();
    }
  }
}

function below(prefix: string, bounds: Bounds): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(bounds)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );
}
