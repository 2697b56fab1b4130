/**
 * Node: the shard it hosts and everything around it, wired together.
 *
 * This file only connects, starts and stops. A message from a peer goes transport →
 * arrivals → shard; what a durable turn asked for goes shard → release → delivery,
 * performers, children, observers.
 */

import type { PendingEffect } from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import { Inspection, type InspectionFact } from '../base/inspection.ts';
import { Metrics, type MetricsSnapshot } from '../base/metrics.ts';
import type { Delivery } from '../delivery.ts';
import { Asks } from '../delivery.ts';
import { Children, Ledger, Observers, Performers, Questions, Release } from '../effects.ts';
import {
  Hosting,
  type HostingListener,
  reportStopFailure,
  Shard,
  type ShardListener,
} from '../shard.ts';
import type { ChildResult } from '../statechart.ts';
import { Calls } from './calls.ts';
import { createSelf } from './handle.ts';
import { Arrivals } from './inbound.ts';
import { createMessaging, type Messaging } from './messaging.ts';
import type { NodePorts } from './node-ports.ts';
import { performerOutlet } from './performer-outlet.ts';
import { Reads } from './reads.ts';
import { Watchers } from './watchers.ts';
import { Watches } from './watches.ts';

export class Node {
  readonly ports: NodePorts;
  readonly inspection: Inspection;
  readonly metrics = new Metrics();
  /** Aborted when the node has ended, whichever way. */
  readonly ending = new AbortController();
  readonly shard: Shard;
  readonly calls: Calls;
  readonly messaging: Messaging;
  readonly hosting: Hosting;
  readonly performers: Performers;
  readonly reads: Reads;
  readonly watches: Watches;
  readonly watchers: Watchers;
  readonly #asks: Asks;
  readonly #arrivals: Arrivals;
  readonly #children: Children;
  readonly #ledger: Ledger;
  readonly #questions: Questions;
  #stopped: Promise<void> | undefined;

  constructor(ports: NodePorts) {
    const { node, clock, random, limits, logger } = ports;
    const { metrics } = this;
    this.ports = ports;
    const inspection = new Inspection(node, ports.place, () => clock.now(), logger);
    if (ports.inspect !== undefined) inspection.read(ports.inspect);
    const observers = new Observers(logger);
    const asks = new Asks(node, clock, random);
    const children = new Children((address, session, result) =>
      this.#childSettled(address, session, result),
    );
    const undelivered: Questions['undelivered'] = (...what) => questions.undelivered(...what);
    const messaging = createMessaging(ports, {
      metrics,
      undelivered,
      accept: (address, message) => this.shard.accept(address, message),
      isHosting: () => this.shard.isHosting,
    });
    const questions = new Questions({
      ...ports,
      ...messaging,
      metrics,
      asks,
      shard: () => this.shard,
    });
    const outlet = performerOutlet(this, questions, () => ledger);
    const performers = new Performers(clock, random, limits, logger, outlet);
    const shown = { inspection, metrics, observers };
    const work = { ...messaging, asks, questions, children, performers };
    const ledger = new Ledger({ ...ports, ...work, inspection, shard: () => this.shard });
    const release = new Release({
      ...work,
      ...shown,
      logger,
      owner: ledger,
      handleOf: (address, system) => createSelf(address, system, this.calls, logger, undelivered),
    });
    const listener = this.#listener(release, messaging.delivery);
    const shard = new Shard({ ...ports, ...shown }, listener);
    const parts = { ...ports, ...work, ...shown, shard };
    this.watches = new Watches(parts);
    this.watchers = new Watchers(parts);
    this.calls = new Calls({ ...parts, watches: this.watches });
    this.reads = new Reads({ ...parts, calls: this.calls, watchers: this.watchers });
    this.#arrivals = new Arrivals({
      ...parts,
      reads: this.reads,
      watches: this.watches,
      outranked: (known, isHosted) => this.hosting.outranked(known, isHosted),
    });
    this.hosting = new Hosting({ ...ports, shard }, this.#hostingListener());
    this.inspection = inspection;
    this.shard = shard;
    this.messaging = messaging;
    this.#asks = asks;
    this.#children = children;
    this.#ledger = ledger;
    this.performers = performers;
    this.#questions = questions;
  }

  /** Resolves when the place is hosted here, or the lease is held by someone else. */
  async start(): Promise<void> {
    await this.ports.transport.start({
      peerUp: (peer, identity) => {
        this.#arrivals.connected(peer, identity);
        this.messaging.peers.connected(peer, identity !== undefined);
        this.messaging.delivery.resend([peer]);
        this.watches.review([peer, this.ports.place]);
        this.#tell({ type: 'peer', peer, change: 'up' });
      },
      peerDown: (peer) => {
        this.#arrivals.disconnected(peer);
        this.messaging.peers.disconnected(peer);
        this.watchers.disconnected(peer);
        this.watches.disconnected(peer);
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
      ...this.messaging.delivery.counts(),
      asks: this.#asks.size,
      questions: this.#questions.size,
      watches: this.watches.size,
      watchers: this.watchers.size,
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
      latenessMs: this.shard.latenessMs,
      messagesUnderWay: unanswered,
      placesSilent: this.messaging.delivery.silentPlaces,
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
    this.messaging.delivery.stop();
    this.messaging.peers.stop();
    this.#asks.stop();
    this.#questions.clear();
    this.watches.stop();
    this.watchers.stop();
    this.messaging.session.stop();
    this.ending.abort();
  }

  #hostingListener(): HostingListener {
    return {
      began: (fence) => this.#began(fence),
      ended: (fence) => this.#ended(fence),
      contests: (fence) => this.messaging.peers.announce([[this.ports.place, fence]]),
      failed: (failure, isStarting) => this.#failed(failure, isStarting),
    };
  }

  #listener(release: Release, delivery: Delivery): ShardListener {
    return {
      sent: (actor, rows) => release.handOver(actor, rows),
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
    this.messaging.peers.announce([[place, fence]]);
    this.messaging.delivery.resend([place]);
    this.watches.review([place]);
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
    this.messaging.delivery.forgetAllOf(this.#ledger);
    this.messaging.peers.announce([]);
    this.watchers.refuseAll();
    this.watches.review([place]);
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

  #childSettled(address: string, session: number, result: ChildResult): void {
    if (result.type === 'stopFailed') {
      this.metrics.childStopsFailed += 1;
      reportStopFailure(address, result, this.ports.logger);
    }
    const actor = this.shard.live.get(address);
    if (actor !== undefined) actor.runningChildren = this.#children.countOf(address);
    this.shard.notify(address, { type: 'childSettled', session, result });
  }

  #tell(fact: InspectionFact): void {
    this.ports.attend?.(this.inspection);
    if (this.inspection.hasReaders) this.inspection.tell(fact);
  }
}
