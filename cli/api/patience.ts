/**
 * Asks again after what passes: a cut connection, a node that starts, stops or is too busy.
 *
 * Only for questions that can be repeated without harm: those that change nothing, or that have an
 * id by which the node knows them again. What a second try would not change is thrown at once.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Refusal, Unreachable } from './failures.ts';

/** Together shorter than people wait, longer than a takeover. */
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000];

export async function patiently<T>(
  ask: () => Promise<T>,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await ask();
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
    }
    await pause(pauseMs);
  }
  return ask();
}

/** Codes of the system that speak of a connection that was there. */
const CUT: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof Refusal) return thrown.isPassing;
  return thrown instanceof Unreachable && CUT.has((thrown.cause as { code?: unknown }).code);
}
