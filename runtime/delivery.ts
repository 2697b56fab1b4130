/**
 * Carries messages from outboxes to mailboxes, effectively once.
 *
 * A row of an outbox is sent until its receiver answers: with a receipt once the turn
 * that took it is durable, or with a refusal. Retryable refusals and silence lead to
 * another try after a growing, jittered pause; a peer that comes up gets what waits for
 * it at once. Duplicates are the receiver's inbox's business. Order is kept per pair of
 * sender and receiver, because the rows of a pair go out in order over ordered links.
 */

import { placeOf } from './address.ts';
import { jitteredPauseMs } from './backoff.ts';
import type { Cancel, Clock } from './clock.ts';
import type { Receipt } from './envelope.ts';
import { errorFromShape, type RuntimeError } from './errors.ts';
import type { Message } from './mailbox.ts';
import type { RuntimeLimits } from './options.ts';
import type { Outbox, OutboxRow } from './outbox.ts';
import type { Peers } from './peers.ts';
import type { Random } from './random.ts';
import { encodeEnvelope } from './wire.ts';

/** Whoever owns an outbox: an actor, or the session of this process. */
export interface DeliveryOwner {
  /** The row is settled: taken, or refused for good with `error`. */
  settled(from: string, row: OutboxRow, error: RuntimeError | undefined): void;
}

export interface DeliveryServices {
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly peers: Peers;
  /** The mailboxes of this node. */
  accept(address: string, message: Message): void;
  isHosting(): boolean;
}

interface UnderWay {
  readonly from: string;
  readonly row: OutboxRow;
  readonly outbox: Outbox;
  readonly owner: DeliveryOwner;
  attempts: number;
  cancelRetry: Cancel | undefined;
}

export class Delivery {
  readonly #services: DeliveryServices;
  readonly #underWay = new Map<string, UnderWay>();
  #isStopped = false;

  constructor(services: DeliveryServices) {
    this.#services = services;
  }

  /** Messages sent and not yet answered. */
  get size(): number {
    return this.#underWay.size;
  }

  /** Sends what of the lane towards `to` may be under way and is not yet. */
  dispatch(from: string, outbox: Outbox, to: string, owner: DeliveryOwner): void {
    for (const row of outbox.sendable(to)) {
      const key = `${from}#${row.counter}`;
      if (this.#underWay.has(key)) continue;
      const underWay: UnderWay = { from, row, outbox, owner, attempts: 0, cancelRetry: undefined };
      this.#underWay.set(key, underWay);
      this.#send(key, underWay);
    }
  }

  /** Best effort and once: hints, and answers. */
  hint(from: string, to: string, event: { readonly type: string }): void {
    const { place, peers } = this.#services;
    const target = placeOf(to);
    if (target === place) {
      this.#services.accept(to, message(event, { isHint: true }));
      return;
    }
    const node = peers.nodeOf(target);
    if (node === undefined) return;
    peers.sendEnvelope(
      node,
      encodeEnvelope(from, { to, counter: 0, text: JSON.stringify(event) }, 0),
    );
  }

  /** A receipt from another node. */
  receive({ from, counter, to, error }: Receipt): void {
    const underWay = this.#underWay.get(`${from}#${counter}`);
    if (underWay === undefined || underWay.row.to !== to) return;
    this.#answered(
      `${from}#${counter}`,
      underWay,
      error === undefined ? undefined : errorFromShape(error, to),
    );
  }

  /** Sends again at once what waits for these places. */
  resend(places: readonly string[]): void {
    for (const [key, underWay] of this.#underWay) {
      if (places.includes(placeOf(underWay.row.to))) this.#send(key, underWay);
    }
  }

  /** Forgets what one sender has under way, before its outbox is read again from the store. */
  forget(from: string): void {
    for (const [key, underWay] of this.#underWay) {
      if (underWay.from !== from) continue;
      underWay.cancelRetry?.();
      this.#underWay.delete(key);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancelRetry } of this.#underWay.values()) cancelRetry?.();
    this.#underWay.clear();
  }

  #send(key: string, underWay: UnderWay): void {
    underWay.cancelRetry?.();
    underWay.cancelRetry = undefined;
    underWay.attempts += 1;
    const { from, row, outbox } = underWay;
    const { place, peers } = this.#services;
    const target = placeOf(row.to);
    const settledBelow = outbox.settledBelow(row.to);
    if (target === place && this.#services.isHosting()) {
      const settle = (error?: Error) =>
        this.#answered(key, underWay, error as RuntimeError | undefined);
      this.#services.accept(
        row.to,
        message(row.event, { from, counter: row.counter, settledBelow, settle }),
      );
      return;
    }
    const node = peers.nodeOf(target);
    if (node !== undefined) peers.sendEnvelope(node, encodeEnvelope(from, row, settledBelow));
    this.#retryLater(key, underWay);
  }

  #answered(key: string, underWay: UnderWay, error: RuntimeError | undefined): void {
    if (this.#isStopped || this.#underWay.get(key) !== underWay) return;
    if (error?.retryable === true) {
      this.#retryLater(key, underWay);
      return;
    }
    underWay.cancelRetry?.();
    this.#underWay.delete(key);
    // A turn that failed has kept the event among the undelivered messages itself.
    const isKept = error?.code === 'TURN_FAILED';
    underWay.owner.settled(underWay.from, underWay.row, isKept ? undefined : error);
    this.dispatch(underWay.from, underWay.outbox, underWay.row.to, underWay.owner);
  }

  #retryLater(key: string, underWay: UnderWay): void {
    const { clock, limits, random } = this.#services;
    underWay.cancelRetry?.();
    const at = clock.now() + jitteredPauseMs(underWay.attempts, limits, random);
    underWay.cancelRetry = clock.schedule(at, () => this.#send(key, underWay));
  }
}

/** A message for a mailbox of this node. */
export function message(event: { readonly type: string }, parts: Partial<Message> = {}): Message {
  return {
    type: 'message',
    event,
    from: undefined,
    counter: 0,
    settledBelow: 0,
    isHint: false,
    settle: undefined,
    ...parts,
  };
}
