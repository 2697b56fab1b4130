/** Refusals: the reasons why a message does not reach the machine of the actor it is for. */

import type { Actor } from '../actor.ts';
import { excerpt, RuntimeError } from '../base/errors.ts';

export function exists({ address }: Actor): RuntimeError {
  const what = `${address} exists already. Use runtime.actor() to reach it, or spawn it with ifAbsent.`;
  return new RuntimeError('ACTOR_EXISTS', what, { address });
}

export function early({ address }: Actor): RuntimeError {
  const what = `${address} has not taken what was sent to it before this message.`;
  return new RuntimeError('MESSAGE_EARLY', what, { address });
}

export function tooManySenders({ address }: Actor, sendersMax: number): RuntimeError {
  const what = `${address} remembers ${sendersMax} senders already, or of this one's place as many as leave room for others. Raise sendersMax, or send through fewer actors.`;
  return new RuntimeError('TOO_MANY_SENDERS', what, { address });
}

export function childEnded({ address }: Actor, type: string): RuntimeError {
  const what = `The child of ${address} that ${excerpt(type)} was sent to has ended.`;
  return new RuntimeError('ACTOR_ENDED', what, { address });
}

export function absent({ address, status, stopReason }: Actor): RuntimeError {
  if (status === 'unspawned')
    return new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
  const why = stopReason === undefined ? 'has ended' : `was stopped (${stopReason})`;
  return new RuntimeError('ACTOR_ENDED', `${address} ${why}; it takes no events.`, { address });
}
