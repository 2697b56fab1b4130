/**
 * Belief in the numbers that peers tell of: terms, leader fences, decision epochs, starts.
 *
 * A node that is told of a higher one goes above it and keeps that on disk, because its data may have come
 * from an old copy. So nobody may tell of one that is further above what is on disk than
 * `fenceStepMax`, or of a start that is further ahead of the clock than `bootAheadMaxMs`: going above
 * it would use the numbers up, or lock out who has the right ones.
 */

import type { DecisionEpoch } from '../../machines/jobs/messages/fields.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { JobsConfiguration } from './configuration.ts';

export interface ClaimsParts {
  readonly clock: Clock;
  readonly config: Pick<JobsConfiguration, 'fenceStepMax' | 'bootAheadMaxMs'>;
  /** The fence under which the place is hosted. */
  readonly runtime: { readonly fence: number };
}

/** Reason not to believe a number, or nothing. `known`: the number of its kind that is on disk. */
export function refuseNumber(
  { config, runtime }: ClaimsParts,
  name: string,
  told: number | null | undefined,
  known: () => number,
): string | undefined {
  if (told === null || told === undefined) return undefined;
  if (told <= runtime.fence + config.fenceStepMax || told <= known()) return undefined;
  return `${name}: ${told} is too far above what is known here`;
}

/** The same of an epoch that a gate's decisions are to go above. */
export function refuseEpoch(
  parts: ClaimsParts,
  told: DecisionEpoch | null | undefined,
  known: () => DecisionEpoch,
): string | undefined {
  if (told === null || told === undefined) return undefined;
  const name = 'highestDecisionEpoch';
  const [boot, counter] = told;
  return (
    refuseNumber(parts, name, boot, () => known()[0]) ??
    refuseNumber(parts, name, counter, () => known()[1] + parts.config.fenceStepMax)
  );
}

/** Reason not to believe the start of a worker, or nothing. */
export function refuseStart(
  { clock, config }: ClaimsParts,
  bootEpoch: number | undefined,
): string | undefined {
  if (bootEpoch === undefined || bootEpoch <= clock.now() + config.bootAheadMaxMs) return undefined;
  return `bootEpoch: ${bootEpoch} is too far ahead of the clock`;
}
