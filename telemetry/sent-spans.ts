/**
 * Spans that sent messages, each kept until its message is taken: they join turns into a trace.
 *
 * A message is named by its identity, the sender's address and a counter, which no resend
 * changes. Bounded: beyond the limit the oldest is forgotten, and its receiver's turn
 * begins a trace of its own. It reaches as far as this process.
 */

import type { SpanContext } from '@opentelemetry/api';

const SENT_MAX = 10_000;

export class SentSpans {
  readonly #spans = new Map<string, SpanContext>();
  readonly #max: number;

  constructor(max = SENT_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#spans.size;
  }

  sent(from: string, counter: number, span: SpanContext): void {
    if (this.#spans.size >= this.#max) {
      const [oldest] = this.#spans.keys();
      this.#spans.delete(oldest as string);
    }
    this.#spans.set(`${from} ${counter}`, span);
  }

  /** The span that sent it. A message is taken once, so this is asked once. */
  take(from: string, counter: number): SpanContext | undefined {
    const key = `${from} ${counter}`;
    const span = this.#spans.get(key);
    if (span !== undefined) this.#spans.delete(key);
    return span;
  }
}
