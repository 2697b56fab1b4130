/**
 * What the log says of failed turns and of the actors they stop: who, on which event, why, and
 * where in the code. A person who reads one of these lines needs no other to find the mistake.
 */

import type { RuntimeError } from './errors.ts';
import type { Logger } from './options.ts';
import type { Turn } from './turn-result.ts';

/** Characters of a stack that a log line carries: the innermost frames say the most. */
const STACK_MAX = 4_000;

/** A turn that failed, once that is durable. */
export function reportFailure(turn: Turn, logger: Logger): void {
  const { actor, event, number, status, retry } = turn;
  const failure = turn.failure as RuntimeError;
  const { code, message } = failure;
  const fields = { address: actor.address, event, turn: number, code, error: message };
  const stack = stackOf(failure);
  if (status === 'stopped')
    logger.error({ ...fields, reason: actor.stopReason, stack }, 'an actor was stopped');
  else if (retry !== undefined)
    logger.warn({ ...fields, ...retry, stack }, 'a child failed and is run again');
  else logger.warn({ ...fields, stack }, 'a turn failed');
}

/** The stack of what was thrown first: of the cause, where the runtime has put words around it. */
export function stackOf(thrown: unknown): string | undefined {
  let innermost = thrown;
  for (let depth = 0; depth < 8; depth += 1) {
    const cause = innermost instanceof Error ? innermost.cause : undefined;
    if (!(cause instanceof Error)) break;
    innermost = cause;
  }
  const stack = innermost instanceof Error ? innermost.stack : undefined;
  return typeof stack === 'string' ? stack.slice(0, STACK_MAX) : undefined;
}
