/**
 * Explanation of an actor of a simulated run, from the run's history alone.
 */

import { whyOf } from '../lookup.ts';
import type { WhyAnswer } from '../protocol.ts';
import { Recorded } from './recorded.ts';
import { recordedLookup } from './recorded-views.ts';
import { linesOfRun, type SimulatedRun } from './simulated.ts';

/** Undefined where there was no such actor. */
export function explainRun(
  title: string,
  run: SimulatedRun,
  address: string,
): Promise<WhyAnswer | undefined> {
  return whyOf(recordedLookup(new Recorded(linesOfRun(title, run))), address);
}
