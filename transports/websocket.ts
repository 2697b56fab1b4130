/**
 * WebSocket transport: frames between nodes, in other processes and on other machines.
 *
 * Guarantees, besides those of every transport: a peer has proved who it is before it counts as one; there is
 * one connection for each pair of nodes, whichever of them dialled; a peer that is lost is dialled again; a
 * peer that breaks the rules, floods, stalls or vanishes is disconnected without harm to others. The
 * transport sends nothing again: that is for the runtime.
 *
 * A caller goes dialler → doorway → link; a frame goes link → frame-text → link. Connected peers are in
 * links, the listener is in door, every limit in limits. Decision 0021 has the reasons.
 */

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type Logger, SILENT_LOGGER } from '../runtime/base/limits.ts';
import type { Cancel, Clock } from '../runtime/ports/clock.ts';
import {
  type PeerIdentity,
  type ProvedPeer,
  startedOnce,
  type Transport,
  type TransportListener,
} from '../runtime/ports/transport.ts';
import { SystemClock } from '../runtime/system/clock.ts';
import { systemRandom } from '../runtime/system/random.ts';
import { Bans } from './websocket/bans.ts';
import { identityOf, type KnownClaim } from './websocket/claim.ts';
import { type Counters, newCounters } from './websocket/counters.ts';
import { DialQueue } from './websocket/dial-queue.ts';
import { Dialler } from './websocket/dialler.ts';
import { Door } from './websocket/door.ts';
import { Doorway } from './websocket/doorway.ts';
import { CLOSE, Link } from './websocket/link.ts';
import { Links } from './websocket/links.ts';
import { resolveSettings, type Settings, type WebSocketOptions } from './websocket/options.ts';
import { Slice } from './websocket/slice.ts';

export type { WebSocketLimits } from './websocket/limits.ts';
export type { WebSocketOptions, WebSocketTls } from './websocket/options.ts';

export interface WebSocketTransport extends Transport {
  /**
   * URL at which it listens once started, such as `ws://127.0.0.1:41234/peers`; nothing when it only
   * dials.
   */
  readonly url: string | undefined;
  /** Identity that a connected peer has proved. */
  identityOf(node: string): PeerIdentity | undefined;
  /** Asks `clientOf` again about every client that is connected, and hangs up on those whose token does not hold. */
  recheckClients(): void;
  /** Counters of what has happened so far, by name; numbers only rise, except `links`. */
  counters(): Readonly<Record<string, number>>;
}

/** @throws {RuntimeError} OPTION_INVALID, also when a listener could be reached unprotected. */
export function websocketTransport(options: WebSocketOptions): WebSocketTransport {
  return new WebSockets(options);
}

/** Pause between looks at all links, unless their limits are shorter. */
const TICK_MS = 1_000;

class WebSockets implements WebSocketTransport {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #ownClock: SystemClock | undefined;
  readonly #logger: Logger;
  readonly #counters: Counters = newCounters();
  readonly #bans: Bans;
  readonly #links: Links;
  readonly #door: Door;
  readonly #diallers: Dialler[];
  readonly #superseding: WebSocketOptions['onSuperseded'];
  readonly #onNamesake: WebSocketOptions['onNamesake'];
  /** Open links, with those that are saying goodbye. */
  readonly #open = new Set<Link>();
  /** Clients that came in, each with whether its token still holds. */
  readonly #clients = new Map<Link, () => boolean>();
  #cancelTick: Cancel | undefined;
  readonly #slice: Slice;
  #pingAt = 0;
  #isSuperseded = false;
  #hasNamesake = false;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #stopping: Promise<void> | undefined;

