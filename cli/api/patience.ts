/**
 * Patience: asks again after what passes: a cut connection, a node that starts, stops or is too busy.
 *
 * Only for questions that can be repeated without harm: those that change nothing, or that have an
 * id by which the node knows them again. What a second try would not change is thrown at once.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure, EXIT } from '../exit.ts';
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

export interface RoomOptions {
  /** Time for which it goes on at most. */
  readonly limitMs: number;
  /** Told before each pause. */
  readonly onWait: (pauseMs: number, why: string) => void;
}

/**
 * Asks again when the node has said it wants to be, for as long as it has too much to do.
 *
 * @throws {CommandFailure} once the next try would come too late
 */
export async function untilThereIsRoom<T>(
  ask: () => Promise<T>,
  { limitMs, onWait }: RoomOptions,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (!(thrown instanceof Refusal) || thrown.code !== 'overloaded') throw thrown;
      const { retryAfterMs = AGAIN_MS, message } = thrown;
      if (performance.now() + retryAfterMs > endsAt)
        throw new CommandFailure(EXIT.unavailable, message, { cause: thrown });
      onWait(retryAfterMs, message);
      await pause(retryAfterMs);
    }
  }
}

/** Pause before asking again where a node has too much to do and does not say until when. */
const AGAIN_MS = 1_000;

/** Codes of the system that speak of a connection that was there. */
const CUT: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof Refusal) return thrown.isPassing;
  return thrown instanceof Unreachable && CUT.has((thrown.cause as { code?: unknown }).code);
}
