/**
 * Ranks of waiting workflows in the store's index: the lane of each, and its order there.
 *
 * All workflows of a lane want as many cores for the same handler, and either all are at their
 * first run or none is. So when no worker has room for the first of a lane of first runs there is
 * none for any other of it, however many wait.
 */

interface Ranked {
  /** Time at which the job was accepted. */
  readonly acceptedAt: number;
  readonly jobId: string;
  /** The place in the submission. */
  readonly index: number;
}

/** Digits of a moment, and of a place in a submission: texts of equal length sort as numbers do. */
const MOMENT_DIGITS = 19;
const INDEX_DIGITS = 7;

/** Order by acceptance of the job, then its id, then the place in the submission. */
export const orderOf = ({ acceptedAt, jobId, index }: Ranked): string =>
  `${acceptedAt.toFixed(3).padStart(MOMENT_DIGITS, '0')} ${jobId} ${String(index).padStart(INDEX_DIGITS, '0')}`;

/** `isFirst`: it has not been given to a worker before, so that there is none to avoid. */
export const laneName = (handler: string, cores: number, isFirst: boolean): string =>
  `${handler} ${cores} ${isFirst ? 'first' : 'again'}`;

/** Prefix of the names of all lanes of a handler. */
export const lanesOf = (handler: string): string => `${handler} `;

export function laneParts(name: string): {
  readonly handler: string;
  readonly cores: number;
  readonly isFirst: boolean;
} {
  const [handler = '', cores, run] = name.split(' ');
  return { handler, cores: Number(cores), isFirst: run === 'first' };
}
