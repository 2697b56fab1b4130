/**
 * Records: actors as they were last committed, and answers about jobs whose actor is there no longer.
 */

import type { CancelAnswer } from '../../../machines/jobs/messages/client.ts';
import { RuntimeError, withoutStacks } from '../../../runtime/base/errors.ts';

/** What `reading` gives, or undefined where there is no such actor. */
export function readCommitted<T>(reading: () => T): T | undefined {
  let found: T | undefined;
  try {
    // Each submission asks for a job that is not there yet.
    withoutStacks(() => {
      found = reading();
    });
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'ACTOR_UNKNOWN') throw thrown;
  }
  return found;
}

/** True when there is no such actor, or none any more. */
export function isGone(thrown: unknown): boolean {
  return (
    thrown instanceof RuntimeError &&
    (thrown.code === 'ACTOR_UNKNOWN' || thrown.code === 'ACTOR_ENDED')
  );
}

/** What `ask` answers, or what a cancel means to a job that has ended with this status; undefined of none. */
export async function cancelAnswer(
  ask: () => Promise<unknown>,
  endedStatus: () => string | undefined,
): Promise<CancelAnswer> {
  try {
    return (await ask()) as CancelAnswer;
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
    const status = endedStatus();
    if (status === undefined) return { accepted: false, reason: 'unknown' };
    return status === 'cancelled'
      ? { accepted: true, reason: 'alreadyCancelled' }
      : { accepted: false, reason: 'alreadyFinal' };
  }
}
