/**
 * Shard: the actors of a place, on the node that hosts it. It knows which are in memory, what may
 * reach each, and which deadline is next.
 *
 * Guarantees: an actor is in memory at most once; it is read from its record when it is
 * needed and let go when it is idle; nothing reaches it that its kind does not know.
 * The lease is checked before every batch of turns. What the store refuses is forgotten
 * here and read again from it.
 */

import type { Kind } from '../actor.ts';
import {
  type Actor,
  aged,
  type CommitListener,
  Commits,
  ContextLosses,
  type ContextLossServices,
  checkDeadlines,
  Deadlines,
  decodeRecord,
  type Group,
  type Item,
  isIdle,
  Kinds,
  LiveActors,
  type Message,
  mayOweMessages,
  noteCommitted,
  numberedSince,
  type OutboxRow,
  refuseItem,
  type Turn,
  unspawned,
} from '../actor.ts';
import { isWholeAddress, placeOf } from '../base/address.ts';
import { pauseMs } from '../base/backoff.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import { knob } from '../base/knob.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { ProvedPeer } from '../ports/transport.ts';
import { tablesOf } from '../statechart.ts';
import { Bookkeeping } from './deferred-writes.ts';
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

/**
 * Checks that a message must pass: nothing when it comes from inside, or as an event, or by its sender on
 * another node too.
 */
export type Checks = 'none' | 'event' | 'sender';

/** Actors that are due and begin between two commits, however many others have something to do. */
const DUE_AT_ONCE = knob('dueAtOnce', 256);

export class Shard implements CommitListener {
  readonly live: LiveActors;
  readonly kinds = new Kinds();
  readonly #services: ShardServices;
  readonly #listener: ShardListener;
  readonly #commits: Commits;
  readonly #turns: Turns;
  readonly #batches: Batches;
  readonly deadlines: Deadlines;
  readonly #bookkeeping: Bookkeeping;
  #isHosting = false;
  #isHeld: () => boolean = () => false;
  /** Callback once the place is hosted; set from the claim until then. */
  #opened: (() => void) | undefined;
  #cancelClaim: Cancel | undefined;
  #claimsRefused = 0;
  /** Commits refused since the last one that was not. */
  #refusals = 0;
  #cancelProbe: Cancel | undefined;

