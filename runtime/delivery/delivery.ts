/**
 * Delivery: carries messages from outboxes to mailboxes, effectively once and in order.
 *
 * A row of an outbox is sent, once its turn is durable, until its receiver answers: with a receipt
 * once the turn that took it is durable, or with a refusal. Each pair of sender and receiver has a
 * lane. A row names the one before it in its lane, so a receiver that misses that one refuses the
 * row, and the lane goes back to what was not taken: at once where a peer comes up, after a
 * growing, jittered pause where nobody answers. What the receiver refuses for good leaves the lane;
 * what follows waits until that is durably noted. Duplicates are left to the inbox of the receiver.
 *
 * Between actors of one place messages never leave the node.
 */

import { ageOf, type Lane, message, type Outbox, type OutboxRow, UNDER_WAY_MAX } from '../actor.ts';
import { placeOf } from '../base/address.ts';
import { jitteredPauseMs } from '../base/backoff.ts';
import { errorFromShape, type RuntimeError } from '../base/errors.ts';
import type { DeliveryOwner, DeliveryServices } from './delivery-ports.ts';
import type { Receipt } from './envelope.ts';
import type { Route } from './routes.ts';
import { Sendable } from './sendable.ts';
import { Silence, type WaitingPlace } from './silence.ts';

/** One that has something under way. */
interface Sender {
  readonly from: string;
  readonly outbox: Outbox;
  readonly owner: DeliveryOwner;
  isForgotten: boolean;
}

export class Delivery {
  readonly #services: DeliveryServices;
  readonly #sendable: Sendable;
  readonly #senders = new Map<string, Sender>();
  readonly #silence: Silence;
  #inquiredAt = 0;
  #isStopped: boolean = false;

  constructor(services: DeliveryServices) {
    this.#services = services;
    this.#silence = new Silence(services);
    this.#sendable = new Sendable(services.transport.own, services.limits);
  }

  /** Messages not yet answered, and how many of them are sent. */
  counts(): { readonly unanswered: number; readonly underWay: number } {
    const counts = { unanswered: 0, underWay: 0 };
    for (const { outbox } of this.#senders.values()) {
      counts.unanswered += outbox.size;
      for (const lane of outbox.lanes()) counts.underWay += lane.underWay;
    }
    return counts;
  }

