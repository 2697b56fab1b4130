/**
 * Connections of a server: those that have said nothing yet, those that are served, those that idle.
 *
 *   arrived ─▶ silent ─head─▶ served ─answer─▶ idle ─head─▶ served …
 *                └──── upgraded: left to the WebSocket server ────────
 *
 * Guarantees: a newcomer finds a place unless all of them are served: the connection that has been
 * silent longest makes room for it, else the connection that has idled longest. A part of the places is
 * kept from requests, so that however many are served a peer can come and say who it is. Where the
 * process has no descriptor left, room is made at once and the rest is refused for a while, without
 * a word in the log for each.
 */

import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../runtime/base/limits.ts';
import { Bucket } from '../runtime/base/token-bucket.ts';
import { Newcomers } from '../runtime/delivery.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { HttpLimits } from './limits.ts';

/** Counts of connections by what happened to them; numbers only rise. */
export interface ConnectionCounts {
  /** Beyond those that an address, or everybody, may have. */
  connectionsRefused: number;
  /** Said nothing whole in time, or made room for a newer one. */
  connectionsSilenced: number;
  /** Could not be taken in, for want of a descriptor. */
  acceptsFailed: number;
}

interface Connection {
  readonly address: string;
  /** The socket that speaks TLS, once there is one. */
  socket: Duplex;
  /** Ends its time as a silent one. */
  heard: () => void;
  /** Requests of it that have no whole answer yet. */
  requests: number;
}

/** A share of all places, kept from requests. */
const KEPT_SHARE = 8;
/** Silent and idle ones that go at once when there is no descriptor left. */
const SHED_AT_ONCE = 16;
/** Time for which newcomers are refused then. */
const BACK_OFF_MS = 1_000;

/** Marks a listener for upgrades that answers none of them; transports/websocket/door.ts looks for it. */
const OBSERVER = Symbol.for('escapement.observer');

export class Connections {
  readonly counts: ConnectionCounts = {
    connectionsRefused: 0,
    connectionsSilenced: 0,
    acceptsFailed: 0,
  };
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #newcomers: Newcomers;
  readonly #all = new Set<Connection>();
  readonly #byAddress = new Map<string, number>();
  /** Connections in the order in which they began to idle. */
  readonly #idle = new Set<Connection>();
  /** Connections by their sockets, and by the TLS sockets over these. */
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  readonly #logged: Bucket;
  #served = 0;
  #refusesUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, logger: Logger, limits: HttpLimits) {
    this.#clock = clock;
    this.#logger = logger;
    this.#limits = limits;
    const { firstHeadMs } = limits;
    const unlimited = { max: Number.POSITIVE_INFINITY, perAddressMax: Number.POSITIVE_INFINITY };
    this.#newcomers = new Newcomers(clock, { ...unlimited, silentMs: firstHeadMs });
    this.#logged = new Bucket(clock, 1, BACK_OFF_MS);
  }

  /** Follows every connection of a server from now on. */
  follow(server: Server | TlsServer): void {
    server.on('connection', (socket: Socket) => this.#arrived(socket));
    server.on('secureConnection', (secure: Socket) => this.#secured(secure));
    server.prependListener('request', ({ socket }, response) => {
      const connection = this.#bySocket.get(socket);
      if (connection === undefined) return;
      this.#serve(connection);
      response.once('close', () => this.#answered(connection));
    });
    const leave = (_request: unknown, socket: Duplex): void => {
      const connection = this.#bySocket.get(socket);
      if (connection !== undefined) this.#leave(connection);
    };
    // The WebSocket server answers those that nobody else takes: this listener takes none.
    const upgraded = Object.assign(leave, { [OBSERVER]: true });
    // Where nobody listens for upgrades they are requests, and that is to stay so.
    const follows = (event: string): void => {
      if (event !== 'upgrade') return;
      server.off('newListener', follows);
      server.prependListener('upgrade', upgraded);
    };
    if (server.listenerCount('upgrade') > 0) server.prependListener('upgrade', upgraded);
    else server.on('newListener', follows);
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === 'accept') this.#exhausted(error);
      else if (server.listenerCount('error') === 1) throw error;
    });
  }

  /** Number of connections now; those that were upgraded are not among them. */
  get size(): number {
    return this.#all.size;
  }

  /** False when requests have all the places that they may have. */
  get mayServe(): boolean {
    const { connectionsMax } = this.#limits;
    return this.#served <= connectionsMax - Math.floor(connectionsMax / KEPT_SHARE);
  }

  #arrived(socket: Socket): void {
    socket.on('error', () => {});
    const { remoteAddress: address } = socket;
    // It has gone already, or comes while nothing is left for it.
    if (address === undefined || this.#clock.now() < this.#refusesUntil) {
      if (address !== undefined) this.counts.connectionsRefused += 1;
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, address, heard: () => {}, requests: 0 };
    this.#all.add(connection);
    this.#bySocket.set(socket, connection);
    const ofAddress = (this.#byAddress.get(address) ?? 0) + 1;
    this.#byAddress.set(address, ofAddress);
    socket.once('close', () => this.#leave(connection));
    connection.heard = this.#newcomers.arrived(address, () => {
      this.counts.connectionsSilenced += 1;
      this.#end(connection);
    });
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
    if (ofAddress > connectionsPerAddressMax) this.#makeRoom(connection, address);
    else if (this.#all.size > connectionsMax) this.#makeRoom(connection);
  }

  /** Makes room for one more, which is silent itself. */
  #makeRoom(newcomer: Connection, address?: string): void {
    const silent =
      address === undefined ? this.#newcomers.size : this.#newcomers.ofAddress(address);
    if (silent > 1) {
      this.#newcomers.cutOffOldest(address);
      return;
    }
    for (const idle of this.#idle) {
      if (address !== undefined && idle.address !== address) continue;
      this.#end(idle);
      return;
    }
    this.counts.connectionsRefused += 1;
    this.#end(newcomer);
  }

  #serve(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    connection.heard();
    this.#idle.delete(connection);
    connection.requests += 1;
    if (connection.requests === 1) this.#served += 1;
  }

  #answered(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    connection.requests -= 1;
    if (connection.requests > 0) return;
    this.#served -= 1;
    this.#idle.add(connection);
  }

  #secured(secure: Socket & { readonly _parent?: Duplex }): void {
    const connection = secure._parent && this.#bySocket.get(secure._parent);
    if (connection === undefined) return;
    connection.socket = secure;
    this.#bySocket.set(secure, connection);
    secure.once('close', () => this.#leave(connection));
  }

  #end(connection: Connection): void {
    this.#leave(connection);
    connection.socket.destroy();
  }

  #leave(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    connection.heard();
    this.#idle.delete(connection);
    if (connection.requests > 0) this.#served -= 1;
    const left = (this.#byAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) this.#byAddress.set(connection.address, left);
    else this.#byAddress.delete(connection.address);
  }

  /** The system has a connection for us and no descriptor to put it in. */
  #exhausted(error: NodeJS.ErrnoException): void {
    this.counts.acceptsFailed += 1;
    this.#refusesUntil = this.#clock.now() + BACK_OFF_MS;
    this.#newcomers.cutOffOldest(undefined, SHED_AT_ONCE);
    for (const idle of [...this.#idle].slice(0, SHED_AT_ONCE)) this.#end(idle);
    if (!this.#logged.take(1)) return;
    const fields = { event: 'connection.notAccepted', error: error.message, open: this.size };
    this.#logger.error(fields, 'a connection could not be taken in: no descriptor is left');
  }
}
