/**
 * The actors of a place, on the node that hosts them: who is in memory, who has
 * something to take, and when.
 *
 * Turns are taken in batches between two turns of the event loop, one item of one
 * actor at a time and round robin, so nobody starves. The lease is checked before
 * every batch. What the store refuses is forgotten here and read again from it.
 */

import { type Actor, unborn } from './actor.ts';
import { kindOf, placeOf } from './address.ts';
import type { Clock } from './clock.ts';
import { type CommitListener, Commits, type Group } from './commit.ts';
import { messageOf, RuntimeError } from './errors.ts';
import type { Inspection } from './inspection.ts';
import type { Kind } from './kind.ts';
import { LiveActors } from './live-actors.ts';
import { SPAWN_EVENT } from './machine.ts';
import type { Item, Mailbox, Message } from './mailbox.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import type { Random } from './random.ts';
import { decodeRecord } from './record.ts';
import type { Store } from './store.ts';
import { Deadlines } from './timers.ts';
import { type Turn, Turns } from './turn.ts';

export interface ShardServices {
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly inspection: Inspection;
}

/** What the shard tells the rest of the node. */
export interface ShardListener {
  /** A turn is durable: what it asked for may leave. */
  released(turn: Turn): void;
  /** An actor came into memory with messages, effects or children under way. */
  resumed(actor: Actor): void;
  /** A group was refused; `actors` are about to be read again. */
  refused(refusal: Error, addresses: readonly string[]): void;
  /** The store has a newer holder of this place. */
  deposed(refusal: Error): void;
}

/** Turns between two looks at the time a batch has taken. */
const TURNS_PER_LOOK = 32;

export class Shard implements CommitListener {
  readonly kinds = new Map<string, Kind>();
  readonly live: LiveActors;
  readonly #services: ShardServices;
  readonly #listener: ShardListener;
  readonly #commits: Commits;
  readonly #turns: Turns;
  readonly #deadlines: Deadlines;
  readonly #dirty = new Set<Actor>();
  #ready: Actor[] = [];
  /** Actors of kinds that are not registered yet and have something due or under way. */
  readonly #parked = new Map<string, Set<string>>();
  #isHosting = false;
  #isHeld: () => boolean = () => false;
  #isPumpPlanned = false;
  #refusals = 0;
  #lastAt = 0;

