/**
 * The option that somebody probably meant by a name that is none.
 *
 * A name of AD-26 or AD-34 (`JOB_STUCK_THRESHOLD`) leads to the option, besides what leads to any name.
 */

import { closest } from '../../../runtime/suggestion.ts';
import { JOBS_OPTIONS, type JobsOption, type JobsOptionName } from './options.ts';

export function findLikelyName(name: string): JobsOptionName | undefined {
  const spellings = Object.entries<JobsOption>(JOBS_OPTIONS).flatMap(([known, { sourceName }]) =>
    [known, sourceName ?? known].map((spelling) => [spelling, known as JobsOptionName] as const),
  );
  return closest(name, spellings);
}
