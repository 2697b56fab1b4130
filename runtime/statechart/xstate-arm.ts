/** A delayed event of a machine, as the effect that arms its deadline. */

import type { EventObject } from 'xstate';
import type { AddressRef } from '../machine.ts';
import type { ArmEffect } from './effect.ts';
import { wrongDelay } from './xstate-refusals.ts';

interface Keeper {
  readonly children: { booked: number };
  fail(thrown: unknown): unknown;
}

/** `session` asked for it, `target` or `foreign` takes it. @throws {RuntimeError} DELAY_INVALID */
export function armOf(
  keeper: Keeper,
  session: number,
  target: number,
  foreign: AddressRef | undefined,
  event: EventObject,
  delayMs: number,
  givenId: string | undefined,
): ArmEffect {
  if (!(delayMs >= 0 && delayMs <= Number.MAX_SAFE_INTEGER))
    throw keeper.fail(wrongDelay(givenId ?? event.type, delayMs));
  const { children } = keeper;
  // XState draws a random id for an anonymous delay; ours is counted, so that a run repeats.
  if (givenId === undefined) children.booked += 1;
  const id = givenId ?? `delay.${children.booked}`;
  const to = foreign?.address;
  const isHint = foreign?.isHint ?? false;
  return { type: 'arm', session, id, event, delayMs, target, to, isHint };
}
