/**
 * Watches of actors on other nodes, for handles of this node.
 *
 * Guarantees: an observer sees snapshots that the host has committed, in the order of the commits, the
 * newest one first; those in between may be left out. After a reconnection, and when another node hosts
 * the place, it goes on with the newest. It hears the end of the actor, or an error with a code: what the
 * host said, or WATCH_LOST once nobody has answered for `watchLostMs`.
 *
 * A watch asks the host for what is newer than what it has (watchers.ts), and asks again once all observers
 * have seen the answer: an observer that is slow here slows down nobody there. An actor of this node's own
 * place is watched at its host while this node stands by, and directly while it hosts.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { kindOf, placeOf } from '../base/address.ts';
import { pauseMs } from '../base/backoff.ts';
import { errorFromShape, messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Hints, Routes, Session } from '../delivery.ts';
import { FETCH_EVENT } from '../delivery.ts';
import type { Observers, SnapshotObserver, Subscription } from '../effects.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Shard } from '../shard.ts';
import { unmark } from '../statechart.ts';
import { isSameRevision, type Revision, revisionOf, type WatchAnswer } from './watchers.ts';

export interface WatchServices {
  readonly node: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hints: Hints;
  readonly observers: Observers;
  readonly routes: Routes;
  readonly session: Session;
  readonly shard: Shard;
}

interface Watch {
  readonly address: string;
  readonly replyTo: string;
  /** Time when it was told something last, or began. */
  heardAt: number;
  /** Questions since then, and why the last one was refused. */
  asked: number;
  refusal: RuntimeError | undefined;
  /** Revision shown last, and the node that told of it while the connection to it lasts. */
  revision: Revision | undefined;
  host: string | undefined;
  snapshot: AnyMachineSnapshot | undefined;
  cancelNext: Cancel | undefined;
}

export class Watches {
  readonly #services: WatchServices;
  readonly #watches = new Map<string, Watch>();
  /** Watches by the address that answers come to. */
  readonly #byReply = new Map<string, Watch>();

  constructor(services: WatchServices) {
    this.#services = services;
  }

  get size(): number {
    return this.#watches.size;
  }

  subscribe(address: string, observer: SnapshotObserver): Subscription {
    const { observers } = this.#services;
    const subscription = observers.subscribe(address, observer);
    const known = this.#watches.get(address);
    if (known === undefined) this.#begin(address);
    else if (known.snapshot !== undefined) observers.tell(address, observer, known.snapshot);
    return {
      unsubscribe: () => {
        subscription.unsubscribe();
        if (!observers.has(address)) this.#end(address, true);
      },
    };
  }

  owns(replyTo: string): boolean {
    return this.#byReply.has(replyTo);
  }

  /** Somebody else may host these places now. */
  review(places: readonly string[]): void {
    const { observers, routes } = this.#services;
    for (const address of observers.addresses()) {
      if (!places.includes(placeOf(address))) continue;
      const watch = this.#watches.get(address);
      if (watch === undefined && !routes.isHere(address)) this.#begin(address);
      else if (watch !== undefined && routes.to(placeOf(address)) === 'here') this.#cameHere(watch);
      else if (watch !== undefined) this.#ask(watch);
    }
  }

  /** A peer's answer, for the actor that it is `from`. */
  answered(replyTo: string, from: string, peer: string, value: unknown, error: unknown): void {
    const watch = this.#byReply.get(replyTo);
    // Nobody else speaks for the actor.
    if (watch === undefined || from !== watch.address) return;
    if (error !== undefined) {
      this.#refused(watch, errorFromShape(error, watch.address));
      return;
    }
    watch.heardAt = this.#services.clock.now();
    watch.asked = 0;
    watch.refusal = undefined;
    if (!isAnswer(value)) {
      this.#fail(watch, otherRelease(watch.address));
      return;
    }
    const { revision, snapshot, stopped } = value;
    if (snapshot === undefined) this.#askLater(watch, this.#services.limits.watchRepeatMs);
    else if (isNewer(watch, peer, revision)) {
      watch.host = peer;
      this.#news(watch, revision, snapshot, stopped);
    }
  }

  /** Ends the comparison of what comes from this node with what came before. */
  disconnected(peer: string): void {
    for (const watch of this.#watches.values()) if (watch.host === peer) watch.host = undefined;
  }

  stop(): void {
    for (const address of [...this.#watches.keys()]) this.#end(address, false);
  }

  #begin(address: string): void {
    const { node, random, clock } = this.#services;
    const watch: Watch = {
      address,
      replyTo: `ask/${random.id()}@${node}`,
      heardAt: clock.now(),
      asked: 0,
      refusal: undefined,
      revision: undefined,
      host: undefined,
      snapshot: undefined,
      cancelNext: undefined,
    };
    this.#watches.set(address, watch);
    this.#byReply.set(watch.replyTo, watch);
    this.#ask(watch, false);
  }

  #end(address: string, isTold: boolean): void {
    const watch = this.#watches.get(address);
    if (watch === undefined) return;
    this.#watches.delete(address);
    this.#byReply.delete(watch.replyTo);
    watch.cancelNext?.();
    if (isTold) this.#send(watch, { what: 'unwatch' });
  }

  /** Goes on here, since this node hosts the actor now. */
  #cameHere({ address, revision }: Watch): void {
    const { observers, shard } = this.#services;
    this.#end(address, false);
    const actor = shard.find(address);
    const newest = actor?.committed;
    if (actor === undefined || newest === undefined) return;
    if (isSameRevision(revision, revisionOf(actor))) return;
    observers.committed(address, newest, endOf(newest), newest.error);
  }

