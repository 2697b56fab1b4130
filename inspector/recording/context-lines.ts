/**
 * Contexts of turns as a recording keeps them: the first of an actor whole, each after it as a patch upon the one
 * before, or whole again where that is shorter. Secrets are replaced before anything is kept.
 */

import type { RecordedLine } from '../protocol.ts';
import { redacted } from '../shown.ts';
import { diff } from './patch.ts';

type ContextFields = Pick<
  Extract<RecordedLine, { type: 'turn' }>,
  'context' | 'patch' | 'contextBytes'
>;

/** A context that is larger is not kept; its size is. */
const CONTEXT_BYTES_MAX = 256 * 1024;

export class ContextLines {
  readonly #last = new Map<string, unknown>();

  get size(): number {
    return this.#last.size;
  }

  /** The next context of this actor is whole again. */
  forget(address: string): void {
    this.#last.delete(address);
  }

  /** The next context of every actor is whole again. */
  clear(): void {
    this.#last.clear();
  }

  /** Fields of the actor's next turn. */
  of(
    address: string,
    context: unknown,
    redact?: (path: string, value: unknown) => unknown,
  ): ContextFields {
    if (context === undefined) return {};
    const text = JSON.stringify(context) ?? 'null';
    if (text.length > CONTEXT_BYTES_MAX) {
      // A reader has nothing that the next one could be a patch upon.
      this.#last.delete(address);
      return { contextBytes: text.length };
    }
    const value = redacted(JSON.parse(text), redact);
    const isFirst = !this.#last.has(address);
    const patch = isFirst ? undefined : diff(this.#last.get(address), value);
    this.#last.set(address, value);
    if (patch === undefined) return { context: value };
    return JSON.stringify(patch).length < text.length ? { patch } : { context: value };
  }
}
