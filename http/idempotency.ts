/**
 * Idempotency keys that were seen, each with what it was used for.
 *
 * A key that comes with another request is a mistake and is refused; with the same request it is
 * let through, because every request that takes a key can be repeated: a job is taken once by its
 * id, an extension by its request id. Bounded, and kept for a time only.
 */

import type { Clock } from '../runtime/ports/clock.ts';
import { HttpRefusal, invalid } from './refusal.ts';

interface Use {
  readonly digest: string;
  readonly endsAt: number;
}

export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #keysMax: number;
  /** Keys in the order of their ends: all are kept equally long. */
  readonly #uses = new Map<string, Use>();

  constructor(clock: Clock, keepMs: number, keysMax: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#uses.size;
  }

  /** Notes that a client has used a key for a request. @throws {HttpRefusal} conflict */
  use(client: string, key: string, digest: string): void {
    const now = this.#clock.now();
    this.#forget((endsAt) => endsAt <= now);
    const name = `${client} ${key}`;
    const use = this.#uses.get(name);
    if (use === undefined) {
      this.#forget(() => this.#uses.size >= this.#keysMax);
      this.#uses.set(name, { digest, endsAt: now + this.#keepMs });
    } else if (use.digest !== digest)
      throw new HttpRefusal('conflict', 'The Idempotency-Key was used for another request.', {
        field: 'Idempotency-Key',
      });
  }

  /** The oldest ones, as long as they are to go. */
  #forget(isToGo: (endsAt: number) => boolean): void {
    for (const [name, { endsAt }] of this.#uses) {
      if (!isToGo(endsAt)) return;
      this.#uses.delete(name);
    }
  }
}

/** @throws {HttpRefusal} invalid */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(header)) return header;
  throw invalid('It must be 1 to 128 letters, digits or "._:-".', 'Idempotency-Key');
}
