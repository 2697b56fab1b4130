/**
 * Population of a shard: the actors of its place that are in memory, their ways in and out, and the deadline of each.
 *
 * Guarantees: an actor is in memory at most once; it is read from its record when it is needed, and an ended one is
 * removed for good only when nobody can take a new life for the old one. A node that does not host the place may look at
 * a record, and keeps nothing.
 */

import {
  type Actor,
  checkDeadlines,
  Deadlines,
  decodeRecord,
  isIdle,
  type Kind,
  Kinds,
  LiveActors,
} from '../actor.ts';
import { placeOf } from '../base/address.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import { knob } from '../base/knob.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { tablesOf } from '../statechart.ts';

export interface PopulationServices {
  readonly place: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The shard, as its population knows it. */
export interface PopulationHost {
  readonly fence: number;
  /** Actors that are ready because of a deadline. */
  readonly dueSize: number;
  /** An actor has something to do. */
  ready(actor: Actor): void;
  /** An actor came into memory with messages, effects or children under way. */
  resumed(actor: Actor): void;
  /** The record of an ended actor goes. */
  remove(actor: Actor): void;
}

/** Actors that are due and begin between two commits, however many others have something to do. */
const DUE_AT_ONCE = knob('dueAtOnce', 256);

export class Population {
  readonly live: LiveActors;
  readonly kinds = new Kinds();
  readonly deadlines: Deadlines;
  isHosting = false;
  readonly #services: PopulationServices;
  readonly #host: PopulationHost;

  constructor(services: PopulationServices, host: PopulationHost) {
    const { clock, limits } = services;
    this.#services = services;
    this.#host = host;
    this.live = new LiveActors(limits.liveActorsMax);
    // After a long absence everybody may be due at once: not all of them need to be in memory for that.
    this.deadlines = new Deadlines(
      clock,
      (address) => this.#due(address),
      (reported) => reported < DUE_AT_ONCE.value || host.dueSize < limits.liveActorsMax,
    );
  }

  /** Plans every deadline, and wakes what was under way. */
  wakeAll(): void {
    const { place, store, limits } = this.#services;
    for (const [address, entry] of store.entries()) {
      if (placeOf(address) !== place) continue;
      const isActive = entry.status === 'active';
      const dueAt = isActive ? entry.dueAt : entry.turnAt + limits.endedRetentionMs;
      if (dueAt !== null) this.deadlines.set(this.deadlines.open(address), dueAt);
      if (entry.isPending || (isActive && this.kinds.wantsLeadership(entry.kind)))
        this.#wake(address);
    }
  }

  /** @throws {RuntimeError} KIND_EXISTS */
  register(kind: Kind): void {
    const parked = this.kinds.add(kind);
    if (!this.isHosting) return;
    for (const address of parked) this.#wake(address);
    if (!kind.wantsLeadership) return;
    const { place, store } = this.#services;
    for (const [address, entry] of store.entries()) {
      if (entry.kind === kind.name && entry.status === 'active' && placeOf(address) === place)
        this.#wake(address);
    }
  }

  /** @throws {RuntimeError} KIND_UNKNOWN */
  kindOf(address: string): Kind {
    return this.live.get(address)?.kind ?? this.kinds.of(address);
  }

  /** The actor, read from the store if need be. @throws {RuntimeError} KIND_UNKNOWN, RECORD_NEWER, RECORD_INVALID */
  find(address: string): Actor | undefined {
    const live = this.live.get(address);
    if (live !== undefined) return live;
    const { store } = this.#services;
    const text = store.load(address);
    if (text === undefined) return undefined;
    const kind = this.kinds.of(address);
    const actor = decodeRecord(kind, address, text, () => tablesOf(store.rows(address)));
    checkDeadlines(actor);
    // A node that does not host it may look at it, and keeps nothing that another node goes on
    // with.
    if (!this.isHosting) return actor;
    this.#services.metrics.hydrations += 1;
    this.enter(actor);
    this.planDeadline(actor);
    if (actor.status === 'active' && actor.kind.wantsLeadership && actor.term < this.#host.fence) {
      actor.mailbox.pushFirst({ type: 'takeover', fence: this.#host.fence });
      this.#host.ready(actor);
    }
    // Also of an ended one: what it said last is still to be delivered.
    if (actor.outbox.size > 0 || actor.effects.length > 0 || actor.tree?.hasChildren === true)
      this.#host.resumed(actor);
    return actor;
  }

  /** Finds as `find` does; an actor that cannot be read is reported and left alone. */
  tryFind(address: string): Actor | undefined {
    try {
      return this.find(address);
    } catch (thrown) {
      this.#services.logger.error(
        { address, error: messageOf(thrown) },
        'an actor cannot be read from its record',
      );
      return undefined;
    }
  }

  enter(actor: Actor): void {
    this.#services.metrics.entered += 1;
    this.live.add(actor);
  }

  leave(address: string): void {
    const before = this.live.size;
    this.live.delete(address);
    this.#services.metrics.left += before - this.live.size;
  }

  planDeadline(actor: Actor): void {
    const isActive = actor.status === 'active';
    const dueAt = isActive ? actor.timers.nextDueAt() : this.#forgetAt(actor);
    if (dueAt !== null) {
      actor.deadline ??= this.deadlines.open(actor.address);
      if (this.deadlines.dueAt(actor.deadline) !== dueAt) this.deadlines.set(actor.deadline, dueAt);
    } else if (actor.deadline !== undefined) {
      this.deadlines.clear(actor.deadline);
    }
  }

  /** A deadline has come: of an active actor, or the end of the time an ended one is kept. */
  #due(address: string): void {
    if (!this.isHosting || this.kinds.park(address)) return;
    const actor = this.tryFind(address);
    if (actor?.status === 'active') {
      actor.mailbox.push({ type: 'timersDue' });
      this.#host.ready(actor);
    } else if (actor !== undefined) {
      this.#remove(actor);
    }
  }

  /**
   * Time when an ended actor may be forgotten. One that has sent something stays until its receivers have
   * forgotten it: a new life would use its numbers again, and they would take it for the old one.
   */
  #forgetAt({ at, outbox }: Actor): number {
    const { endedRetentionMs, dedupRetentionMs } = this.#services.limits;
    return (
      at + (outbox.counter > 0 ? Math.max(endedRetentionMs, dedupRetentionMs) : endedRetentionMs)
    );
  }

  /** Forgets an ended actor for good. */
  #remove(actor: Actor): void {
    const { clock, limits } = this.#services;
    const forgetAt = this.#forgetAt(actor);
    if (!isIdle(actor) || forgetAt > clock.now()) {
      // What it said or asked for last may still be under way: look again later.
      actor.deadline ??= this.deadlines.open(actor.address);
      this.deadlines.set(actor.deadline, Math.max(forgetAt, clock.now() + limits.retryMaxMs));
      return;
    }
    this.#host.remove(actor);
    this.leave(actor.address);
    if (actor.deadline !== undefined) this.deadlines.close(actor.deadline);
  }

  /** Brings an actor into memory that has something under way, or waits for its kind. */
  #wake(address: string): void {
    if (!this.kinds.park(address)) this.tryFind(address);
  }
}

export function notHosted(place: string, cause?: Error): RuntimeError {
  const what = `This node does not host "${place}" now. Send again; the place may have moved.`;
  return new RuntimeError('NOT_HOSTED', what, { cause });
}