  /** The places from which nobody answers, and what waits for each. */
  waiting(): readonly WaitingPlace[] {
    const lanes = [...this.#senders.values()].flatMap(({ outbox }) => [...outbox.lanes()]);
    return this.#silence.describe(lanes);
  }

  get silentPlaces(): number {
    return this.#silence.size;
  }

  /** Takes back a message that its sender has given up; a copy may arrive all the same. */
  withdraw(from: string, { to, counter }: OutboxRow): void {
    const sender = this.#senders.get(from);
    const lane = sender?.outbox.lane(to);
    if (sender === undefined || lane === undefined) return;
    sender.outbox.settle(to, counter);
    this.#goOn(sender, lane);
  }

  /** Sends what of the lane towards `to` may be under way and is not yet. */
  dispatch(from: string, outbox: Outbox, to: string, owner: DeliveryOwner): void {
    if (this.#isStopped) return;
    const known = this.#senders.get(from);
    // Read again from its record: every later answer goes to the new one.
    if (known !== undefined && known.outbox !== outbox) this.forget(from);
    const sender = known?.outbox === outbox ? known : { from, outbox, owner, isForgotten: false };
    if (sender !== known) this.#senders.set(from, sender);
    const lane = outbox.lane(to);
    if (lane !== undefined) this.#pump(sender, lane);
    this.#dropIdle(sender);
  }

  /** A receipt from another node. */
  receive({ from, counter, to, error }: Receipt): void {
    const sender = this.#senders.get(from);
    const lane = sender?.outbox.lane(to);
    if (sender === undefined || lane === undefined) return;
    this.#answered(
      sender,
      lane,
      counter,
      error === undefined ? undefined : errorFromShape(error, to),
    );
  }

  /** Sends again at once what waits for these places. */
  resend(places: readonly string[]): void {
    for (const sender of [...this.#senders.values()]) {
      for (const lane of [...sender.outbox.lanes()])
        if (places.includes(placeOf(lane.to))) this.#goBack(sender, lane, this.#safe(lane));
    }
  }

  /** Forgets what one sender has under way, before its outbox is read again from the store. */
  forget(from: string): void {
    const sender = this.#senders.get(from);
    if (sender === undefined) return;
    this.#senders.delete(from);
    sender.isForgotten = true;
    for (const lane of sender.outbox.lanes()) lane.cancelRetry?.();
  }

  /** Forgets what all senders of an owner have under way. */
  forgetAllOf(owner: DeliveryOwner): void {
    for (const sender of [...this.#senders.values()])
      if (sender.owner === owner) this.forget(sender.from);
  }

  /** Asks the peers who hosts a place, now and then: what they said may have been lost. */
  inquire(target: string): void {
    const { clock, limits, peers, routes } = this.#services;
    const now = clock.now();
    if (routes.to(target) === 'here' || now - this.#inquiredAt < limits.retryMinMs) return;
    this.#inquiredAt = now;
    peers.inquire();
  }

  stop(): void {
    this.#isStopped = true;
    for (const from of [...this.#senders.keys()]) this.forget(from);
  }

  /** Sends on where the lane stands, as far as it may. */
  #pump(sender: Sender, lane: Lane): void {
    const { outbox } = sender;
    const mayGoOn = lane.underWay < Math.min(lane.rows.length, UNDER_WAY_MAX.value);
    // So it is after most receipts: nothing to send, and whether the rest is answered is looked at.
    if (!mayGoOn && lane.cancelRetry !== undefined) return;
    const { routes, mayGoAhead } = this.#services;
    const route = routes.to(placeOf(lane.to));
    while (lane.underWay < Math.min(lane.rows.length, UNDER_WAY_MAX.value)) {
      if (lane.isPaused || lane.refused !== undefined || sender.isForgotten) break;
      const row = lane.rows[lane.underWay] as OutboxRow;
      if (!outbox.isDurable(row.counter) && !(route === 'here' && mayGoAhead)) break;
      if (route === undefined) return void this.#pause(sender, lane);
      const after = lane.before(lane.underWay);
      lane.underWay += 1;
      lane.isHere = route === 'here';
      this.#send(sender, lane, row, after, route);
      // It was not taken ahead of its commit, and is sent again with that.
      if (lane.rows[lane.underWay] === row) return;
    }
    // On this node everything is answered; from elsewhere an answer may never come.
    const mayBeSilent = route !== 'here' && lane.underWay > 0 && !sender.isForgotten;
    if (mayBeSilent && lane.cancelRetry === undefined) this.#arm(sender, lane);
  }

  #send(sender: Sender, lane: Lane, row: OutboxRow, after: number, route: Route): void {
    const { from } = sender;
    const { counter, event, text } = row;
    const refusal = this.#sendable.refusalOf(event, text, route === 'here');
    if (refusal !== undefined) {
      this.#answered(sender, lane, counter, refusal);
    } else if (route === 'here') {
      const settle = (error?: Error) =>
        this.#answered(sender, lane, counter, error as RuntimeError | undefined);
      const { metrics, accept, mayGoAhead } = this.#services;
      const origin = mayGoAhead ? sender.outbox : undefined;
      metrics.offeredHere += 1;
      accept(row.to, message(event, { from, counter, after, origin, settle }));
    } else {
      this.#services.metrics.messagesSent += 1;
      const { peers, clock } = this.#services;
      peers.sendRow(route.node, from, row, after, ageOf(row, clock.now()));
    }
  }

  #answered(sender: Sender, lane: Lane, counter: number, error: RuntimeError | undefined): void {
    if (this.#isStopped || sender.isForgotten) return;
    const index = lane.indexOf(counter);
    // A message refused for good stays refused, whatever happens to a copy.
    if (index < 0 || lane.isRefused(index)) return;
    const row = lane.rows[index] as OutboxRow;
    if (error !== undefined && !sender.outbox.isDurable(counter)) {
      lane.underWay = Math.min(lane.underWay, index);
      return;
    }
    if (error === undefined || error.code === 'TURN_FAILED') {
      // The pause that was begun is longer than one after an answer.
      const isShorter = lane.attempts > 0 && lane.cancelRetry !== undefined;
      lane.attempts = 0;
      // A mailbox of this node that was full has room now.
      if (lane.isPaused && lane.isHere) this.#endPause(lane);
      else if (isShorter) this.#arm(sender, lane);
      lane.refusal = undefined;
      lane.kindRefusals = 0;
      this.#silence.answered(placeOf(lane.to));
      if (lane.cancelRetry !== undefined) lane.progressedAt = this.#services.clock.now();
      sender.owner.taken(sender.from, row, error);
    } else if (lane.isRetried(index, error)) {
      this.#refusedForNow(sender, lane, index, error);
      return;
    } else {
      this.#refusedForGood(sender, lane, row, error);
    }
    this.#goOn(sender, lane);
  }

  #refusedForGood(sender: Sender, lane: Lane, row: OutboxRow, error: RuntimeError): void {
    lane.refuse(row.counter);
    sender.owner.refused(sender.from, row, error, () => {
      lane.noted(row.counter);
      if (!sender.isForgotten) this.#goOn(sender, lane);
    });
  }

  /** The lane stands at the refused row again. */
  #refusedForNow(sender: Sender, lane: Lane, index: number, error: RuntimeError): void {
    if (index >= lane.underWay) return;
    lane.refusal = error;
    if (error.code === 'KIND_UNKNOWN') lane.kindRefusals += 1;
    const isEarly = error.code === 'MESSAGE_EARLY';
    if (isEarly && index === 0) {
      // What it waited for has been settled since.
      this.#goBack(sender, lane, 0);
      return;
    }
    this.#services.metrics.messagesResent += lane.underWay - index;
    lane.underWay = index;
    // What it waits for was refused: it goes on as soon as that is noted.
    if (!isEarly || !lane.isRefused(index - 1)) this.#pause(sender, lane);
  }

  #endPause(lane: Lane): void {
    lane.cancelRetry?.();
    lane.cancelRetry = undefined;
    lane.isPaused = false;
  }

  #goBack(sender: Sender, lane: Lane, index: number): void {
    this.#endPause(lane);
    this.#services.metrics.messagesResent += Math.max(0, lane.underWay - index);
    lane.underWay = Math.min(lane.underWay, index);
    this.#pump(sender, lane);
  }

  #goOn(sender: Sender, lane: Lane): void {
    // The owner may have read its outbox again meanwhile; then everything has been sent again.
    if (sender.isForgotten) return;
    if (lane.rows.length > 0) {
      this.#pump(sender, lane);
      return;
    }
    lane.cancelRetry?.();
    lane.cancelRetry = undefined;
    this.#dropIdle(sender);
  }