  /** `isRepeated`: an answer is wanted also where nothing is new. */
  #ask(watch: Watch, isRepeated: boolean = true): void {
    const { clock, limits, routes } = this.#services;
    if (clock.now() - watch.heardAt >= limits.watchLostMs) {
      this.#fail(watch, lost(watch, limits.watchLostMs));
      return;
    }
    watch.asked += 1;
    if (routes.hostOf(placeOf(watch.address)) === undefined) {
      this.#askLater(watch, pauseMs(watch.asked, limits));
      return;
    }
    const { revision } = watch;
    const refusal = this.#send(watch, { what: 'watch', revision, isRepeated });
    if (refusal === undefined) this.#askLater(watch, limits.watchRepeatMs);
    else queueMicrotask(() => this.#fail(watch, refusal as RuntimeError));
  }

  #askLater(watch: Watch, delayMs: number): void {
    const { clock } = this.#services;
    watch.cancelNext?.();
    watch.cancelNext = clock.schedule(clock.now() + delayMs, () => this.#ask(watch));
  }

  #send({ address, replyTo }: Watch, question: object): unknown {
    const { hints, session } = this.#services;
    const event = { ...question, type: FETCH_EVENT, replyTo } as EventObject;
    return hints.send(session.address, address, event);
  }

  #refused(watch: Watch, error: RuntimeError): void {
    const { limits } = this.#services;
    watch.refusal = error;
    if (error.retryable) this.#askLater(watch, pauseMs(watch.asked, limits));
    else this.#fail(watch, error);
  }

  #news(watch: Watch, revision: Revision, persisted: unknown, stopped: unknown): void {
    const { observers } = this.#services;
    const { address } = watch;
    let snapshot: AnyMachineSnapshot;
    try {
      snapshot = this.#shown(address, persisted);
    } catch (thrown) {
      this.#fail(watch, thrown as RuntimeError);
      return;
    }
    const isNew = !isSameRevision(watch.revision, revision);
    watch.revision = revision;
    watch.snapshot = snapshot;
    const end = endOf(snapshot);
    if (end !== undefined) this.#end(address, false);
    const why = stopped === undefined ? undefined : errorFromShape(stopped, address);
    if (isNew) observers.committed(address, snapshot, end, why);
    // They may all have gone meanwhile.
    if (this.#watches.get(address) === watch) this.#ask(watch, false);
  }

  /**
   * Snapshot with its methods where the kind is known here; a client without kinds sees it as XState
   * persists it.
   */
  #shown(address: string, persisted: unknown): AnyMachineSnapshot {
    unmark((persisted as { readonly context?: unknown } | null)?.context);
    const kind = this.#services.shard.kinds.find(kindOf(address));
    return kind === undefined
      ? (persisted as AnyMachineSnapshot)
      : kind.chart.shown(address, persisted);
  }

  #fail(watch: Watch, error: RuntimeError): void {
    const { observers, logger, metrics } = this.#services;
    const { address } = watch;
    if (this.#watches.get(address) !== watch) return;
    this.#end(address, error.code === 'WATCH_LOST');
    metrics.watchesLost += 1;
    const fields = { address, code: error.code, error: messageOf(error) };
    logger.warn(fields, 'an actor of another node is not watched any more');
    observers.failed(address, error);
  }
}

function isAnswer(value: unknown): value is WatchAnswer {
  return Array.isArray((value as Partial<WatchAnswer> | undefined)?.revision);
}

/** False of what was overtaken on its way, or came twice; what an earlier host tells late is refused before. */
function isNewer({ host, revision }: Watch, peer: string, [turn, at]: Revision): boolean {
  if (host !== peer || revision === undefined) return true;
  return at > revision[1] || (at === revision[1] && turn > revision[0]);
}

function endOf(snapshot: AnyMachineSnapshot): 'done' | 'stopped' | undefined {
  const { status } = snapshot as { readonly status: string };
  if (status === 'active') return undefined;
  return status === 'error' ? 'stopped' : 'done';
}

function lost({ address, refusal }: Watch, lostMs: number): RuntimeError {
  const why =
    refusal === undefined ? 'Nobody has answered' : `There was no answer but ${refusal.code}`;
  const what = `${why} for ${address} for ${lostMs} ms (watchLostMs): it is not watched any more. Subscribe again once its node is back.`;
  return new RuntimeError('WATCH_LOST', what, { address, host: refusal?.host, cause: refusal });
}

function otherRelease(address: string): RuntimeError {
  const what = `The node that hosts ${address} runs another release, whose actors cannot be watched from here.`;
  return new RuntimeError('WATCH_LOST', what, { address });
}
