/**
 * Range of fences: those that a lease may give out, a store may keep and a peer may claim.
 *
 * Guarantees: a fence that passes can be read back by every part that stores one, and there is room
 * above it for more takeovers than any cluster lives to see. A claim of a peer is believed only within
 * a step of what is known already, so that no number of claims uses that room up at once.
 */

import { RuntimeError } from './errors.ts';

/** Far below 2^53, where numbers stop being exact: what goes above a fence is still one. */
export const FENCE_MAX = 2 ** 40;

export function isFence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= FENCE_MAX;
}

/** Checks a fence before it is written or handed out. @throws {RuntimeError} FENCE_EXHAUSTED */
export function checkFence(fence: number): number {
  if (isFence(fence)) return fence;
  throw fenceExhausted(fence);
}

export function fenceExhausted(fence: number): RuntimeError {
  const what = `${fence} is no fence: they go from 0 to ${FENCE_MAX}. Restore a copy of the data from before it was claimed.`;
  return new RuntimeError('FENCE_EXHAUSTED', what);
}
