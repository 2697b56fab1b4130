/**
 * Session of this process: the sender of its own messages to actors on other nodes.
 *
 * A session is a sender like an actor, with counters and an outbox, but in memory:
 * its messages are sent again until answered and taken once, as long as the process
 * lives. Its address is new in each process, so its counters never meet old watermarks. A
 * repeatable request is a sender of its own, under the name that repeats it.
 */

import { Outbox, type OutboxRow } from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryOwner } from './delivery-ports.ts';

interface Waiting {
  readonly cancel: Cancel | undefined;
  readonly answer: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface SendSettings {
  readonly request?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export class Session implements DeliveryOwner {
  readonly address: string;
  readonly #delivery: Delivery;
  readonly #outbox = new Outbox();
  /** Requests under way, by sender. */
  readonly #requests = new Map<string, Outbox>();
  readonly #waiting = new Map<OutboxRow, Waiting>();
  readonly #clock: Clock;
  readonly #limits: RuntimeLimits;

  constructor(address: string, delivery: Delivery, clock: Clock, limits: RuntimeLimits) {
    this.address = address;
    this.#delivery = delivery;
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Resolves once the turn that took the event is durable; rejects after a while without an answer, and
   * sends it no more. A `request` is sent under that name instead of ours.
   */
  send(
    to: string,
    event: { readonly type: string },
    { request, timeoutMs = this.#limits.sendTimeoutMs }: SendSettings = {},
  ): Promise<void> {
    const outbox =
      request === undefined ? this.#outbox : (this.#requests.get(request) ?? new Outbox());
    const same = request === undefined ? undefined : outbox.lane(to)?.rows[0];
    if (same !== undefined) return (this.#waiting.get(same) as Waiting).answer;
    const { outboxMax } = this.#limits;
    if (this.#waiting.size >= outboxMax) {
      const what = `This process has ${outboxMax} unanswered messages to other nodes already.`;
      return Promise.reject(new RuntimeError('OUTBOX_FULL', what, { address: to }));
    }
    let row: OutboxRow;
    try {
      // Every repetition of a request has the same identity, whichever receiver it goes to.
      if (request !== undefined) outbox.counter = 0;
      row = outbox.add(to, event);
    } catch (cause) {
      const what = `Event "${event.type}" cannot travel: ${messageOf(cause)}`;
      return Promise.reject(new RuntimeError('EVENT_MALFORMED', what, { address: to, cause }));
    }
    outbox.durable = row.counter;
    if (request !== undefined) this.#requests.set(request, outbox);
    const { promise: answer, resolve, reject } = withResolvers();
    const from = request ?? this.address;
    const late = (): void => this.#late(from, row, timeoutMs);
    const cancel = Number.isFinite(timeoutMs)
      ? this.#clock.schedule(this.#clock.now() + timeoutMs, late)
      : undefined;
    this.#waiting.set(row, { answer, resolve, reject, cancel });
    this.#delivery.dispatch(from, outbox, to, this);
    return answer;
  }

  taken(from: string, row: OutboxRow, failure: RuntimeError | undefined): void {
    this.#settle(from, row, failure);
  }

  refused(from: string, row: OutboxRow, refusal: RuntimeError, noted: () => void): void {
    this.#settle(from, row, refusal);
    // What else came with this answer is heard first.
    queueMicrotask(noted);
  }

  stop(): void {
    for (const { reject, cancel } of this.#waiting.values()) {
      cancel?.();
      reject(
        new RuntimeError('RUNTIME_STOPPED', 'The runtime stopped before the message was answered.'),
      );
    }
    this.#waiting.clear();
  }

  /**
   * Gives up on a row. The message may have been taken: a caller that repeats it under an `id` cannot do
   * it twice.
   */
  #late(from: string, row: OutboxRow, timeoutMs: number): void {
    const refusal = this.#outboxOf(from)?.lane(row.to)?.refusal;
    this.#delivery.withdraw(from, row);
    const told = refusal === undefined ? '' : ` It was told last: ${refusal.message}`;
    const what = `${row.to} has not taken it within ${timeoutMs} ms; the event may have been taken all the same. waiting() says which places do not answer.${told}`;
    const about = { address: row.to, host: refusal?.host, cause: refusal };
    this.#settle(from, row, new RuntimeError('SEND_TIMED_OUT', what, about));
  }

  #outboxOf(from: string): Outbox | undefined {
    return from === this.address ? this.#outbox : this.#requests.get(from);
  }

  #settle(from: string, row: OutboxRow, error: RuntimeError | undefined): void {
    const outbox = this.#outboxOf(from);
    outbox?.settle(row.to, row.counter);
    if (outbox?.size === 0) this.#requests.delete(from);
    const waiting = this.#waiting.get(row);
    this.#waiting.delete(row);
    waiting?.cancel?.();
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  }
}

function withResolvers(): {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
} {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((give, fail) => {
    resolve = give;
    reject = fail;
  });
  return { promise, resolve, reject };
}
