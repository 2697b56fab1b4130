/**
 * Real chance: V8's generator for numbers, the system's for ids.
 *
 * Ids are nanoids (126 random bits from a cryptographic source); the numbers are for
 * jitter and are no secret. Nothing repeats: the simulator has its own Random.
 */

import { nanoid } from 'nanoid';
import type { Random } from '../ports/random.ts';

export function systemRandom(): Random {
  return { next: () => Math.random(), id: () => nanoid() };
}
