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
import { Delivery } from './delivery.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { createSelf } from './handle.ts';
import { Hints } from './hints.ts';
import { Hosting, type HostingListener } from './hosting.ts';
import { Inspection, type InspectionFact } from './inspection.ts';
import { Ledger } from './ledger.ts';
import type { Message } from './mailbox.ts';
import { Metrics, type MetricsSnapshot } from './metrics.ts';
import type { NodePorts } from './node-ports.ts';
import { Observers } from './observers.ts';
import { Peers } from './peers.ts';
import { performerOutlet } from './performer-outlet.ts';
import { Performers } from './performers.ts';
import { Questions } from './questions.ts';
import { Release } from './release.ts';
import { Session } from './session.ts';
import { Shard, type ShardListener } from './shard.ts';

export class Node {
  readonly ports: NodePorts;
  readonly inspection: Inspection;
  readonly metrics = new Metrics();
  /** Aborted when the node has ended, whichever way. */
  readonly ending = new AbortController();
  readonly shard: Shard;
  readonly calls: Calls;
  readonly delivery: Delivery;
  readonly hosting: Hosting;
  readonly performers: Performers;
  readonly #asks: Asks;
  readonly #arrivals: Arrivals;
  readonly #children: Children;
  readonly #ledger: Ledger;
  readonly #peers: Peers;
  readonly #questions: Questions;
  readonly #session: Session;
  #stopped: Promise<void> | undefined;

  constructor(ports: NodePorts) {
    const { node, clock, random, limits, logger, transport } = ports;
    const { metrics } = this;
    this.ports = ports;
    const inspection = new Inspection(node, ports.place, () => clock.now(), logger);
    if (ports.inspect !== undefined) inspection.read(ports.inspect);
    const observers = new Observers(logger);
    const asks = new Asks(node, clock, random);
    const peers = new Peers(node, transport, logger, ports);
    const children = new Children((address, session, result) =>
      this.#childSettled(address, session, result),
    );
    const accept = (address: string, message: Message) => this.shard.accept(address, message);
    const isHosting = () => this.shard.isHosting;
    const delivery = new Delivery({ ...ports, peers, metrics, accept, isHosting });
    const undelivered: Questions['undelivered'] = (...what) => questions.undelivered(...what);
    const hints = new Hints({ ...ports, peers, metrics, accept, undelivered });
    const questions = new Questions({
      ...ports,
      metrics,
      asks,
      hints,
      coming: (address) => this.shard.coming(address),
    });
    const outlet = performerOutlet(this, questions, () => ledger);
    const performers = new Performers(clock, random, limits, logger, outlet);
    const ledger = new Ledger({
      ...ports,
      inspection,
      delivery,
      performers,
      questions,
      shard: () => this.shard,
    });
    const session = new Session(`session:${random.id()}@${node}`, delivery, clock, limits);
    const release = new Release({
      asks,
      children,
      delivery,
      hints,
      inspection,
      metrics,
      observers,
      performers,
      questions,
      logger,
      owner: ledger,
      handleOf: (address, system) => createSelf(address, system, this.calls, logger, undelivered),
    });
    const shard = new Shard({ ...ports, inspection, metrics }, this.#listener(release, delivery));
    this.calls = new Calls({ ...ports, asks, questions, hints, session, peers, shard, observers });
    this.#arrivals = new Arrivals({
      ...ports,
      shard,
      delivery,
      hints,
      peers,
      asks,
      questions,
      metrics,
      persisted: (address) => this.calls.persisted(address),
      outranked: (known, isHosted) => this.hosting.outranked(known, isHosted),
    });
    this.hosting = new Hosting({ ...ports, shard }, this.#hostingListener());
    this.inspection = inspection;
    this.shard = shard;
    this.#asks = asks;
    this.#children = children;
    this.delivery = delivery;
    this.#ledger = ledger;
    this.#peers = peers;
    this.performers = performers;
    this.#questions = questions;
    this.#session = session;
  }