  constructor(services: ShardServices, listener: ShardListener) {
    const { clock, limits, store, place, random } = services;
    this.#services = services;
    this.#listener = listener;
    this.live = new LiveActors(limits.liveActorsMax);
    this.#commits = new Commits(store, place, this);
    this.#turns = new Turns(
      place,
      limits,
      this.#commits,
      () => random.id(),
      () => services.inspection.hasReaders,
    );
    this.#deadlines = new Deadlines(clock, (address) => this.#due(address));
  }

  get isHosting(): boolean {
    return this.#isHosting;
  }

  get fence(): number {
    return this.#commits.fence;
  }

  /** True when nothing waits to be taken or written. */
  get isQuiet(): boolean {
    return (
      this.#ready.length === 0 &&
      this.#dirty.size === 0 &&
      !this.#commits.isBusy &&
      this.#commits.filling.isEmpty
    );
  }

  /** Begins to host: raises the fence in its first commit, plans every deadline, wakes what was under way. */
  open(fence: number, isHeld: () => boolean): void {
    this.#commits.fence = fence;
    this.#isHeld = isHeld;
    this.#isHosting = true;
    this.#commits.claim();
    const { place, store, limits } = this.#services;
    for (const [address, entry] of store.entries()) {
      if (placeOf(address) !== place) continue;
      const dueAt =
        entry.status === 'active' ? entry.dueAt : entry.turnAt + limits.endedRetentionMs;
      if (dueAt !== null) this.#deadlines.set(this.#deadlines.open(address), dueAt);
      const kind = this.kinds.get(entry.kind);
      const isWanted =
        entry.isPending || (kind?.wantsLeadership === true && entry.status === 'active');
      if (isWanted) this.#wake(address);
    }
  }

  /** Stops hosting at once; nothing that was not settled leaves. */
  close(): void {
    this.#isHosting = false;
    this.#deadlines.stop();
    for (const group of this.#commits.drop())
      this.#settleAll(group, notHosted(this.#services.place));
    for (const actor of this.live)
      this.#refuseWaiting(actor.mailbox, notHosted(this.#services.place));
    this.live.clear();
    this.#dirty.clear();
    this.#ready = [];
  }

  register(kind: Kind): void {
    if (this.kinds.has(kind.name)) {
      throw new RuntimeError('KIND_EXISTS', `Kind "${kind.name}" is registered already.`);
    }
    this.kinds.set(kind.name, kind);
    if (!this.#isHosting) return;
    const waiting = this.#parked.get(kind.name) ?? [];
    this.#parked.delete(kind.name);
    for (const address of waiting) this.#wake(address);
    if (kind.wantsLeadership) this.#wakeAll(kind.name);
  }

  /** Puts a message into the actor's mailbox, or settles it with the reason why not. One from inside is `isTrusted`. */
  accept(address: string, message: Message, isTrusted = false): void {
    try {
      const actor = this.#expect(address, message);
      if (!isTrusted) actor.kind.checkEvent(message.event, address);
      const { mailboxMax } = this.#services.limits;
      if (actor.mailbox.size >= mailboxMax) {
        const what = `The mailbox of ${address} is full (${mailboxMax} messages waiting). Slow the sender down or raise mailboxMax.`;
        throw new RuntimeError('MAILBOX_FULL', what, { address });
      }
      this.#enqueue(actor, message);
    } catch (thrown) {
      message.settle?.(thrown as Error);
    }
  }

  /** Puts something of the runtime's own into the mailbox. */
  notify(address: string, item: Exclude<Item, Message>): void {
    const actor = this.find(address);
    if (actor !== undefined) this.#enqueue(actor, item);
  }

  /** The actor, read from the store if need be. @throws {RuntimeError} KIND_UNKNOWN, RECORD_NEWER, RECORD_INVALID */
  find(address: string): Actor | undefined {
    const live = this.live.get(address);
    if (live !== undefined) return live;
    const text = this.#services.store.load(address);
    if (text === undefined) return undefined;
    const actor = decodeRecord(this.#kind(address), address, text);
    this.live.add(actor);
    this.#begin(actor);
    return actor;
  }

  /** Bookkeeping changed: it is written with the actor's next turn, or when nothing else is to do. */
  touch(actor: Actor): void {
    actor.isDirty = true;
    this.#dirty.add(actor);
    this.#plan();
  }

  /** Writes bookkeeping and an undelivered message now. */
  giveUp(actor: Actor, undelivered: readonly [id: string, row: string]): void {
    this.#turns.write(actor, undelivered);
    this.#plan();
  }

  /** Takes an undelivered message off the list; resolves when that is durable. */
  dropUndelivered(id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#commits.filling.dropUndelivered.push({ id, settle });
      this.#plan();
    });
  }

  released(group: Group): void {
    this.#refusals = 0;
    for (const { settle } of group.dropUndelivered) settle();
    for (const turn of group.turns) {
      if (turn.snapshot !== undefined) turn.actor.committed = turn.snapshot;
      this.#listener.released(turn);
    }
    this.#plan();
  }

  refused(groups: readonly Group[], refusal: Error): void {
    if ((refusal as Partial<RuntimeError>).code === 'FENCE_STALE') {
      for (const group of groups) this.#settleAll(group, refusal);
      this.#listener.deposed(refusal);
      return;
    }
    const actors = new Set(groups.flatMap((group) => [...group.writes.keys()]));
    const what = `The store refused the commit: ${messageOf(refusal)} Nothing of it happened; send again.`;
    const error = new RuntimeError('COMMIT_REFUSED', what, { cause: refusal });
    this.#services.logger.warn(
      { actors: actors.size, refusal: messageOf(refusal) },
      'commit refused',
    );
    this.#listener.refused(
      refusal,
      [...actors].map(({ address }) => address),
    );
    for (const actor of actors) this.#forget(actor);
    for (const group of groups) this.#settleAll(group, error);
    this.#refusals += 1;
  }

  /** Counts for tests, metrics and people. */
  counts(): { readonly live: number; readonly deadlines: number; readonly ready: number } {
    return { live: this.live.size, deadlines: this.#deadlines.size, ready: this.#ready.length };
  }

  #kind(address: string): Kind {
    const name = kindOf(address);
    const kind = this.kinds.get(name);
    if (kind !== undefined) return kind;
    const known = [...this.kinds.keys()].join(', ') || 'none';
    throw new RuntimeError(
      'KIND_UNKNOWN',
      `No kind "${name}" is registered here (registered: ${known}).`,
      { address },
    );
  }

  /** The actor a message is for; an unborn one when the message gives birth. */
  #expect(address: string, message: Message): Actor {
    if (!this.#isHosting) throw notHosted(this.#services.place);
    const isBirth = message.event.type === SPAWN_EVENT;
    let actor = this.find(address);
    if (actor === undefined) {
      const kind = this.#kind(address);
      if (!isBirth)
        throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
      actor = unborn(address, kind);
      this.live.add(actor);
    }
    return actor;
  }

  /** What an actor needs once it is in memory. */
  #begin(actor: Actor): void {
    this.#planDeadline(actor);
    if (actor.status !== 'active') return;
    if (actor.kind.wantsLeadership && actor.term < this.fence) {
      actor.mailbox.pushFirst({ type: 'takeover', fence: this.fence });
      this.#makeReady(actor);
    }
    const isUnderWay =
      actor.outbox.size > 0 || actor.effects.length > 0 || actor.tree?.hasChildren === true;
    if (isUnderWay) this.#listener.resumed(actor);
  }

  #enqueue(actor: Actor, item: Item): void {
    actor.mailbox.push(item);
    this.#makeReady(actor);
  }

  #makeReady(actor: Actor): void {
    if (!actor.isReady) {
      actor.isReady = true;
      this.#ready.push(actor);
    }
    this.#plan();
  }

  #plan(): void {
    if (this.#isPumpPlanned || !this.#isHosting) return;
    this.#isPumpPlanned = true;
    if (this.#refusals > 1) this.#pause();
    else queueMicrotask(this.#pump);
  }

  /** A store that goes on refusing is asked again after growing pauses. */
  #pause(): void {
    const { clock, limits } = this.#services;
    const pauseMs = Math.min(
      limits.retryMaxMs,
      limits.retryMinMs * 2 ** Math.min(this.#refusals - 2, 16),
    );
    clock.schedule(clock.now() + pauseMs, this.#pump);
  }

  readonly #pump = (): void => {
    this.#isPumpPlanned = false;
    if (!this.#isHosting) return;
    if (!this.#isHeld()) {
      this.#listener.deposed(new RuntimeError('NOT_HOSTED', 'The lease is over.'));
      return;
    }
    const isUnfinished = this.#takeTurns();
    if (!isUnfinished && this.#dirty.size > 0) {
      for (const actor of this.#dirty) if (actor.isDirty) this.#turns.write(actor);
      this.#dirty.clear();
    }
    this.#commits.flush();
    if (!isUnfinished) return;
    // Pending I/O has its turn before the next batch.
    this.#isPumpPlanned = true;
    this.#services.clock.defer(this.#pump);
  };

  /** Takes items until nobody has one, the group is full, or the slice is over: then true. */
  #takeTurns(): boolean {
    const { clock, limits } = this.#services;
    const endsAt = clock.now() + limits.sliceMs;
    let taken = 0;
    while (taken < this.#ready.length) {
      if (this.#commits.filling.turns.length >= limits.groupTurnsMax) {
        this.#commits.flush();
        if (this.#commits.filling.turns.length >= limits.groupTurnsMax) break;
      }
      const at = this.#stamp();
      if (taken % TURNS_PER_LOOK === 0 && at > endsAt) break;
      const actor = this.#ready[taken] as Actor;
      taken += 1;
      this.#takeNext(actor, at);
    }
    const isFinished = taken === this.#ready.length;
    if (isFinished) this.#ready.length = 0;
    else this.#ready.splice(0, taken);
    // A full group waits for the one before; its release plans the next batch.
    return !isFinished && this.#commits.filling.turns.length < limits.groupTurnsMax;
  }

  #takeNext(actor: Actor, at: number): void {
    const item = actor.mailbox.shift();
    actor.isReady = false;
    if (item === undefined) return;
    const next =
      actor.kind.timersFirst && item.type === 'message' ? actor.timers.nextDueAt() : null;
    if (next !== null && next <= at) {
      actor.mailbox.pushFirst(item);
      this.#turns.take(actor, { type: 'timersDue' }, at);
    } else {
      this.#turns.take(actor, item, at);
    }
    if (actor.status === 'unborn') {
      if (actor.mailbox.size === 0) this.live.delete(actor.address);
    } else {
      this.#planDeadline(actor);
    }
    if (actor.mailbox.size > 0) {
      actor.isReady = true;
      this.#ready.push(actor);
    }
  }

  /** The time of a turn: this node's, and never lower than that of the turn before. */
  #stamp(): number {
    const now = this.#services.clock.now();
    if (now > this.#lastAt) this.#lastAt = now;
    return this.#lastAt;
  }

  #planDeadline(actor: Actor): void {
    const dueAt =
      actor.status === 'active'
        ? actor.timers.nextDueAt()
        : actor.at + this.#services.limits.endedRetentionMs;
    if (dueAt !== null) {
      actor.deadline ??= this.#deadlines.open(actor.address);
      if (this.#deadlines.dueAt(actor.deadline) !== dueAt)
        this.#deadlines.set(actor.deadline, dueAt);
    } else if (actor.deadline !== undefined) {
      this.#deadlines.clear(actor.deadline);
    }
  }

  #due(address: string): void {
    if (!this.#isHosting) return;
    if (!this.kinds.has(kindOf(address))) {
      this.#park(address);
      return;
    }
    try {
      const actor = this.find(address);
      if (actor === undefined) return;
      if (actor.status === 'active') this.#enqueue(actor, { type: 'timersDue' });
      else this.#remove(actor);
    } catch (thrown) {
      this.#services.logger.error(
        { address, error: messageOf(thrown) },
        'a deadline has come for an actor that cannot be read',
      );
    }
  }

  /** Forgets an ended actor for good. */
  #remove(actor: Actor): void {
    if (actor.mailbox.size > 0 || actor.group !== undefined) {
      this.#planDeadline(actor);
      return;
    }
    this.#commits.filling.add(actor, null, undefined);
    this.live.delete(actor.address);
    if (actor.deadline !== undefined) this.#deadlines.close(actor.deadline);
    this.#plan();
  }

  #wake(address: string): void {
    if (!this.kinds.has(kindOf(address))) {
      this.#park(address);
      return;
    }
    try {
      this.find(address);
      if ((this.#deadlines.find(address) ?? undefined) === undefined) return;
    } catch (thrown) {
      this.#services.logger.error({ address, error: messageOf(thrown) }, 'an actor cannot be read');
    }
  }

  #wakeAll(kind: string): void {
    let after: string | undefined;
    do {
      const page = this.#services.store.query({
        kind,
        status: 'active',
        limit: 1_000,
        ...(after === undefined ? {} : { after }),
      });
      for (const [address] of page.rows) this.#wake(address);
      after = page.cursor;
    } while (after !== undefined);
  }

  #park(address: string): void {
    const name = kindOf(address);
    const parked = this.#parked.get(name) ?? new Set<string>();
    this.#parked.set(name, parked.add(address));
  }

  /** Starts again from the stored record; what still waited goes on waiting. */
  #forget(actor: Actor): void {
    this.live.delete(actor.address);
    this.#dirty.delete(actor);
    if (actor.deadline !== undefined) this.#deadlines.clear(actor.deadline);
    const fresh = this.find(actor.address);
    if (fresh !== undefined) fresh.runningChildren = actor.runningChildren;
    for (const item of actor.mailbox) {
      if (item.type === 'message') this.accept(actor.address, item);
      else if (item.type === 'childSettled' && fresh !== undefined) this.#enqueue(fresh, item);
    }
  }

  #settleAll(group: Group, error: Error): void {
    for (const { item } of group.turns) if (item?.type === 'message') item.settle?.(error);
    for (const { settle } of group.dropUndelivered) settle(error);
  }

  #refuseWaiting(mailbox: Mailbox, error: Error): void {
    for (const item of mailbox) if (item.type === 'message') item.settle?.(error);
  }
}

function notHosted(place: string): RuntimeError {
  return new RuntimeError(
    'NOT_HOSTED',
    `This node does not host "${place}" now. Send again; the place may have moved.`,
  );
}