  constructor(services: ShardServices, listener: ShardListener) {
    const { node, clock, limits, store, place, random, inspection, metrics } = services;
    this.#services = services;
    this.#listener = listener;
    this.live = new LiveActors(limits.liveActorsMax);
    this.#commits = new Commits(store, place, this, clock, metrics);
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
      isSameLife: (sender, at) => this.#isSameLife(sender, at),
      owesNothing: (sender, to) => this.#owesNothing(sender, to),
    });
    this.#bookkeeping = new Bookkeeping(this.live, this.#turns);
    // After a long absence everybody may be due at once: not all of them need to be in memory for that.
    this.deadlines = new Deadlines(
      clock,
      (address) => this.#due(address),
      (reported) => reported < DUE_AT_ONCE.value || this.#batches.dueSize < limits.liveActorsMax,
    );
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

  get isHosting(): boolean {
    return this.#isHosting;
  }

  get fence(): number {
    return this.#commits.fence;
  }

  /** True if the lease too says that the place is hosted here. Where it is over, the next batch is told, and soon. */
  stillHosts(): boolean {
    if (this.#isHosting && this.#isHeld()) return true;
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
    this.#claimsRefused = 0;
    this.#commits.claim();
  }

  #host(): void {
    const { place, store, limits } = this.#services;
    const opened = this.#opened;
    this.#opened = undefined;
    this.#isHosting = true;
    for (const [address, entry] of store.entries()) {
      if (placeOf(address) !== place) continue;
      const isActive = entry.status === 'active';
      const dueAt = isActive ? entry.dueAt : entry.turnAt + limits.endedRetentionMs;
      if (dueAt !== null) this.deadlines.set(this.deadlines.open(address), dueAt);
      if (entry.isPending || (isActive && this.kinds.wantsLeadership(entry.kind)))
        this.#wake(address);
    }
    opened?.();
  }

  #claimLater(): void {
    const { clock, limits } = this.#services;
    this.#claimsRefused += 1;
    const at = clock.now() + pauseMs(this.#claimsRefused, limits);
    this.#cancelClaim = clock.schedule(at, () => this.#commits.claim());
  }

  /** Stops hosting at once; nothing that was not settled leaves. */
  close(): void {
    const refusal = notHosted(this.#services.place);
    this.#isHosting = false;
    this.#opened = undefined;
    this.#cancelClaim?.();
    this.#endProbing();
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
    const parked = this.kinds.add(kind);
    if (!this.#isHosting) return;
    for (const address of parked) this.#wake(address);
    if (!kind.wantsLeadership) return;
    for (const [address, entry] of this.#services.store.entries()) {
      if (
        entry.kind === kind.name &&
        entry.status === 'active' &&
        placeOf(address) === this.#services.place
      )
        this.#wake(address);
    }
  }

  /** Puts a message into the actor's mailbox, or settles it with the reason why not. */
  accept(
    address: string,
    message: Message,
    checks: Checks = 'event',
    /** Peer that handed it over, where that is proved. */
    peer?: ProvedPeer,
  ): void {
    const { metrics } = this.#services;
    metrics.offered += 1;
    try {
      const isChecked =
        checks === 'none' || (checks === 'sender' && this.#admits(address, message, peer));
      const actor = this.#receiverOf(address, message);
      if (!isChecked) actor.kind.checkEvent(message.event, address);
      const { mailbox } = actor;
      const { mailboxMax } = this.#services.limits;
      const isFull = mailbox.sizeFor(message) >= mailboxMax;
      if (isFull && !(message.isHint && mailbox.replaceHint(message))) {
        const what = `The mailbox of ${address} is full (${mailboxMax} messages waiting). Slow the sender down or raise mailboxMax.`;
        throw new RuntimeError('MAILBOX_FULL', what, { address });
      }
      if (!isFull) mailbox.push(aged(message));
      this.#batches.add(actor);
    } catch (thrown) {
      metrics.refuse(thrown instanceof RuntimeError ? thrown.code : 'INTERNAL');
      message.settle?.(thrown as Error);
    }
  }

  /** Puts something of the runtime's own into the mailbox. */
  notify(address: string, item: Exclude<Item, Message>): void {
    if (!this.#isHosting) return;
    const actor = this.#tryFind(address);
    if (actor === undefined) return;
    actor.mailbox.push(item);
    this.#batches.add(actor);
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
    if (!this.#isHosting) return actor;
    this.#services.metrics.hydrations += 1;
    this.#enter(actor);
    this.#planDeadline(actor);
    if (actor.status === 'active' && actor.kind.wantsLeadership && actor.term < this.fence) {
      actor.mailbox.pushFirst({ type: 'takeover', fence: this.fence });
      this.#batches.add(actor);
    }
    // Also of an ended one: what it said last is still to be delivered.
    if (actor.outbox.size > 0 || actor.effects.length > 0 || actor.tree?.hasChildren === true)
      this.#listener.resumed(actor);
    return actor;
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
    if (!this.#isHosting) return Promise.reject(notHosted(this.#services.place));
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#commits.filling.dropUndelivered.push({ id, settle });
      this.#batches.plan();
    });
  }

  released(group: Group): void {
    this.#batches.committed(false);
    this.#endProbing();
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
      this.#claimLater();
      return;
    }
    for (const actor of actors) this.#forget(actor);
    const what = `The store refused the commit: ${messageOf(refusal)} Nothing of it happened; send again.`;
    for (const group of groups)
      group.refuse(new RuntimeError('COMMIT_REFUSED', what, { cause: refusal }));
    this.#batches.plan();
    this.#probeLater();
  }

  /**
   * Plans a probe: nobody sends work to a node that says it can take none, so it looks whether it can
   * again.
   */
  #probeLater(): void {
    if (this.#cancelProbe !== undefined || !this.#isHosting) return;
    const { clock, limits } = this.#services;
    this.#refusals += 1;
    const at = clock.now() + pauseMs(this.#refusals, limits);
    this.#cancelProbe = clock.schedule(at, () => {
      this.#cancelProbe = undefined;
      // An empty group under the fence that holds anyway: it changes nothing.
      this.#commits.claim();
    });
  }

  #endProbing(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    this.#refusals = 0;
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

  /** True when the kind chooses its senders, and this one passed with its event; false when it does not choose. */
  #admits(
    address: string,
    { from, counter, event }: Message,
    peer: ProvedPeer | undefined,
  ): boolean {
    if (!this.#isHosting) return false;
    const kind = this.live.get(address)?.kind ?? this.kinds.of(address);
    if (kind.options.admit === undefined) return false;
    kind.checkEvent(event, address);
    // A copy of what was taken is no new message, even if the kind would refuse it now; a question is answered again.
    const isCopy =
      counter > 0 &&
      !kind.questions.has(event.type) &&
      this.find(address)?.inbox.has(from as string, counter) === true;
    if (!isCopy) kind.checkSender({ to: address, from, event, peer });
    return true;
  }

  /** The actor a message is for; a new one when the message spawns it. */
  #receiverOf(address: string, message: Message): Actor {
    if (!this.#isHosting) throw notHosted(this.#services.place);
    const found = this.find(address);
    if (found !== undefined) return found;
    const kind = this.kinds.of(address);
    if (message.event.type !== SPAWN_EVENT)
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
    const actor = unspawned(address, kind);
    this.#enter(actor);
    return actor;
  }

  #isOfPlace(sender: string): boolean {
    return isWholeAddress(sender) && placeOf(sender) === this.#services.place;
  }

  #enter(actor: Actor): void {
    this.#services.metrics.entered += 1;
    this.live.add(actor);
  }

  #leave(address: string): void {
    const before = this.live.size;
    this.live.delete(address);
    this.#services.metrics.left += before - this.live.size;
  }

  #mayBegin(): boolean {
    const { attend, inspection } = this.#services;
    attend?.(inspection);
    if (this.#isHosting && !this.#isHeld())
      this.#listener.deposed(new RuntimeError('NOT_HOSTED', 'The lease is over.'));
    return this.#isHosting;
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
    if (actor.status !== 'unspawned') this.#planDeadline(actor);
    else if (mailbox.size === 0) this.#leave(actor.address);
    if (actor.status === 'unspawned' && actor.deadline !== undefined) {
      this.deadlines.close(actor.deadline);
      actor.deadline = undefined;
    }
    return mailbox.size > 0;
  }

  #planDeadline(actor: Actor): void {
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
    if (!this.#isHosting || this.kinds.park(address)) return;
    const actor = this.#tryFind(address);
    if (actor?.status === 'active') {
      actor.mailbox.push({ type: 'timersDue' });
      this.#batches.add(actor);
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
    this.#commits.filling.add(actor, null, undefined);
    this.#leave(actor.address);
    if (actor.deadline !== undefined) this.deadlines.close(actor.deadline);
    this.#batches.plan();
  }

  /**
   * True when an actor of this place durably owes the receiver no message. Then none can come twice:
   * between actors of one place messages stay in the node, and each copy is answered before the next
   * is made.
   */
  #owesNothing(sender: string, to: string): boolean {
    if (!this.#isOfPlace(sender)) return false;
    const live = this.live.peek(sender);
    if (live !== undefined)
      return !live.isDirty && live.group === undefined && live.outbox.lane(to) === undefined;
    const text = this.#services.store.load(sender);
    return text === undefined || !mayOweMessages(text);
  }

  /** True of an actor of this place that has sent under the same numbers since before `at`. */
  #isSameLife(sender: string, at: number): boolean {
    if (!this.#isOfPlace(sender)) return false;
    const live = this.live.peek(sender);
    const text = live === undefined ? this.#services.store.load(sender) : undefined;
    const since = text === undefined ? live?.outbox.since : numberedSince(text);
    return since !== undefined && since <= at;
  }

  /** Brings an actor into memory that has something under way, or waits for its kind. */
  #wake(address: string): void {
    if (!this.kinds.park(address)) this.#tryFind(address);
  }

  /** Finds as `find` does; an actor that cannot be read is reported and left alone. */
  #tryFind(address: string): Actor | undefined {
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
    this.#leave(address);
    this.#bookkeeping.forget(actor);
    if (deadline !== undefined) this.deadlines.clear(deadline);
    this.#tryFind(address);
    // Taken out one by one: it may stand in the queue still, and must find nothing when its turn comes.
    for (let item = mailbox.shift(); item !== undefined; item = mailbox.shift()) {
      if (item.type === 'message') this.accept(address, item, 'none');
      else if (item.type === 'childSettled' || item.type === 'order') this.notify(address, item);
    }
  }
}

function notHosted(place: string, cause?: Error): RuntimeError {
  const what = `This node does not host "${place}" now. Send again; the place may have moved.`;
  return new RuntimeError('NOT_HOSTED', what, { cause });
}
