/**
 * What embedding code asks of a node through handles: send, ask, read, watch.
 *
 * An actor of this node's own place is reached directly; one elsewhere through the
 * session, which repeats until it is answered.
 */

import type { EventObject } from 'xstate';
import type { Actor } from './actor.ts';
import { placeOf } from './address.ts';
import type { AskOptions, Asks } from './asks.ts';
import { type Delivery, message } from './delivery.ts';
import { FETCH_EVENT } from './envelope.ts';
import { excerpt, RuntimeError } from './errors.ts';
import type { HandleHost } from './handle.ts';
import type { Observers, SnapshotObserver, Subscription } from './observers.ts';
import type { RuntimeLimits } from './options.ts';
import type { Session } from './session.ts';
import type { Shard } from './shard.ts';
import type { Undelivered } from './undelivered.ts';

export interface CallServices {
  readonly place: string;
  readonly limits: RuntimeLimits;
  readonly shard: Shard;
  readonly session: Session;
  readonly delivery: Delivery;
  readonly asks: Asks;
  readonly observers: Observers;
}

/** Makes a message repeatable: the sender's name and its counter. */
export interface Identity {
  readonly from: string;
  readonly counter: number;
  readonly settledBelow: number;
}

export class Calls implements HandleHost {
  readonly #services: CallServices;
  #isClosed = false;

  constructor(services: CallServices) {
    this.#services = services;
  }

  /** No new calls; what is under way goes on. */
  close(): void {
    this.#isClosed = true;
  }

  send(address: string, event: { readonly type: string }, id?: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(stopped());
    if (id === undefined) return this.deliver(address, event);
    if (/^[A-Za-z0-9._:~-]{1,128}$/.test(id))
      return this.deliver(address, event, { from: `request:${id}`, counter: 1, settledBelow: 1 });
    const what = `A send's id is 1 to 128 letters, digits or "._:~-", got ${excerpt(id)}.`;
    return Promise.reject(new RuntimeError('OPTION_INVALID', what));
  }

  ask(address: string, event: { readonly type: string }, options: AskOptions): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(stopped());
    const { asks, limits } = this.#services;
    return asks.ask(address, options.timeoutMs ?? limits.askTimeoutMs, options.signal, (replyTo) =>
      this.deliver(address, { ...event, replyTo } as EventObject),
    );
  }

  async fetch(address: string, options: AskOptions): Promise<unknown> {
    const { place, asks, limits, delivery, session } = this.#services;
    if (placeOf(address) === place) return this.persisted(address);
    return asks.ask(
      address,
      options.timeoutMs ?? limits.askTimeoutMs,
      options.signal,
      async (replyTo) => {
        delivery.hint(session.address, address, { type: FETCH_EVENT, replyTo } as EventObject);
      },
    );
  }

  committed(address: string): unknown {
    return this.#read(address).committed;
  }

  persisted(address: string): unknown {
    const { committed, kind } = this.#read(address);
    return kind.chart.machine.getPersistedSnapshot(committed as never);
  }

  subscribe(address: string, observer: SnapshotObserver): Subscription {
    return this.#services.observers.subscribe(address, observer);
  }

  on(address: string, type: string, handler: (event: never) => void): Subscription {
    return this.#services.observers.on(address, type, handler as (event: EventObject) => void);
  }

  /** Delivers an undelivered event again, as one from inside: it was checked when it first came. */
  redeliver({ to, event }: Undelivered): Promise<void> {
    return this.#accept(to, event, undefined, true);
  }

  deliver(address: string, event: { readonly type: string }, identity?: Identity): Promise<void> {
    if (placeOf(address) !== this.#services.place)
      return this.#services.session.send(address, event);
    return this.#accept(address, event, identity, false);
  }

  #accept(
    address: string,
    event: { readonly type: string },
    identity: Identity | undefined,
    isTrusted: boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#services.shard.accept(address, message(event, { ...identity, settle }), isTrusted);
    });
  }

  #read(address: string): Actor {
    const { place, shard } = this.#services;
    if (placeOf(address) !== place || !shard.isHosting) {
      const what = `${address} is not hosted by this node; fetchSnapshot reaches it on the node that does.`;
      throw new RuntimeError('NOT_HOSTED', what, { address });
    }
    const actor = shard.find(address);
    if (actor?.committed !== undefined) return actor;
    throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
  }
}

function stopped(): RuntimeError {
  return new RuntimeError(
    'RUNTIME_STOPPED',
    'The runtime has stopped or is stopping; it takes no new events.',
  );
}
