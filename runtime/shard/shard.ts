/**
 * Shard: the actors of a place on the node that hosts it, their turns and their commits.
 *
 * Guarantees: nothing reaches an actor that its kind does not know (entrance); it is in memory at most once
 * (population). The lease is checked before every batch of turns. What the store refuses is forgotten here and read
 * again from it.
 */

import {
  type Actor,
  type CommitListener,
  Commits,
  ContextLosses,
  type ContextLossServices,
  type Group,
  type Item,
  type Kind,
  type Message,
  noteCommitted,
  type OutboxRow,
  refuseItem,
  type Turn,
} from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { ProvedPeer } from '../ports/transport.ts';
import { CommitRetries } from './commit-retries.ts';
import { Bookkeeping } from './deferred-writes.ts';
import { type Checks, Entrance } from './entrance.ts';
import { LocalSenders } from './local-senders.ts';
import { notHosted, Population } from './population.ts';
import { Batches } from './run-loop.ts';
import { Turns } from './turn.ts';

export interface ShardServices extends ContextLossServices {
  readonly node: string;
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly inspection: Inspection;
  readonly metrics: Metrics;
  /** See `NodePorts`. */
  readonly attend?: ((inspection: Inspection) => void) | undefined;
}

/** News that the shard has for the rest of the node. */
export interface ShardListener {
  /** A turn that is not durable yet has sent messages: actors of this place may take them. */
  sent(actor: Actor, rows: readonly OutboxRow[]): void;
  /** A turn is durable: what it asked for may leave. */
  released(turn: Turn): void;
  /** An actor came into memory with messages, effects or children under way. */
  resumed(actor: Actor): void;
  /** A group is durable. */
  committed(): void;
  /** A group was refused; the actors are about to be read again. */
  refused(refusal: Error, addresses: readonly string[]): void;
  /** The store or the lease says that this node does not host the place any more. */
  deposed(refusal: Error): void;
  /** The store has failed: what it did with the last group is not known. */
  failed(failure: Error): void;
}

export class Shard implements CommitListener {
  readonly #services: ShardServices;
  readonly #listener: ShardListener;
  readonly #population: Population;
  readonly #entrance: Entrance;
  readonly #commits: Commits;
  readonly #retries: CommitRetries;
  readonly #turns: Turns;
  readonly #batches: Batches;
  readonly #bookkeeping: Bookkeeping;
  #isHeld: () => boolean = () => false;
  /** Callback once the place is hosted; set from the claim until then. */
  #opened: (() => void) | undefined;