  constructor(options: WebSocketOptions) {
    this.#ownClock = options.clock === undefined ? new SystemClock() : undefined;
    const clock = options.clock ?? (this.#ownClock as SystemClock);
    const settings = resolveSettings(options, clock.now());
    const logger = options.logger ?? SILENT_LOGGER;
    const counters = this.#counters;
    const { limits } = settings;
    this.#settings = settings;
    this.#clock = clock;
    this.#slice = new Slice(clock);
    this.#logger = logger;
    this.#superseding = options.onSuperseded;
    this.#onNamesake = options.onNamesake;
    this.#bans = new Bans(clock, limits.banMs);
    this.#links = new Links({
      own: settings.own,
      clock,
      logger,
      handshakeMs: limits.handshakeMs,
      bootAheadMaxMs: limits.bootAheadMaxMs,
      changed: (node, isUp) => this.#changed(node, isUp),
    });
    const shared = {
      options,
      settings,
      clock,
      logger,
      counters,
      bans: this.#bans,
      links: this.#links,
      namesake: () => this.#namesake(),
    };
    this.#door = new Door({
      ...shared,
      doorway: new Doorway(shared),
      opened: (webSocket, socket, { caller, linkId, holds }) => {
        const link = this.#opened(webSocket, socket, caller, linkId, false);
        if (holds === undefined) return;
        this.#clients.set(link, holds);
        void link.ended.then(() => this.#clients.delete(link));
        // A list that changed while it came in was asked about others only.
        if (!holds()) this.#hangUp(link);
      },
    });
    const queue = new DialQueue(limits.dialsMax);
    const random = options.random ?? systemRandom();
    this.#diallers = settings.peers.map(
      (url) =>
        new Dialler(url, {
          ...shared,
          random,
          queue,
          superseded: (node) => this.#superseded(node),
          opened: (webSocket, socket, peer, linkId) =>
            this.#opened(webSocket, socket, peer, linkId, true),
        }),
    );
  }

  get own(): ProvedPeer {
    return this.#settings.own;
  }

  get url(): string | undefined {
    return this.#door.url;
  }

  async start(listener: TransportListener): Promise<void> {
    const { node } = this.#settings.own;
    if (this.#state !== 'new') throw startedOnce(node);
    this.#state = 'started';
    this.#links.listen(listener);
    await this.#door.open();
    this.#pingAt = this.#clock.now() + this.#settings.limits.pingMs;
    this.#planTick();
    const own = this.url;
    for (const dialler of this.#diallers) if (dialler.url.href !== own) dialler.start();
  }

  send(node: string, frame: string): boolean {
    return this.#links.get(node)?.send([frame]) ?? false;
  }

  sendTogether(node: string, frames: readonly string[]): boolean {
    return this.#links.get(node)?.send(frames) ?? false;
  }

  peers(): readonly string[] {
    return this.#links.nodes();
  }

  frameBytesMax(node: string): number {
    const { limits } = this.#settings;
    return this.#links.get(node)?.frameBytesMax ?? limits.clientFrameBytesMax;
  }

  isCongested(node: string): boolean {
    return this.#links.get(node)?.isCongested ?? false;
  }

  /** Takes effect once the caller has returned; nothing more of that peer is handed over. */
  expel(node: string, reason: string): void {
    this.#links.get(node)?.expelSoon(reason);
  }

  identityOf(node: string): PeerIdentity | undefined {
    const peer = this.#links.get(node)?.peer;
    return peer && identityOf(peer);
  }

  recheckClients(): void {
    for (const [link, holds] of this.#clients) if (!holds()) this.#hangUp(link);
  }

  counters(): Readonly<Record<string, number>> {
    return { ...this.#counters, links: this.#links.size };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#state = 'stopped';
    this.#links.mute();
    this.#cancelTick?.();
    for (const dialler of this.#diallers) dialler.stop();
    for (const link of this.#links.all()) link.close(CLOSE.goingAway, 'this node stops');
    await Promise.all([...this.#open].map((link) => link.ended));
    await this.#door.close();
    this.#ownClock?.stop();
  }

  #opened(
    webSocket: WebSocket,
    socket: Socket,
    peer: KnownClaim,
    linkId: string,
    isDialled: boolean,
  ): Link {
    const isClientSide = this.#settings.own.rights.isClient;
    const link = new Link(
      { peer, linkId, isDialled, isClientSide, webSocket, socket },
      {
        slice: this.#slice,
        clock: this.#clock,
        limits: this.#settings.limits,
        logger: this.#logger,
        counters: this.#counters,
        frameReceived: (from, frame) => this.#links.frameReceived(from, frame),
        closed: (closed) => this.#links.closed(closed),
        superseded: ({ peer: { node } }) => this.#superseded(node),
        expelled: ({ peer: { node } }) => this.#bans.add(node),
      },
    );
    this.#open.add(link);
    void link.ended.then(() => this.#open.delete(link));
    if (this.#state === 'stopped') {
      link.terminate();
      return link;
    }
    this.#counters.linksOpened += 1;
    this.#links.open(link);
    return link;
  }

  #hangUp(link: Link): void {
    const { node } = link.peer;
    this.#logger.warn(
      { peer: node },
      'a client was disconnected: its token does not hold any more',
    );
    link.close(CLOSE.policy, 'the token does not hold any more');
  }

  #superseded(by: string): void {
    if (this.#isSuperseded || this.#state === 'stopped') return;
    this.#isSuperseded = true;
    this.#logger.error({ peer: by }, 'a later start of this node has taken its place');
    this.#superseding?.(by);
  }

  #namesake(): void {
    if (this.#hasNamesake || this.#state === 'stopped') return;
    this.#hasNamesake = true;
    const { node } = this.#settings.own;
    this.#logger.error({ node }, 'a node that was started before has the name of this one');
    this.#onNamesake?.();
  }

  #changed(node: string, isUp: boolean): void {
    if (this.#state !== 'started') return;
    for (const dialler of this.#diallers) {
      if (isUp) dialler.peerUp(node);
      else dialler.peerDown(node);
    }
  }

  #planTick(): void {
    const { pingMs, unfinishedFrameMs, drainMs } = this.#settings.limits;
    const pauseMs = Math.min(TICK_MS, pingMs, unfinishedFrameMs / 2, drainMs / 2);
    this.#cancelTick = this.#clock.schedule(this.#clock.now() + Math.ceil(pauseMs), () => {
      const now = this.#clock.now();
      const isPing = now >= this.#pingAt;
      if (isPing) this.#pingAt = now + pingMs;
      for (const link of this.#links.all()) link.tick(now, isPing);
      this.#planTick();
    });
  }
}
