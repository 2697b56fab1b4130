/**
 * Slices of long work, so that nobody else in the process waits for all of it.
 *
 * Guarantees: the steps are taken in order; after a given weight pending I/O has its turn before the
 * next one. What weighs less is done at once. A slice is counted, not timed, so it is the same
 * wherever it runs; one step is the least there is, so no step may be long by itself.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import { pendingWork } from './portions.ts';

/** Work that says what each of its steps has weighed: one for each entry that was looked at. */
export type Steps<TResult> = Generator<number, TResult, void>;

/** Entries of a slice: a few milliseconds. */
export const SLICE_WEIGHT = knob('sliceWeight', 2_000);
/** Weight of reading a record, besides what is in it. */
export const RECORD_WEIGHT = 20;

export async function inSlices<TResult>(
  clock: Clock,
  steps: Steps<TResult>,
  weightMax = SLICE_WEIGHT.value,
): Promise<TResult> {
  let weight = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    weight += step.value;
    if (weight < weightMax) continue;
    weight = 0;
    await pendingWork(clock);
  }
}
