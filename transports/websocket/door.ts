/**
 * Door: takes connections in, by a server of its own, or by upgrades on a path of somebody else's.
 *
 * Guarantees: every socket has a listener for errors from its first moment; nobody becomes a
 * WebSocket before `doorway` has judged; callers that say nothing, too much or nonsense are cut off
 * and counted, without a word in the log for each.
 */

import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  STATUS_CODES,
} from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../../runtime/base/limits.ts';
import { Bucket } from '../../runtime/base/token-bucket.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { listenTls } from './certificate.ts';
import { chooseVersion, HEADERS, protocolOf } from './claim.ts';
import type { Counters } from './counters.ts';
import { Crowd } from './crowd.ts';
import { type Admission, type Doorway, isRefusal, type Refusal } from './doorway.ts';
import { isLoopback } from './loopback.ts';
import {
  checkReachable,
  isSafeOffLoopback,
  type Settings,
  type WebSocketOptions,
} from './options.ts';

const HEADER_BYTES_MAX = 16 * 1024;
const REFUSALS_LOGGED_PER_SECOND = 5;
/** Symbol on a listener for upgrades that answers none of them, such as that of http/connections.ts. */
const OBSERVER = Symbol.for('escapement.observer');

export interface DoorServices {
  readonly options: WebSocketOptions;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly doorway: Doorway;
  opened(webSocket: WebSocket, socket: Socket, admission: Admission): void;
}

export class Door {
  readonly #services: DoorServices;
  readonly #crowd: Crowd;
  readonly #logged: Bucket;
  readonly #peers: WebSocketServer;
  readonly #clients: WebSocketServer;
  readonly #answers = new WeakMap<IncomingMessage, Admission>();
  readonly #sockets = new Set<Duplex>();
  #server: HttpServer | HttpsServer | undefined;
  #isOwn = false;

  constructor(services: DoorServices) {
    this.#services = services;
    const { limits } = services.settings;
    this.#crowd = new Crowd(services.clock, limits);
    this.#logged = new Bucket(services.clock, REFUSALS_LOGGED_PER_SECOND);
    this.#peers = this.#socketServer(limits.peerFrameBytesMax, 4_096);
    this.#clients = this.#socketServer(limits.clientFrameBytesMax, 1_024);
  }

  /** @throws {RuntimeError} OPTION_INVALID; what the system says when it cannot listen. */
  async open(): Promise<void> {
    const { options, settings } = this.#services;
    if (options.server !== undefined) {
      checkReachable(options, addressOf(options.server)?.address);
      this.#server = options.server;
    } else if (options.listen !== undefined) {
      this.#server = this.#ownServer();
      this.#isOwn = true;
      await listening(this.#server, settings.host, options.listen.port);
    }
    this.#server?.on('upgrade', this.#upgrade);
  }

  get url(): string | undefined {
    if (this.#server === undefined) return undefined;
    const bound = addressOf(this.#server);
    if (bound === undefined) return undefined;
    const { options, settings } = this.#services;
    const scheme = isSecure(this.#server) ? 'wss' : 'ws';
    const host = this.#isOwn ? (options.listen?.host ?? settings.host) : bound.address;
    const shown = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
    return `${scheme}://${shown}:${bound.port}${settings.path}`;
  }

  /** Takes nobody in any more; those who are inside are not touched. */
  async close(): Promise<void> {
    const server = this.#server;
    server?.off('upgrade', this.#upgrade);
    this.#server = undefined;
    this.#peers.close();
    this.#clients.close();
    for (const socket of this.#sockets) socket.destroy();
    if (server === undefined || !this.#isOwn) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  #socketServer(maxPayload: number, maxBufferedChunks: number): WebSocketServer {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      handleProtocols: (offered) => {
        const version = chooseVersion([...offered].join(','));
        return typeof version === 'number' && protocolOf(version);
      },
      maxFragments: this.#services.settings.limits.fragmentsMax,
      maxPayload,
      maxBufferedChunks,
    });
    server.on('headers', (lines, request) => {
      const said = this.#answers.get(request)?.headers ?? {};
      for (const [name, value] of Object.entries(said)) lines.push(`${name}: ${value}`);
    });
    return server;
  }

  #ownServer(): HttpServer | HttpsServer {
    const { options, settings, counters } = this.#services;
    const common = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: settings.limits.handshakeMs,
      requestTimeout: settings.limits.handshakeMs,
      connectionsCheckingInterval: Math.max(100, Math.ceil(settings.limits.handshakeMs / 4)),
    };
    const { tls } = options;
    const server =
      tls === undefined
        ? createServer(common)
        : createSecureServer({
            ...common,
            ...listenTls(tls, settings.isMutual),
            handshakeTimeout: settings.limits.handshakeMs,
          });
    server.on('connection', (socket: Socket) => this.#arrived(socket));
    server.on('error', (error: NodeJS.ErrnoException) => this.#failed(error));
    server.on('request', (request, response) => {
      const status = pathOf(request) === settings.path ? 426 : 404;
      response.writeHead(status, { connection: 'close', upgrade: 'websocket' }).end();
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      counters.callersGarbled += 1;
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      if (socket.writable) answer(socket, { status, reason: STATUS_CODES[status] ?? '' });
      else socket.destroy();
    });
    server.on('tlsClientError', (_error, socket) => {
      counters.callersGarbled += 1;
      socket.destroy();
    });
    return server;
  }

  #arrived(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#crowd.arrived(socket, () => {
      this.#services.counters.callersCutOff += 1;
      socket.destroy();
    });
  }

  /** The system has a connection for us and, as a rule, no descriptor to put it in. */
  #failed(error: NodeJS.ErrnoException): void {
    // The caller that waits for it to listen is told by the same event.
    if (error.syscall !== 'accept') return;
    const { counters, logger } = this.#services;
    counters.acceptsFailed += 1;
    this.#crowd.shed();
    if (this.#logged.take(1)) logger.error({ error: error.message }, 'a caller was not accepted');
  }

  /** Listeners that answer upgrades of this server, this door included. */
  #takers(): readonly unknown[] {
    const all = this.#server?.listeners('upgrade') ?? [];
    return all.filter((listener) => !Object.hasOwn(listener, OBSERVER));
  }

