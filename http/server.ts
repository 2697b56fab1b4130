/**
 * Server for the API, with its limits set: how long a request may take, how large its head may
 * be, and how many connections there may be, in all and of one address.
 *
 * What is no request is answered in one line and ends its connection; nothing of it is a stack
 * trace, and nothing of it ends the process.
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { type Logger, SILENT_LOGGER } from '../runtime/base/limits.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { systemClock } from '../runtime/system/clock.ts';
import { sendAnswer } from './answer.ts';
import { type ConnectionCounts, Connections } from './connections.ts';
import { type HttpLimits, resolveHttpLimits } from './limits.ts';
import { tryLater } from './refusal.ts';

export interface HttpServerOptions {
  /** For TLS: `cert` and `key` at least. Left out: plain HTTP. */
  readonly tls?: TlsOptions;
  readonly limits?: Partial<HttpLimits>;
  /** Told of connections that could not be taken in. Default: silent. */
  readonly logger?: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Counts of what a server has closed, by the reason, and of what is open. */
export interface ServerCounts extends Readonly<ConnectionCounts> {
  /** Connections there are now, without those of WebSockets. */
  readonly connectionsOpen: number;
  /** Requests that had no place, because those that are served have all there are for them. */
  readonly requestsRefused: number;
  /** Requests that were none, or took too long. */
  readonly requestsBroken: number;
  /** Connections that did not come to speak TLS with us. */
  readonly handshakesFailed: number;
}

type ServerPorts = Pick<HttpServerOptions, 'logger' | 'clock'>;

const countsOf = new WeakMap<object, () => ServerCounts>();

/** A client that is late by another limit is told so before. */
const SILENCE_MARGIN_MS = 2_000;
/** Bytes that are looked at for the end of a target: one over its limit has no line break in them. */
const TARGET_LOOKED_AT = 8 * 1024;
/** Interval at which Node looks for requests that take too long. */
const CHECK_EVERY_MS = 1_000;

/** It listens when its `listen` is called. @throws {RuntimeError} OPTION_INVALID */
export function createHttpServer(
  handler: (request: IncomingMessage, response: Parameters<RequestListener>[1]) => void,
  { tls, limits, ...ports }: HttpServerOptions = {},
): Server | TlsServer {
  const resolved = resolveHttpLimits(limits);
  const options: ServerOptions = {
    maxHeaderSize: resolved.headBytesMax,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, resolved.headMs),
    requireHostHeader: true,
  };
  const taken: RequestListener = (request, response) => {
    if (connections.mayServe) return handler(request, response);
    counts.requestsRefused += 1;
    refuseForWantOfRoom(response);
  };
  const { firstHeadMs: handshakeTimeout } = resolved;
  const server =
    tls === undefined
      ? createServer(options, taken)
      : createTlsServer({ minVersion: 'TLSv1.2', handshakeTimeout, ...options, ...tls }, taken);
  const { connections, counts } = follow(server, resolved, ports);
  return server;
}

/**
 * Sets the limits of a server that is there already. The size of a head cannot be set afterwards:
 * give `maxHeaderSize` when you make it.
 */
export function serverLimits(
  server: Server | TlsServer,
  limits: Partial<HttpLimits> = {},
  more: ServerPorts = {},
): void {
  follow(server, resolveHttpLimits(limits), more);
}

function follow(
  server: Server | TlsServer,
  limits: HttpLimits,
  { logger = SILENT_LOGGER, clock = systemClock({ unref: true }) }: ServerPorts,
) {
  const { headMs, requestMs, keepAliveMs } = limits;
  const connections = new Connections(clock, logger, limits);
  const counts = { requestsRefused: 0, requestsBroken: 0, handshakesFailed: 0 };
  countsOf.set(server, () => ({
    ...connections.counts,
    ...counts,
    connectionsOpen: connections.size,
  }));
  server.headersTimeout = Math.min(headMs, requestMs);
  server.requestTimeout = requestMs;
  server.keepAliveTimeout = keepAliveMs;
  server.timeout = silenceMsOf(limits);
  // Node would drop the rest in silence; the API counts them and refuses.
  server.maxHeadersCount = 0;
  connections.follow(server);
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answers.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    counts.requestsBroken += 1;
    const answer = answers.get(socket);
    // Nobody could tell a second answer from the rest of the first.
    if (answer?.headersSent === true && !answer.writableFinished) socket.destroy();
    else refuse(wordOf(error), socket);
  });
  server.on('tlsClientError', (_error: Error, socket: Socket) => {
    counts.handshakesFailed += 1;
    socket.destroy();
  });
  return { connections, counts };
}

/** The connection is another one's from now on: a client that asks again gets in line with all newcomers. */
function refuseForWantOfRoom(response: ServerResponse): void {
  const refusal = tryLater('overloaded', 'As many requests are served as there is room for.');
  const headers = { ...refusal.headers, connection: 'close' };
  sendAnswer(response, { status: refusal.status, body: refusal.toJSON(), headers });
}

/**
 * After how long a connection on which nothing moves is ended: an answer that nobody takes would hold its
 * memory for ever. Longer than anything that has a limit of its own.
 */
function silenceMsOf({ requestMs, bodyMs, answerMs, heartbeatMs }: HttpLimits): number {
  return Math.max(requestMs, bodyMs, answerMs, heartbeatMs) + SILENCE_MARGIN_MS;
}

/** Counts of what a server with limits has closed since then; undefined for one without. */
export function serverCounts(server: Server | TlsServer): ServerCounts | undefined {
  return countsOf.get(server)?.();
}

const STATUS_LINES = {
  invalid: '400 Bad Request',
  requestLate: '408 Request Timeout',
  urlTooLong: '414 URI Too Long',
  headTooLarge: '431 Request Header Fields Too Large',
} as const;

/** Undefined where nobody is there any more to be told. */
function wordOf(error: NodeJS.ErrnoException): keyof typeof STATUS_LINES | undefined {
  switch (error.code) {
    case 'ECONNRESET':
      return undefined;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'requestLate';
    case 'HPE_HEADER_OVERFLOW':
      return isTarget((error as { rawPacket?: Buffer }).rawPacket) ? 'urlTooLong' : 'headTooLarge';
    default:
      return 'invalid';
  }
}

/**
 * True when bytes begin with the first line of a request and have not come to its end; more of them is
 * not looked at.
 */
function isTarget(bytes: Buffer | undefined): boolean {
  return /^[A-Z]{1,20} [^\r\n]+$/.test(bytes?.toString('latin1', 0, TARGET_LOOKED_AT) ?? '');
}

function refuse(word: keyof typeof STATUS_LINES | undefined, socket: Duplex): void {
  socket.on('error', () => {});
  if (word === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  const line = STATUS_LINES[word];
  const body = `${JSON.stringify({ error: { code: word, message: line.slice(4) } })}\n`;
  socket.end(
    `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `cache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
