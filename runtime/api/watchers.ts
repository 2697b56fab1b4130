/**
 * Watchers: other nodes that watch actors of this place through handles.
 *
 * A watcher asks for what is newer than what it has, and is answered once: at once where there is
 * something newer, else with the next commit; then it asks again. So at most one answer of a
 * watcher is under way, and one that is slow misses what lies between. A watcher that asks again
 * without news is told that nothing has changed. A watcher that is disconnected is forgotten, and
 * asks again when it is back.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { Actor } from '../actor.ts';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Envelope, Hints, Peers, Routes } from '../delivery.ts';
import type { Observers, Subscription } from '../effects.ts';
import { REPLY_EVENT } from '../machine.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Shard } from '../shard.ts';
import { inlined } from '../statechart.ts';

export interface WatcherServices {
  readonly place: string;
  readonly clock: Clock;
  readonly limits: Pick<RuntimeLimits, 'watchersMax' | 'retryMinMs'>;
  readonly hints: Hints;
  readonly observers: Observers;
  readonly peers: Pick<Peers, 'isCongested'>;
  readonly routes: Routes;
  readonly shard: Shard;
}

/** Turn of an actor that a snapshot is of, and its time: on one host the moment never goes back. */
export type Revision = readonly [turn: number, at: number];

/** Question of one node to another that wants to be told of an actor. */
interface WatchQuestion {
  readonly replyTo: string;
  /** Revision that it has seen last. */
  readonly revision?: Revision;
  /** Set when the watcher has asked before and has heard nothing since. */
  readonly isRepeated?: unknown;
}

/** Answer to a watcher: a snapshot as XState persists it, or that it has the newest. */
export interface WatchAnswer {
  readonly revision: Revision;
  readonly snapshot?: unknown;
  /** Reason why the actor was stopped, with its last snapshot. */
  readonly stopped?: RuntimeError;
}

/** Revision of an actor that is not there yet. */
const NOTHING_SEEN: Revision = [0, 0];

interface Watcher {
  readonly address: string;
  readonly peer: string;
  readonly question: WatchQuestion;
  readonly subscription: Subscription;
  cancelRetry: Cancel | undefined;
}

export class Watchers {
  readonly #services: WatcherServices;
  readonly #watchers = new Map<string, Watcher>();

  constructor(services: WatcherServices) {
    this.#services = services;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** A node wants to hear what is newer than what it has. @throws {RuntimeError} why it will not */
  watch(peer: string, envelope: Envelope): void {
    const { to, event } = envelope;
    const { shard, routes, place } = this.#services;
    const question = event as unknown as WatchQuestion;
    const { revision, isRepeated } = question;
    this.unwatch(peer, envelope);
    if (!shard.isHosting) throw routes.notHosted(place);
    // An actor that is not there yet may be spawned later; a kind that nobody knows is a mistake.
    const actor = shard.find(to);
    if (actor === undefined) shard.kinds.of(to);
    else if (actor.committed !== undefined && !isSameRevision(revision, revisionOf(actor))) {
      this.#answer(to, question, newsOf(actor, actor.committed));
      return;
    }
    this.#add(peer, to, question);
    if (isRepeated === true) this.#answer(to, question, { revision: revision ?? NOTHING_SEEN });
  }

  /** A node wants to hear no more. */
  unwatch(peer: string, { event }: Envelope): void {
    const watcher = this.#watchers.get((event as unknown as WatchQuestion).replyTo);
    if (watcher?.peer === peer) this.#drop(watcher);
  }

  disconnected(peer: string): void {
    for (const watcher of [...this.#watchers.values()])
      if (watcher.peer === peer) this.#drop(watcher);
  }

  /** Refuses all watchers: this node does not host the place any more, and they ask the node that does. */
  refuseAll(): void {
    const { routes, place } = this.#services;
    for (const watcher of [...this.#watchers.values()]) {
      this.#drop(watcher);
      this.#refuse(watcher, routes.notHosted(place));
    }
  }

  stop(): void {
    for (const watcher of [...this.#watchers.values()]) this.#drop(watcher);
  }

  #drop({ question, cancelRetry, subscription }: Watcher): void {
    this.#watchers.delete(question.replyTo);
    cancelRetry?.();
    subscription.unsubscribe();
  }

  #add(peer: string, address: string, question: WatchQuestion): void {
    const { observers, limits } = this.#services;
    if (this.#watchers.size >= limits.watchersMax) {
      const what = `${limits.watchersMax} watchers of other nodes are served here already (watchersMax).`;
      throw new RuntimeError('OVERLOADED', what, { address });
    }
    const next = (): void => this.#committed(watcher);
    const subscription = observers.subscribe(address, { next });
    const watcher: Watcher = { address, peer, question, subscription, cancelRetry: undefined };
    this.#watchers.set(question.replyTo, watcher);
  }

  /** Tells the newest snapshot, once the watcher's node takes frames as fast as they are sent. */
  #committed(watcher: Watcher): void {
    const { clock, limits, peers, shard } = this.#services;
    const { address, peer, question } = watcher;
    if (peers.isCongested(peer)) {
      watcher.cancelRetry ??= clock.schedule(clock.now() + limits.retryMinMs, () => {
        watcher.cancelRetry = undefined;
        this.#committed(watcher);
      });
      return;
    }
    this.#drop(watcher);
    try {
      const actor = shard.find(address);
      if (actor?.committed !== undefined)
        this.#answer(address, question, newsOf(actor, actor.committed));
    } catch (thrown) {
      this.#refuse(watcher, thrown);
    }
  }

  #refuse({ address, question }: Watcher, error: unknown): void {
    const refusal = { type: REPLY_EVENT, error } as EventObject;
    this.#services.hints.send(address, question.replyTo, refusal);
  }

  #answer(address: string, { replyTo }: WatchQuestion, value: WatchAnswer): void {
    this.#services.hints.send(address, replyTo, { type: REPLY_EVENT, value } as EventObject);
  }
}

export function revisionOf({ committedTurn, committedAt }: Actor): Revision {
  return [committedTurn, committedAt];
}

export function isSameRevision(one: unknown, other: Revision): boolean {
  return Array.isArray(one) && one[0] === other[0] && one[1] === other[1];
}

function newsOf(actor: Actor, committed: AnyMachineSnapshot): WatchAnswer {
  const shown = { ...committed, context: inlined(committed.context) };
  const snapshot = actor.kind.chart.machine.getPersistedSnapshot(shown as never);
  const told = { revision: revisionOf(actor), snapshot };
  const { status, error } = committed as { readonly status: string; readonly error: unknown };
  return status === 'error' ? { ...told, stopped: error as RuntimeError } : told;
}
