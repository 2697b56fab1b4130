/**
 * One node: the shard it hosts and everything around it, wired together.
 *
 * This file only connects, starts and stops. A message from a peer goes transport →
 * arrivals → shard; what a durable turn asked for goes shard → release → delivery,
 * performers, children, observers.
 */

import type { PendingEffect } from './actor.ts';
import { Arrivals } from './arrivals.ts';
import { Asks } from './asks.ts';
import { Calls } from './calls.ts';
import { Children } from './children.ts';
import type { Clock } from './clock.ts';
import { Delivery } from './delivery.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { createSelf } from './handle.ts';
import { Hints } from './hints.ts';
import { Inspection, type InspectionFact } from './inspection.ts';
import type { Lease, LeaseClaim } from './lease.ts';
import { Ledger } from './ledger.ts';
import type { Message } from './mailbox.ts';
import { Observers } from './observers.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import { Peers } from './peers.ts';
import { Performers } from './performers.ts';
import type { Random } from './random.ts';
import { Release } from './release.ts';
import { Session } from './session.ts';
import { Shard } from './shard.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';

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
}

export class Node {
  readonly ports: NodePorts;
  readonly inspection: Inspection;
  readonly shard: Shard;
  readonly calls: Calls;
  readonly #asks: Asks;
  readonly #arrivals: Arrivals;
  readonly #children: Children;
  readonly #delivery: Delivery;
  readonly #ledger: Ledger;
  readonly #peers: Peers;
  readonly #performers: Performers;
  readonly #session: Session;
  #claim: LeaseClaim | undefined;
  #isEnding = false;
  /** Called when it turns out that the place is not hosted here for now. */
  #standsBy: () => void = () => {};
  #stopped: Promise<void> | undefined;

