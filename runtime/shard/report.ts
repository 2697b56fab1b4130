/**
 * Log events of failed turns and of the actors they stop: the actor, the event, the reason, and
 * where in the code. A person who reads one of these lines needs no other to find the mistake.
 */

import type { Turn } from '../actor.ts';
import { messageOf, type RuntimeError } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';

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

/** A callback or an observable that threw while it was stopped; its parent hears of it, if it goes on. */
export function reportStopFailure(
  address: string,
  { id, error }: { readonly id: string; readonly error: unknown },
  logger: Logger,
): void {
  const fields = { address, child: id, error: messageOf(error), stack: stackOf(error) };
  logger.error(fields, 'a child failed while it was stopped');
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
