/**
 * Calls of embedding code to a node, through handles: send, ask, read, watch.
 *
 * An actor of this node's own place is reached directly; one elsewhere through the
 * session, which repeats until it is answered.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { Actor, Undelivered } from '../actor.ts';
import {
  isReserved,
  type Message,
  type MovedDeadline,
  message,
  type OrderName,
  reserved,
  typeOf,
} from '../actor.ts';
import { isWholeAddress, kindOf, placeOf } from '../base/address.ts';
import { excerpt, messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { AskOptions, Asks, Hints, Routes, Session } from '../delivery.ts';
import { FETCH_EVENT } from '../delivery.ts';
import type { Identity, Observers, Questions, SnapshotObserver, Subscription } from '../effects.ts';
import { REPLY_EVENT, SPAWN_EVENT } from '../machine.ts';
import type { Checks, Shard } from '../shard.ts';
import { plain } from '../statechart.ts';
import type { HandleHost, SendOptions } from './handle.ts';
import type { Watches } from './watches.ts';

export interface CallServices {
  readonly place: string;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly shard: Shard;
  readonly session: Session;
  readonly hints: Hints;
  readonly asks: Asks;
  readonly routes: Routes;
  readonly questions: Questions;
  readonly observers: Observers;
  readonly watches: Watches;
}

export class Calls implements HandleHost {
  readonly #services: CallServices;
  #isClosed: boolean = false;

  constructor(services: CallServices) {
    this.#services = services;
  }

  /** No new calls; what is under way goes on. */
  close(): void {
    this.#isClosed = true;
  }

  send(
    address: string,
    event: { readonly type: string },
    { id, timeoutMs }: Pick<SendOptions, 'id' | 'timeoutMs'> = {},
  ): Promise<void> {
    const refusal = this.#refusalOf(address, event) ?? wrongTimeout(timeoutMs);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (id === undefined) return this.deliver(address, event, undefined, timeoutMs);
    if (typeof id === 'string' && /^[A-Za-z0-9._:~-]{1,128}$/.test(id)) {
      const identity = { from: `request:${id}`, counter: 1, after: 0 };
      return this.deliver(address, event, identity, timeoutMs);
    }
    const what = `A send's id is 1 to 128 letters, digits or "._:~-", got ${excerpt(id)}.`;
    return Promise.reject(new RuntimeError('OPTION_INVALID', what));
  }

  /**
   * Sends what code outside of any turn sent by a reference to an actor of a tree; 0 is its root.
   *
   * @throws {RuntimeError} EVENT_MALFORMED, EVENT_RESERVED, RUNTIME_STOPPED
   */
  toMember(address: string, session: number, event: { readonly type: string }): void {
    const refusal = this.#refusalOf(address, event);
    if (refusal !== undefined) throw refusal;
    const { shard, logger, questions } = this.#services;
    const settle = (error?: Error): void => {
      if (error === undefined) return;
      const fields = { address, event: event.type, error: messageOf(error) };
      logger.warn(fields, 'what was sent by a reference was refused');
      if (error instanceof RuntimeError) questions.undelivered(address, event, error);
    };
    // From inside: what no state takes is dropped, as between the actors of a tree.
    shard.accept(address, message(event, { ...(session > 0 && { session }), settle }), 'none');
  }

  /** Sends an event that may be lost. @throws {RuntimeError} EVENT_MALFORMED, EVENT_RESERVED */
  hint(address: string, event: { readonly type: string }): void {
    if (this.#isClosed) return;
    const refusal = this.#refusalOf(address, event);
    if (refusal !== undefined) throw refusal;
    const { routes, hints, session, shard } = this.#services;
    if (routes.isHere(address)) shard.accept(address, message(event, { isHint: true }));
    else hints.send(session.address, address, event);
  }

  /** Spawns an actor; resolves once that is durable. */
  spawn(address: string, input: unknown, mustBeNew: boolean): Promise<void> {
    if (this.#isClosed) return Promise.reject(stopped());
    return this.deliver(address, { type: SPAWN_EVENT, input, mustBeNew } as EventObject);
  }

  ask(address: string, event: { readonly type: string }, options: AskOptions): Promise<unknown> {
    const refusal = this.#refusalOf(address, event);
    if (refusal !== undefined) return Promise.reject(refusal);
    const { routes } = this.#services;
    return this.#ask(address, options, async (replyTo) => {
      await this.deliver(address, { ...event, replyTo } as EventObject);
      return routes.nodeOf(address);
    });
  }

  /** Answers a question of this node or another one, in the name of an actor. What is no question is let be. */
  reply(from: string, replyTo: string, value: unknown): void {
    const { asks, hints, questions } = this.#services;
    if (!isWholeAddress(replyTo) || kindOf(replyTo) !== 'ask') return;
    questions.answered(replyTo);
    if (asks.owns(replyTo)) asks.answer(replyTo, value);
    else hints.send(from, replyTo, { type: REPLY_EVENT, value } as EventObject);
  }

  async fetch(address: string, options: AskOptions): Promise<unknown> {
    if (this.#isClosed) throw stopped();
    if (this.#services.routes.isHere(address)) return this.persisted(address);
    return this.read(address, {}, options);
  }

  /** Asks the other node that hosts an actor what can be answered without a turn; see reads.ts. */
  async read(address: string, question: object, options: AskOptions): Promise<unknown> {
    const { hints, session, routes } = this.#services;
    if (this.#isClosed) throw stopped();
    return this.#ask(address, options, async (replyTo) => {
      const event = { ...question, type: FETCH_EVENT, replyTo } as EventObject;
      const refusal = hints.send(session.address, address, event);
      if (refusal !== undefined) throw refusal;
      return routes.nodeOf(address);
    });
  }

  /** Has an order about an actor of this place carried out; resolves once that is durable. */
  async order(address: string, order: OrderName, deadline?: MovedDeadline): Promise<void> {
    const { shard } = this.#services;
    if (this.#isClosed) throw stopped();
    this.#checkPlace(address);
    if (!shard.isHosting) throw this.#services.routes.elsewhere(address, 'fetchSnapshot');
    if (shard.find(address) === undefined)
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      shard.notify(address, { type: 'order', order, deadline, settle });
    });
  }

  committed(address: string): unknown {
    return this.#read(address).committed;
  }

  persisted(address: string): unknown {
    const { committed, kind } = this.#read(address);
    const { context, ...snapshot } = committed as AnyMachineSnapshot;
    const shown = { ...snapshot, context: plain(context) };
    return kind.chart.machine.getPersistedSnapshot(shown as never);
  }

  /**
   * Subscribes as XState does: an observer of an actor that has ended hears of that at once, and of nothing
   * else. One of an actor of another node hears of its newest snapshot first.
   */
  subscribe(address: string, observer: SnapshotObserver): Subscription {
    const { observers, watches, routes } = this.#services;
    if (!routes.isHere(address)) return watches.subscribe(address, observer);
    const actor = this.#ended(address);
    if (actor === undefined) return observers.subscribe(address, observer);
    const why = actor.stopReason === undefined ? undefined : endedBecause(actor);
    observers.tellEnd(address, observer, why);
    return { unsubscribe() {} };
  }

  on(address: string, type: string, handler: (event: never) => void): Subscription {
    this.#checkPlace(address);
    return this.#services.observers.on(address, type, handler as (event: EventObject) => void);
  }

  /** Delivers an undelivered event again, as one from inside: it was checked when it first came. */
  redeliver({ to, event, timer, session }: Undelivered): Promise<void> {
    if (!this.#services.routes.isHere(to)) return this.#services.session.send(to, event);
    return this.#accept(
      to,
      event,
      timer === undefined ? { ...(session !== undefined && { session }) } : { timer },
      'none',
    );
  }

  deliver(
    address: string,
    event: { readonly type: string },
    identity?: Identity,
    timeoutMs?: number,
  ): Promise<void> {
    if (!this.#services.routes.isHere(address))
      return this.#services.session.send(address, event, { request: identity?.from, timeoutMs });
    return this.#accept(address, event, identity, 'event');
  }

  #ask(
    address: string,
    { timeoutMs = this.#services.limits.askTimeoutMs, ...options }: AskOptions,
    send: (replyTo: string) => Promise<string | undefined>,
  ): Promise<unknown> {
    for (const [name, ms] of Object.entries({ timeoutMs, answerMs: options.answerMs ?? timeoutMs }))
      if (!Number.isSafeInteger(ms) || ms <= 0) {
        const what = `"${name}" must be a positive number of whole ms, got ${ms}.`;
        return Promise.reject(new RuntimeError('OPTION_INVALID', what));
      }
    return this.#services.asks.ask(address, { timeoutMs, ...options }, send);
  }

  #accept(
    address: string,
    event: { readonly type: string },
    parts: Partial<Message> | undefined,
    checks: Checks,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#services.shard.accept(address, message(event, { ...parts, settle }), checks);
    });
  }

  /** Reason why an event of embedding code goes nowhere, to any actor. */
  #refusalOf(address: string, event: unknown): unknown {
    if (this.#isClosed) return stopped();
    try {
      const type = typeOf(event, address);
      return isReserved(type) || type === SPAWN_EVENT ? reserved(type, address) : undefined;
    } catch (thrown) {
      return thrown;
    }
  }

  /** The actor when it is here and its end is committed. */
  #ended(address: string): Actor | undefined {
    const { shard } = this.#services;
    const actor = shard.isHosting ? shard.find(address) : undefined;
    const { committed } = actor ?? {};
    if (actor === undefined || committed === undefined || actor.group !== undefined)
      return undefined;
    // Within a group that is being released its end may not be visible yet: then it is still to be told.
    const isSeen = (committed as { readonly status: string }).status !== 'active';
    if (actor.status === 'stopped') return actor;
    return actor.status === 'done' && isSeen ? actor : undefined;
  }

  #checkPlace(address: string): void {
    if (placeOf(address) !== this.#services.place)
      throw this.#services.routes.elsewhere(address, 'fetchSnapshot');
  }

  #read(address: string): Actor {
    const { shard } = this.#services;
    this.#checkPlace(address);
    if (!shard.isHosting) throw this.#services.routes.elsewhere(address, 'fetchSnapshot');
    const actor = shard.find(address);
    if (actor?.committed !== undefined) return actor;
    throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
  }
}

function wrongTimeout(timeoutMs: number | undefined): RuntimeError | undefined {
  if (timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY) return undefined;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return undefined;
  const what = `"timeoutMs" of a send must be a positive number of whole ms, or Infinity, got ${excerpt(timeoutMs)}.`;
  return new RuntimeError('OPTION_INVALID', what);
}

function endedBecause({ address, stopReason }: Actor): RuntimeError {
  return new RuntimeError('ACTOR_ENDED', `${address} was stopped (${stopReason}).`, { address });
}

function stopped(): RuntimeError {
  return new RuntimeError(
    'RUNTIME_STOPPED',
    'The runtime has stopped or is stopping; it takes no new events.',
  );
}