  constructor(ports: NodePorts) {
    const { node, place, clock, random, limits, logger, transport } = ports;
    this.ports = ports;
    const inspection = new Inspection(node, place, () => clock.now(), logger);
    const observers = new Observers(logger);
    const asks = new Asks(node, clock, random);
    const peers = new Peers(node, transport, logger);
    const children = new Children((address, session, result) =>
      this.#childSettled(address, session, result),
    );
    const performers = new Performers(clock, random, limits, logger, {
      send: (address, event, identity) => this.calls.deliver(address, event, identity),
      finished: (address, effect, failure) => ledger.finished(address, effect.id, failure),
    });
    const accept = (address: string, message: Message) => this.shard.accept(address, message);
    const isHosting = () => this.shard.isHosting;
    const delivery = new Delivery({ ...ports, peers, accept, isHosting });
    const hints = new Hints({ ...ports, peers, accept });
    const ledger = new Ledger({
      ...ports,
      inspection,
      delivery,
      performers,
      shard: () => this.shard,
    });
    const session = new Session(`session:${random.id()}@${node}`, delivery, limits.outboxMax);
    const handleOf = (address: string) => createSelf(address, this.calls, logger);
    const release = new Release({
      asks,
      children,
      delivery,
      hints,
      inspection,
      observers,
      performers,
      logger,
      owner: ledger,
      handleOf,
    });
    const shard = new Shard(
      { ...ports, inspection },
      {
        released: (turn) => release.turn(turn),
        resumed: (actor) => release.resume(actor),
        refused: (refusal, addresses) => {
          for (const address of addresses) delivery.forget(address);
          this.#standsBy();
          this.#tell({ type: 'commitRefused', error: messageOf(refusal), addresses });
        },
        deposed: (refusal) => this.#deposed(refusal),
      },
    );
    this.calls = new Calls({ place, limits, shard, session, hints, asks, observers });
    this.#arrivals = new Arrivals({
      place,
      shard,
      delivery,
      hints,
      peers,
      asks,
      logger,
      persisted: (address) => this.calls.persisted(address),
    });
    this.inspection = inspection;
    this.shard = shard;
    this.#asks = asks;
    this.#children = children;
    this.#delivery = delivery;
    this.#ledger = ledger;
    this.#peers = peers;
    this.#performers = performers;
    this.#session = session;
  }

  /** Resolves when the place is hosted here, or the lease is held by someone else. */
  async start(): Promise<void> {
    await this.ports.transport.start({
      peerUp: (peer) => {
        this.#peers.connected(peer);
        this.#delivery.resend([peer]);
        this.#tell({ type: 'peer', peer, change: 'up' });
      },
      peerDown: (peer) => {
        this.#peers.disconnected(peer);
        this.#tell({ type: 'peer', peer, change: 'down' });
      },
      frameReceived: (peer, frame) => this.#arrivals.frame(peer, frame),
    });
    await new Promise<void>((resolve) => {
      this.#standsBy = resolve;
      this.#hold(resolve);
      this.ports.clock.defer(() => {
        if (!this.shard.isOpening) resolve();
      });
    });
  }

  counts() {
    const { live, deadlines, ready } = this.shard.counts();
    const underWay = this.#delivery.size;
    return {
      live,
      deadlines,
      ready,
      underWay,
      asks: this.#asks.size,
      performers: this.#performers.busy,
    };
  }

  /** Takes no new calls, finishes what waits, commits, and closes. */
  stop(): Promise<void> {
    this.#stopped ??= this.#drain();
    return this.#stopped;
  }

  /** Ends at once: nothing is finished, nothing uncommitted leaves, the store stays open. */
  crash(): void {
    this.#stopped ??= Promise.resolve();
    this.#end();
    void this.ports.transport.stop();
  }

  async #drain(): Promise<void> {
    const { clock, limits, transport, store } = this.ports;
    this.calls.close();
    const endsAt = clock.now() + limits.drainMs;
    while (clock.now() < endsAt && (!this.shard.isQuiet || this.#performers.busy > 0)) {
      await new Promise<void>((resolve) => {
        clock.schedule(clock.now() + 1, resolve);
      });
    }
    this.#end();
    await transport.stop();
    await store.close();
  }

  #end(): void {
    this.#isEnding = true;
    this.#standsBy();
    this.calls.close();
    this.#claim?.release();
    this.shard.close();
    this.#performers.stop(new RuntimeError('RUNTIME_STOPPED', 'The runtime has stopped.'));
    this.#children.stopAll();
    this.#delivery.stop();
    this.#asks.stop();
    this.#session.stop();
  }

  #hold(opened: () => void): void {
    const { lease, place, node, logger } = this.ports;
    this.#claim = lease.hold(place, {
      acquired: (fence) => {
        if (this.#isEnding) return;
        const isHeld = () => this.#claim?.isHeld() === true;
        this.shard.open(fence, isHeld, () => {
          this.#peers.announce([[place, fence]]);
          this.#delivery.resend([place]);
          logger.info({ node, place, fence }, 'hosting');
          this.#tell({ type: 'lease', change: 'acquired', fence });
          opened();
        });
      },
      lost: () =>
        this.#deposed(new RuntimeError('NOT_HOSTED', `The lease of "${place}" was lost.`)),
    });
  }

  /** This node no longer hosts its place: everything uncommitted is dropped, and it waits for the lease again. */
  #deposed(refusal: Error): void {
    if (this.#isEnding || !(this.shard.isHosting || this.shard.isOpening)) return;
    this.#standsBy();
    const { node, place, logger, clock, limits } = this.ports;
    const { fence } = this.shard;
    logger.warn({ node, place, fence, reason: messageOf(refusal) }, 'no longer hosting');
    this.#tell({ type: 'lease', change: 'lost', fence });
    this.shard.close();
    this.#children.stopAll();
    this.#performers.stop(new RuntimeError('NOT_HOSTED', `This node no longer hosts "${place}".`));
    this.#delivery.forgetAllOf(this.#ledger);
    this.#peers.announce([]);
    if ((refusal as Partial<RuntimeError>).code !== 'FENCE_STALE') return;
    // The lease says we hold the place and the store says we do not: the store is right. Ask again, later.
    this.#claim?.release();
    clock.schedule(clock.now() + limits.retryMaxMs, () => {
      if (!this.#isEnding) this.#hold(() => {});
    });
  }

  /** Tries a durable effect again that was given up. @throws {RuntimeError} NOT_HOSTED, ACTOR_UNKNOWN */
  retryEffect(address: string, effect: PendingEffect): void {
    this.calls.committed(address);
    this.#ledger.retry(address, effect);
  }

  #childSettled(
    address: string,
    session: number,
    result: Parameters<ConstructorParameters<typeof Children>[0]>[2],
  ): void {
    const actor = this.shard.live.get(address);
    if (actor !== undefined) actor.runningChildren = this.#children.countOf(address);
    this.shard.notify(address, { type: 'childSettled', session, result });
  }

  #tell(fact: InspectionFact): void {
    if (this.inspection.hasReaders) this.inspection.tell(fact);
  }
}