  /** Resolves when the place is hosted here, or the lease is held by someone else. */
  async start(): Promise<void> {
    await this.ports.transport.start({
      peerUp: (peer, identity) => {
        this.#arrivals.connected(peer, identity);
        this.#peers.connected(peer, identity !== undefined);
        this.delivery.resend([peer]);
        this.#tell({ type: 'peer', peer, change: 'up' });
      },
      peerDown: (peer) => {
        this.#arrivals.disconnected(peer);
        this.#peers.disconnected(peer);
        this.#asks.lost(peer);
        this.#tell({ type: 'peer', peer, change: 'down' });
      },
      frameReceived: (peer, frame) => this.metrics.receive(() => this.#arrivals.frame(peer, frame)),
    });
    await this.hosting.start();
  }

  counts() {
    const { live, deadlines, ready } = this.shard.counts();
    return {
      live,
      deadlines,
      ready,
      ...this.delivery.counts(),
      asks: this.#asks.size,
      questions: this.#questions.size,
      performers: this.performers.busy,
    };
  }

  snapshot(): MetricsSnapshot {
    const { node, place } = this.ports;
    const { isHosting, fence } = this.shard;
    const { live, ready, deadlines, unanswered, performers } = this.counts();
    return this.metrics.snapshot({
      node,
      place,
      isHosting,
      fence,
      liveActors: live,
      deadlines,
      readyActors: ready,
      messagesUnderWay: unanswered,
      placesSilent: this.delivery.silentPlaces,
      performersBusy: performers,
    });
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
    while (clock.now() < endsAt && (!this.shard.isQuiet || this.performers.busy > 0)) {
      await new Promise<void>((resolve) => {
        clock.schedule(clock.now() + 1, resolve);
      });
    }
    // Those who asked from here hear that the runtime has stopped.
    this.#asks.stop();
    this.#questions.refuseAll('its node stops.');
    this.#end();
    await transport.stop();
    await store.close();
  }

  #end(): void {
    this.calls.close();
    this.hosting.end();
    this.shard.close();
    this.performers.stop(new RuntimeError('RUNTIME_STOPPED', 'The runtime has stopped.'));
    this.#children.stopAll();
    this.delivery.stop();
    this.#peers.stop();
    this.#asks.stop();
    this.#questions.clear();
    this.#session.stop();
    this.ending.abort();
  }

  #hostingListener(): HostingListener {
    return {
      began: (fence) => this.#began(fence),
      ended: (fence) => this.#ended(fence),
      contests: (fence) => this.#peers.announce([[this.ports.place, fence]]),
      failed: (failure, isStarting) => this.#failed(failure, isStarting),
    };
  }

  #listener(release: Release, delivery: Delivery): ShardListener {
    return {
      released: (turn) => release.turn(turn),
      committed: () => this.hosting.committed(),
      resumed: (actor) => release.resume(actor),
      refused: (refusal, addresses) => {
        for (const address of addresses) delivery.forget(address);
        this.hosting.refused(refusal);
        this.#tell({ type: 'commitRefused', error: messageOf(refusal), addresses });
      },
      deposed: (refusal) => this.hosting.deposed(refusal),
      failed: (failure) => this.hosting.failed(failure),
    };
  }

  #began(fence: number): void {
    const { place } = this.ports;
    this.#peers.announce([[place, fence]]);
    this.delivery.resend([place]);
    this.metrics.leasesAcquired += 1;
    this.metrics.recordsDamaged = [...this.ports.store.damaged()].length;
    this.#tell({ type: 'lease', change: 'acquired', fence });
    this.ports.hosting?.(fence);
  }

  #ended(fence: number): void {
    this.metrics.leasesLost += 1;
    this.#tell({ type: 'lease', change: 'lost', fence });
    this.#children.stopAll();
    const { place } = this.ports;
    this.performers.stop(new RuntimeError('NOT_HOSTED', `This node no longer hosts "${place}".`));
    this.#questions.refuseAll(`its node no longer hosts "${place}".`);
    this.delivery.forgetAllOf(this.#ledger);
    this.#peers.announce([]);
    this.ports.hostingEnded?.(fence);
  }

  /** Better no node than a wrong one. */
  #failed(failure: Error, isStarting: boolean): void {
    const { store, logger, fatal } = this.ports;
    this.crash();
    store.close().catch((thrown: unknown) => {
      logger.error({ error: messageOf(thrown) }, 'the store could not be closed');
    });
    if (!isStarting) fatal(failure);
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
    this.ports.attend?.(this.inspection);
    if (this.inspection.hasReaders) this.inspection.tell(fact);
  }
}