  constructor(services: ShardServices, listener: ShardListener) {
    const { node, clock, limits, store, place, random, inspection, metrics } = services;
    this.#services = services;
    this.#listener = listener;
    this.#commits = new Commits(store, place, this, clock, metrics);
    this.#retries = new CommitRetries({ clock, limits, claim: () => this.#commits.claim() });
    const ready = (actor: Actor): void => this.#batches.add(actor);
    const shard = this;
    this.#population = new Population(services, {
      get fence() {
        return shard.fence;
      },
      get dueSize() {
        return shard.#batches.dueSize;
      },
      ready,
      resumed: (actor) => listener.resumed(actor),
      remove: (actor) => {
        this.#commits.filling.add(actor, null, undefined);
        this.#batches.plan();
      },
    });
    const population = this.#population;
    this.#entrance = new Entrance({ place, limits, metrics, population, ready });
    const senders = new LocalSenders({ place, live: population.live, store });
    this.#turns = new Turns({
      node,
      place,
      limits,
      commits: this.#commits,
      random,
      inspection,
      metrics,
      contexts: new ContextLosses(services),
      logger: services.logger,
      asked: (question) => this.#listener.released(question),
      sent: (actor, rows) => this.#listener.sent(actor, rows),
      taken: (message) => this.#taken(message),
      isSameLife: (sender, at) => senders.isSameLife(sender, at),
      owesNothing: (sender, to) => senders.owesNothing(sender, to),
    });
    this.#bookkeeping = new Bookkeeping(population.live, this.#turns);
    this.#batches = new Batches(clock, limits, this.#commits, {
      mayBegin: () => this.#mayBegin(),
      takeNext: (actor, at) => this.#takeNext(actor, at),
      idle: () => {
        this.deadlines.resume();
        this.#bookkeeping.write();
      },
      paused: () => {
        if (this.#bookkeeping.isOverdue) this.#bookkeeping.write();
      },
    });
  }

  get live(): Population['live'] {
    return this.#population.live;
  }

  get kinds(): Population['kinds'] {
    return this.#population.kinds;
  }

  get deadlines(): Population['deadlines'] {
    return this.#population.deadlines;
  }

  get isHosting(): boolean {
    return this.#population.isHosting;
  }

  get fence(): number {
    return this.#commits.fence;
  }

  /** True if the lease too says that the place is hosted here. Where it is over, the next batch is told, and soon. */
  stillHosts(): boolean {
    if (this.isHosting && this.#isHeld()) return true;
    this.#batches.plan();
    return false;
  }

  /** True when nothing waits to be taken or written. */
  get isQuiet(): boolean {
    return this.#batches.size === 0 && this.#bookkeeping.isEmpty && this.#commits.isQuiet;
  }

  /** True from `open` until the fence is raised: the place is ours, and not hosted yet. */
  get isOpening(): boolean {
    return this.#opened !== undefined;
  }

  /**
   * Begins to host: raises the fence in its first commit, plans every deadline, wakes what was
   * under way, and says so. Nothing is read before that commit is settled: until then an earlier
   * holder's last one may still arrive.
   */
  open(fence: number, isHeld: () => boolean, opened: () => void): void {
    this.#commits.fence = fence;
    this.#isHeld = isHeld;
    this.#opened = opened;
    this.#retries.begin();
  }

  #host(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#population.isHosting = true;
    this.#population.wakeAll();
    opened?.();
  }

  /** Stops hosting at once; nothing that was not settled leaves. */
  close(): void {
    const refusal = notHosted(this.#services.place);
    this.#population.isHosting = false;
    this.#opened = undefined;
    this.#retries.end();
    this.deadlines.stop();
    for (const group of this.#commits.drop()) group.refuse(refusal);
    for (const { mailbox } of this.live) {
      for (const item of mailbox) refuseItem(item, refusal);
    }
    this.#services.metrics.left += this.live.size;
    this.live.clear();
    this.#bookkeeping.clear();
    this.#batches.clear();
  }

  /** @throws {RuntimeError} KIND_EXISTS */
  register(kind: Kind): void {
    this.#population.register(kind);
  }

  /** Puts a message into the actor's mailbox, or settles it with the reason why not. `peer`: who handed it over, where that is proved. */
  accept(address: string, message: Message, checks: Checks = 'event', peer?: ProvedPeer): void {
    this.#entrance.accept(address, message, checks, peer);
  }

  /** Puts something of the runtime's own into the mailbox. */
  notify(address: string, item: Exclude<Item, Message>): void {
    if (!this.isHosting) return;
    const actor = this.#population.tryFind(address);
    if (actor === undefined) return;
    actor.mailbox.push(item);
    this.#batches.add(actor);
  }

  /** The actor, read from the store if need be. @throws {RuntimeError} KIND_UNKNOWN, RECORD_NEWER, RECORD_INVALID */
  find(address: string): Actor | undefined {
    return this.#population.find(address);
  }

  /** Bookkeeping changed: it is written with the actor's next turn, or when nothing else is to do. */
  touch(actor: Actor): void {
    this.#bookkeeping.touch(actor);
    this.#batches.plan();
  }

  /** A message of `sender` to `to` was taken. One that has ended is kept from then on: see `#forgetAt`. */
  settled(sender: Actor, to: string): void {
    if (sender.status !== 'active') sender.at = Math.max(sender.at, this.#services.clock.now());
    this.#bookkeeping.settled(sender, to);
    this.#batches.plan();
  }

  /** Writes bookkeeping, mostly together with an undelivered message; `noted` when it is durable. */
  giveUp(
    actor: Actor,
    undelivered: readonly [id: string, row: string] | undefined,
    noted: (() => void) | undefined,
  ): void {
    const { attend, inspection } = this.#services;
    attend?.(inspection);
    this.#turns.write(actor, undelivered);
    if (noted !== undefined) this.#commits.filling.whenDurable.push(noted);
    this.#batches.plan();
  }

  /** Takes an undelivered message off the list; resolves when that is durable. */
  dropUndelivered(id: string): Promise<void> {
    if (!this.isHosting) return Promise.reject(notHosted(this.#services.place));
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#commits.filling.dropUndelivered.push({ id, settle });
      this.#batches.plan();
    });
  }

  released(group: Group): void {
    this.#batches.committed(false);
    this.#retries.endProbing();
    this.#listener.committed();
    if (group.isClaim && this.isOpening) {
      this.#host();
      return;
    }
    const { inspection } = this.#services;
    if (inspection.hasReaders)
      inspection.tell({ type: 'commit', turns: group.turns.length, records: group.writes.length });
    this.deadlines.resume();
    for (const { settle } of group.dropUndelivered) settle();
    for (const noted of group.whenDurable) noted();
    for (const turn of group.turns) {
      if (turn.snapshot !== undefined) noteCommitted(turn);
      this.#listener.released(turn);
    }
    this.#batches.plan();
  }

  refused(groups: readonly Group[], refusal: Error): void {
    const { code } = refusal as Partial<RuntimeError>;
    if (code === 'STORE_FAILED') {
      for (const group of groups) group.refuse(refusal);
      this.#listener.failed(refusal);
      return;
    }
    if (code === 'FENCE_STALE') {
      // The next holder may take it: for its sender this is no reason to give up.
      for (const group of groups) group.refuse(notHosted(this.#services.place, refusal));
      this.#listener.deposed(refusal);
      return;
    }
    this.#batches.committed(true);
    const actors = new Set(groups.flatMap(({ actors, senders }) => [...actors, ...senders]));
    const addresses = [...actors].map(({ address }) => address);
    this.#services.logger.warn(
      { actors: actors.size, refusal: messageOf(refusal) },
      'commit refused',
    );
    this.#listener.refused(refusal, addresses);
    if (this.isOpening) {
      this.#retries.claimLater();
      return;
    }
    for (const actor of actors) this.#forget(actor);
    const what = `The store refused the commit: ${messageOf(refusal)} Nothing of it happened; send again.`;
    for (const group of groups)
      group.refuse(new RuntimeError('COMMIT_REFUSED', what, { cause: refusal }));
    this.#batches.plan();
    if (this.isHosting) this.#retries.probeLater();
  }

  /** Items that an actor takes next: what waits for it, and what its uncommitted turns have taken. */
  *coming(address: string): Iterable<Item> {
    for (const { actor, item } of this.#commits.uncommitted())
      if (actor.address === address) yield item;
    yield* this.live.get(address)?.mailbox ?? [];
  }

  /** Lateness of deadlines at the moment: those that wait, and those taken a short time ago. */
  get latenessMs(): number {
    const { clock, metrics } = this.#services;
    const now = clock.now();
    const waiting = [this.deadlines.nextDueAt(), this.#batches.firstDue?.timers.nextDueAt()];
    const lates = waiting.map((dueAt) => now - (dueAt ?? now));
    return Math.max(0, metrics.recentLateness.at(now), ...lates);
  }

  /** Counts for tests, metrics and people. */
  counts(): { readonly live: number; readonly deadlines: number; readonly ready: number } {
    return { live: this.live.size, deadlines: this.deadlines.size, ready: this.#batches.size };
  }

  #mayBegin(): boolean {
    const { attend, inspection } = this.#services;
    attend?.(inspection);
    if (this.isHosting && !this.#isHeld())
      this.#listener.deposed(new RuntimeError('NOT_HOSTED', 'The lease is over.'));
    return this.isHosting;
  }

  #takeNext(actor: Actor, at: number): boolean {
    const { mailbox, kind } = actor;
    const item = mailbox.shift();
    if (item === undefined) return false;
    const isMessage = item.type === 'message' || item.type === 'refusal';
    const mayFire = item.type === 'timersDue' || (kind.timersFirst && isMessage);
    const dueAt = mayFire ? actor.timers.nextDueAt() : null;
    if (dueAt !== null && dueAt <= at) {
      this.#services.metrics.timerFired(at - dueAt, at);
      if (isMessage) mailbox.pushFirst(item);
      this.#turns.take(actor, { type: 'timersDue' }, at);
    } else {
      this.#turns.take(actor, item, at);
    }
    if (actor.status !== 'unspawned') this.#population.planDeadline(actor);
    else if (mailbox.size === 0) this.#population.leave(actor.address);
    if (actor.status === 'unspawned' && actor.deadline !== undefined) {
      this.deadlines.close(actor.deadline);
      actor.deadline = undefined;
    }
    return mailbox.size > 0;
  }

  /**
   * A turn in the group being filled has taken a message. Where its sender lives here, its outbox is without it
   * from that group on.
   */
  #taken({ from, origin, settle }: Message): void {
    if (from === undefined || origin === undefined) return;
    const sender = this.live.peek(from);
    if (sender?.outbox !== origin) return;
    this.#commits.filling.senders.push(sender);
    settle?.();
  }

  /** Starts again from the stored record; what still waited goes on waiting, or comes again by itself. */
  #forget(actor: Actor): void {
    const { address, deadline, mailbox } = actor;
    actor.outbox.isForgotten = true;
    this.#population.leave(address);
    this.#bookkeeping.forget(actor);
    if (deadline !== undefined) this.deadlines.clear(deadline);
    this.#population.tryFind(address);
    // Taken out one by one: it may stand in the queue still, and must find nothing when its turn comes.
    for (let item = mailbox.shift(); item !== undefined; item = mailbox.shift()) {
      if (item.type === 'message') this.accept(address, item, 'none');
      else if (item.type === 'childSettled' || item.type === 'order') this.notify(address, item);
    }
  }
}
