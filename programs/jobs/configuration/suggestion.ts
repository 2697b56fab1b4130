/**
 * Did-you-mean suggestions for unknown options.
 *
 * A name of AD-26 or AD-34 (`JOB_STUCK_THRESHOLD`) leads to the option, in addition to what suggests any name.
 */

import { closest } from '../../../runtime/base/suggestion.ts';
import { JOBS_OPTIONS, type JobsOption, type JobsOptionName } from './options.ts';

export function findLikelyName(name: string): JobsOptionName | undefined {
  const spellings = Object.entries<JobsOption>(JOBS_OPTIONS).flatMap(([known, { sourceName }]) =>
    [known, sourceName ?? known].map((spelling) => [spelling, known as JobsOptionName] as const),
  );
  return closest(name, spellings);
}