  readonly #upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const socket = stream as Socket;
    const { settings, counters, doorway } = this.#services;
    socket.on('error', () => socket.destroy());
    if (pathOf(request) !== settings.path) {
      // Of a shared server the other paths are somebody else's, if anybody else is there.
      const isShared = !this.#isOwn && this.#takers().length > 1;
      if (!isShared) this.#refuse(socket, { status: 404, reason: 'no such path' });
      return;
    }
    if (!this.#crowd.mayAsk(socket, doorway.nameMet(request))) {
      counters.callersCutOff += 1;
      answer(socket, { status: 429, reason: 'too many handshakes' });
      return;
    }
    const judged = this.#isExposed(socket)
      ? { status: 403, reason: 'not from another machine without TLS and a secret' }
      : doorway.judge(request);
    if (isRefusal(judged)) {
      this.#refuse(socket, judged);
      return;
    }
    this.#letIn(request, socket, head, judged);
  };

  #letIn(request: IncomingMessage, socket: Socket, head: Buffer, admission: Admission): void {
    this.#answers.set(request, admission);
    const server = admission.caller.role === 'client' ? this.#clients : this.#peers;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#crowd.letIn(socket);
      this.#forget(socket);
      socket.setNoDelay(true);
      this.#services.opened(webSocket, socket, admission);
    });
  }

  /** The socket under a TLS one is another object, of the same address and port. */
  #forget(socket: Socket): void {
    for (const waiting of this.#sockets) {
      const { remoteAddress, remotePort } = waiting as Socket;
      if (remotePort !== socket.remotePort || remoteAddress !== socket.remoteAddress) continue;
      this.#sockets.delete(waiting);
      return;
    }
  }

  #isExposed(socket: Socket): boolean {
    const { options } = this.#services;
    if (isLoopback(socket.localAddress)) return false;
    return !isSafeOffLoopback(options) || !('encrypted' in socket);
  }

  #refuse(socket: Socket, refusal: Refusal): void {
    const { counters, logger } = this.#services;
    if (refusal.isExpected !== true) {
      counters.handshakesRefused += 1;
      const { status, reason } = refusal;
      if (this.#logged.take(1)) logger.warn({ status, reason }, 'a caller was not let in');
    }
    answer(socket, refusal);
  }
}

function answer(socket: Duplex, { status, reason, headers = {} }: Refusal): void {
  const body = JSON.stringify({ error: { status, message: reason } });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `${HEADERS.reason}: ${reason.replace(/[^\x20-\x7e]/g, '?')}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

function isSecure(server: HttpServer | HttpsServer): boolean {
  return 'setSecureContext' in server;
}

function addressOf(server: HttpServer | HttpsServer): AddressInfo | undefined {
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound : undefined;
}

function listening(server: HttpServer | HttpsServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replace(/^\[|\]$/g, ''), () => {
      server.off('error', reject);
      resolve();
    });
  });
}
