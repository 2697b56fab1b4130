/**
 * One node: the shard it hosts, and everything that surrounds it, wired together.
 *
 * This file only connects. A message from a peer goes transport → wire → here → shard;
 * what a durable turn asked for goes shard → release → delivery, performers, children.
 */

import type { EventObject } from 'xstate';
import type { Actor } from './actor.ts';
import { placeOf } from './address.ts';
import { type AskOptions, Asks } from './asks.ts';
import { Children } from './children.ts';
import type { Clock } from './clock.ts';
import { Delivery, type DeliveryOwner, message } from './delivery.ts';
import { type Envelope, FETCH_EVENT, parseEnvelope, parseReceipt } from './envelope.ts';
import { excerpt, messageOf, RuntimeError } from './errors.ts';
import { createHandle, type HandleHost } from './handle.ts';
import { Inspection } from './inspection.ts';
import type { Lease, LeaseClaim } from './lease.ts';
import { REPLY_EVENT } from './machine.ts';
import { Observers, type SnapshotObserver, type Subscription } from './observers.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import type { OutboxRow } from './outbox.ts';
import { Peers } from './peers.ts';
import { Performers } from './performers.ts';
import type { Random } from './random.ts';
import { Release } from './release.ts';
import { Session } from './session.ts';
import { Shard } from './shard.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';
import { type Undelivered, undeliveredRow } from './undelivered.ts';
import { decodeFrame } from './wire.ts';

export interface NodePorts {
  readonly node: string;
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly transport: Transport;
  readonly lease: Lease;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly signal?: AbortSignal | undefined;
}

export class Node implements HandleHost, DeliveryOwner {
  readonly name: string;
  readonly place: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly limits: RuntimeLimits;
  readonly inspection: Inspection;
  readonly shard: Shard;
  readonly #ports: NodePorts;
  readonly #logger: Logger;
  readonly #asks: Asks;
  readonly #children: Children;
  readonly #delivery: Delivery;
  readonly #observers: Observers;
  readonly #peers: Peers;
  readonly #performers: Performers;
  readonly #release: Release;
  readonly #session: Session;
  #claim: LeaseClaim | undefined;
  #isStopping = false;
  #stopped: Promise<void> | undefined;