  #dropIdle(sender: Sender): void {
    if (sender.outbox.size === 0 && !sender.isForgotten) this.#senders.delete(sender.from);
  }

  #pause(sender: Sender, lane: Lane): void {
    lane.isPaused = true;
    if (lane.cancelRetry === undefined) this.#arm(sender, lane);
  }

  #arm(sender: Sender, lane: Lane, since: number = this.#services.clock.now()): void {
    const { clock, limits, random } = this.#services;
    lane.cancelRetry?.();
    lane.progressedAt = undefined;
    const at = since + jitteredPauseMs(lane.attempts + 1, limits, random);
    lane.cancelRetry = clock.schedule(at, () => this.#retry(sender, lane));
  }

  #retry(sender: Sender, lane: Lane): void {
    lane.cancelRetry = undefined;
    if (!lane.isPaused && lane.progressedAt !== undefined) {
      // A receiver that answers has the whole pause for the next answer too.
      if (lane.underWay > 0) this.#arm(sender, lane, lane.progressedAt);
      return;
    }
    lane.attempts += 1;
    this.#silence.tried(lane);
    this.inquire(placeOf(lane.to));
    this.#goBack(sender, lane, lane.progressedAt === undefined ? this.#safe(lane) : lane.underWay);
  }

  /** Number of rows that need no other copy: here they wait in a mailbox, and `Shard.#owesNothing` relies on it. */
  #safe({ isHere, underWay }: Lane): number {
    return isHere && this.#services.isHosting() ? underWay : 0;
  }
}
