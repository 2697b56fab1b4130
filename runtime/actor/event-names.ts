/**
 * Names of events: those that only XState or the runtime may use, and the check of what an event is at
 * all.
 */

import { excerpt, RuntimeError } from '../base/errors.ts';
import { ROUTE_EVENT, SPAWN_EVENT } from '../machine.ts';

/** Event that every actor whose machine knows it takes first after its node began to host it. */
export const LEADERSHIP_ACQUIRED = 'leadership.acquired';

/**
 * Event that an actor whose machine knows it takes when a receiver has refused one of its messages for
 * good.
 */
export const MESSAGE_REFUSED = 'message.refused';

/** The answer to an event that only the runtime may send. */
export function reserved(type: string, address?: string): RuntimeError {
  const what = `Events called ${excerpt(type)} come from inside only.`;
  return new RuntimeError('EVENT_RESERVED', what, { address });
}

/** The type of what is an event as far as anybody can see. @throws {RuntimeError} EVENT_MALFORMED */
export function typeOf(event: unknown, address: string): string {
  const type = (event as { type?: unknown } | null | undefined)?.type;
  if (typeof type === 'string' && typeof event === 'object' && !Array.isArray(event)) return type;
  const what = `An event is an object with a "type" text, got ${excerpt(event)}.`;
  throw new RuntimeError('EVENT_MALFORMED', what, { address });
}

/** Names that nothing from outside may carry. */
export function isReserved(type: string): boolean {
  return (
    (type.startsWith('xstate.') && type !== ROUTE_EVENT) ||
    (type.startsWith('escapement.') && type !== SPAWN_EVENT) ||
    type.startsWith('leadership.') ||
    type === MESSAGE_REFUSED
  );
}