  constructor(ports: NodePorts) {
    const { node, place, clock, random, store, transport, limits, logger } = ports;
    this.#ports = ports;
    this.name = node;
    this.place = place;
    this.clock = clock;
    this.store = store;
    this.limits = limits;
    this.#logger = logger;
    this.inspection = new Inspection(node, place, () => clock.now(), logger);
    this.#observers = new Observers(logger);
    this.#asks = new Asks(node, clock, random);
    this.#peers = new Peers(node, transport);
    this.#children = new Children((address, session, result) => {
      const actor = this.shard.live.get(address);
      if (actor !== undefined) actor.runningChildren = this.#children.countOf(address);
      this.shard.notify(address, { type: 'childSettled', session, result });
    });
    this.#performers = new Performers(clock, random, limits, logger, {
      send: (address, from, counter, event) =>
        this.#deliver(address, event, { from, counter, settledBelow: counter }),
      finished: (address, effect, failure) => this.#effectFinished(address, effect.id, failure),
    });
    this.#delivery = new Delivery({
      place,
      clock,
      random,
      limits,
      peers: this.#peers,
      accept: (address, item) => this.shard.accept(address, item),
      isHosting: () => this.shard.isHosting,
    });
    this.#session = new Session(`session:${random.id()}@${node}`, this.#delivery, limits.outboxMax);
    this.#release = new Release({
      asks: this.#asks,
      children: this.#children,
      delivery: this.#delivery,
      inspection: this.inspection,
      observers: this.#observers,
      performers: this.#performers,
      logger,
      owner: this,
      handleOf: (address) => createHandle(address, this),
    });
    this.shard = new Shard(
      { place, clock, random, store, limits, logger, inspection: this.inspection },
      {
        released: (turn) => this.#release.turn(turn),
        resumed: (actor) => this.#release.resume(actor),
        refused: (refusal, addresses) => {
          for (const address of addresses) this.#delivery.forget(address);
          if (this.inspection.hasReaders)
            this.inspection.tell({ type: 'commitRefused', error: messageOf(refusal), addresses });
        },
        deposed: (refusal) => this.#deposed(refusal),
      },
    );
  }

  /** Resolves when the place is hosted here, or the lease is held by someone else. */
  async start(): Promise<void> {
    await this.#ports.transport.start({
      peerUp: (peer) => {
        this.#peers.greet(peer);
        if (this.inspection.hasReaders) this.inspection.tell({ type: 'peer', peer, change: 'up' });
      },
      peerDown: (peer) => {
        this.#peers.forget(peer);
        if (this.inspection.hasReaders)
          this.inspection.tell({ type: 'peer', peer, change: 'down' });
      },
      frameReceived: (peer, frame) => this.#receive(peer, frame),
    });
    await new Promise<void>((resolve) => {
      this.#hold(resolve);
      this.clock.defer(resolve);
    });
  }

  async send(address: string, event: { readonly type: string }, id?: string): Promise<void> {
    if (this.#isStopping) throw stopped();
    const identity = id === undefined ? {} : { from: requestName(id), counter: 1, settledBelow: 1 };
    return this.#deliver(address, event, identity);
  }

  async ask(
    address: string,
    event: { readonly type: string },
    options: AskOptions,
  ): Promise<unknown> {
    if (this.#isStopping) throw stopped();
    const timeoutMs = options.timeoutMs ?? this.limits.askTimeoutMs;
    return this.#asks.ask(address, timeoutMs, options.signal, (replyTo) =>
      this.#deliver(address, { ...event, replyTo } as EventObject, {}),
    );
  }

  fetch(address: string, options: AskOptions): Promise<unknown> {
    if (placeOf(address) === this.place)
      return Promise.resolve().then(() => this.persisted(address));
    const timeoutMs = options.timeoutMs ?? this.limits.askTimeoutMs;
    return this.#asks.ask(address, timeoutMs, options.signal, async (replyTo) => {
      this.#delivery.hint(this.#session.address, address, {
        type: FETCH_EVENT,
        replyTo,
      } as EventObject);
    });
  }

  committed(address: string): unknown {
    return this.#read(address).committed;
  }

  persisted(address: string): unknown {
    const { committed, kind } = this.#read(address);
    return kind.chart.machine.getPersistedSnapshot(committed as never);
  }

  subscribe(address: string, observer: SnapshotObserver): Subscription {
    return this.#observers.subscribe(address, observer);
  }

  on(address: string, type: string, handler: (event: never) => void): Subscription {
    return this.#observers.on(address, type, handler as (event: EventObject) => void);
  }

  /** Delivers an undelivered event again, as one from inside: it was checked when it first came. */
  redeliver({ to, event }: Undelivered): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.shard.accept(to, message(event, { settle }), true);
    });
  }

  dropUndelivered(id: string): Promise<void> {
    return this.shard.dropUndelivered(id);
  }

  /** An actor's message was acknowledged, or refused for good: then it is kept with the undelivered ones. */
  settled(from: string, row: OutboxRow, error: RuntimeError | undefined): void {
    const actor = this.shard.find(from);
    if (actor?.outbox.settle(row.to, row.counter) === undefined) return;
    if (error === undefined) this.shard.touch(actor);
    else this.#giveUp(actor, row.to, row.event, from, error);
  }

  counts() {
    const { live, deadlines, ready } = this.shard.counts();
    return {
      live,
      deadlines,
      ready,
      underWay: this.#delivery.size,
      asks: this.#asks.size,
      performers: this.#performers.busy,
    };
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#drain();
    return this.#stopped;
  }

  crash(): void {
    this.#isStopping = true;
    this.#end();
    void this.#ports.transport.stop();
    this.#stopped ??= Promise.resolve();
  }

  async #drain(): Promise<void> {
    this.#isStopping = true;
    const endsAt = this.clock.now() + this.limits.drainMs;
    while (this.clock.now() < endsAt && (!this.shard.isQuiet || this.#performers.busy > 0)) {
      await new Promise<void>((resolve) => this.clock.schedule(this.clock.now() + 1, resolve));
    }
    this.#end();
    await this.#ports.transport.stop();
    await this.store.close();
  }

  #end(): void {
    this.#claim?.release();
    this.#claim = undefined;
    this.shard.close();
    this.#performers.stop();
    this.#children.stopAll();
    this.#delivery.stop();
    this.#asks.stop();
    this.#session.stop();
  }

  #hold(opened: () => void): void {
    this.#claim = this.#ports.lease.hold(this.place, {
      acquired: (fence) => {
        if (this.#isStopping) return;
        this.shard.open(fence, () => this.#claim?.isHeld() === true);
        this.#peers.announce([this.place]);
        this.#delivery.resend([this.place]);
        this.#logger.info({ node: this.name, place: this.place, fence }, 'hosting');
        if (this.inspection.hasReaders)
          this.inspection.tell({ type: 'lease', change: 'acquired', fence });
        opened();
      },
      lost: () =>
        this.#deposed(new RuntimeError('NOT_HOSTED', `The lease of "${this.place}" was lost.`)),
    });
  }

  /** This node no longer hosts its place: everything uncommitted is dropped, and it waits for the lease again. */
  #deposed(refusal: Error): void {
    if (this.#isStopping || !this.shard.isHosting) return;
    const { fence } = this.shard;
    this.#logger.warn(
      { node: this.name, place: this.place, fence, reason: messageOf(refusal) },
      'no longer hosting',
    );
    if (this.inspection.hasReaders) this.inspection.tell({ type: 'lease', change: 'lost', fence });
    this.shard.close();
    this.#children.stopAll();
    this.#peers.announce([]);
    if ((refusal as Partial<RuntimeError>).code !== 'FENCE_STALE') return;
    // The lease says we hold the place and the store says we do not: the store is right. Ask again, later.
    this.#claim?.release();
    this.clock.schedule(this.clock.now() + this.limits.retryMaxMs, () => {
      if (!this.#isStopping) this.#hold(() => {});
    });
  }

  #deliver(
    address: string,
    event: { readonly type: string },
    identity: { from?: string; counter?: number; settledBelow?: number },
  ): Promise<void> {
    if (placeOf(address) !== this.place) return this.#session.send(address, event);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.shard.accept(address, message(event, { ...identity, settle }));
    });
  }

  #read(address: string): Actor {
    const actor =
      placeOf(address) === this.place && this.shard.isHosting
        ? this.shard.find(address)
        : undefined;
    if (actor?.committed !== undefined) return actor;
    if (placeOf(address) === this.place && this.shard.isHosting) {
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
    }
    const what = `${address} is not hosted by this node; fetchSnapshot reaches it on the node that does.`;
    throw new RuntimeError('NOT_HOSTED', what, { address });
  }

  #effectFinished(address: string, effectId: string, failure: RuntimeError | undefined): void {
    const actor = this.shard.isHosting ? this.shard.find(address) : undefined;
    const effect = actor?.effects.find(({ id }) => id === effectId);
    if (actor === undefined || effect === undefined) return;
    actor.effects = actor.effects.filter(({ id }) => id !== effectId);
    if (failure === undefined) this.shard.touch(actor);
    else
      this.#giveUp(
        actor,
        address,
        { type: `effect ${effect.name}`, params: effect.params } as EventObject,
        address,
        failure,
      );
  }

  #giveUp(
    actor: Actor,
    to: string,
    event: { readonly type: string },
    from: string,
    error: RuntimeError,
  ): void {
    const at = this.clock.now();
    const id = `${at.toString(36).padStart(9, '0')}-${this.#ports.random.id().slice(0, 8)}`;
    this.#logger.warn(
      { to, from, event: event.type, code: error.code },
      'a message could not be delivered',
    );
    this.shard.giveUp(actor, [
      id,
      undeliveredRow({ id, at, to, event, from, error: error.toJSON() }),
    ]);
    if (this.inspection.hasReaders)
      this.inspection.tell({ type: 'undelivered', to, event, error: error.toJSON() });
  }

  #receive(peer: string, text: string): void {
    try {
      const { hello, envelopes, receipts } = decodeFrame(text);
      if (hello !== undefined) {
        this.#peers.heard(peer, hello.places);
        this.#delivery.resend([...hello.places, peer]);
      }
      for (const receipt of receipts) this.#delivery.receive(parseReceipt(receipt));
      for (const envelope of envelopes) this.#arrive(peer, envelope);
    } catch (thrown) {
      this.#logger.warn(
        { peer, error: messageOf(thrown), frame: excerpt(text) },
        'a frame was refused',
      );
    }
  }

  #arrive(peer: string, value: unknown): void {
    const envelope = parseEnvelope(value);
    const { to, from, counter, settledBelow, event } = envelope;
    if (event.type === REPLY_EVENT) {
      if (this.#asks.owns(to)) this.#asks.answer(to, (event as { value?: unknown }).value);
      return;
    }
    if (event.type === FETCH_EVENT) {
      this.#answerFetch(envelope);
      return;
    }
    if (counter === 0) {
      this.shard.accept(to, message(event, { isHint: true }));
      return;
    }
    const settle = (error?: Error): void => {
      const receipt = { from, to, counter };
      this.#peers.sendReceipt(peer, error === undefined ? receipt : { ...receipt, error });
    };
    if (placeOf(to) !== this.place)
      settle(new RuntimeError('NOT_HOSTED', `This node does not host "${placeOf(to)}".`));
    else this.shard.accept(to, message(event, { from, counter, settledBelow, settle }));
  }

  #answerFetch({ to, event }: Envelope): void {
    const { replyTo } = event as { replyTo?: unknown };
    if (typeof replyTo !== 'string') return;
    try {
      this.#delivery.hint(to, replyTo, {
        type: REPLY_EVENT,
        value: this.persisted(to),
      } as EventObject);
    } catch (thrown) {
      this.#logger.debug(
        { to, error: messageOf(thrown) },
        'a snapshot was asked for that is not here',
      );
    }
  }
}

/** @throws {RuntimeError} OPTION_INVALID */
function requestName(id: string): string {
  if (/^[A-Za-z0-9._:~-]{1,128}$/.test(id)) return `request:${id}`;
  throw new RuntimeError(
    'OPTION_INVALID',
    `A send's id is 1 to 128 letters, digits or "._:~-", got ${excerpt(id)}.`,
  );
}

function stopped(): RuntimeError {
  return new RuntimeError(
    'RUNTIME_STOPPED',
    'The runtime has stopped or is stopping; it takes no new events.',
  );
}
