/**
 * A server for the API, with its limits set: how long a request may take, how large its head may
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
import { type HttpLimits, resolveHttpLimits } from './limits.ts';

export interface HttpServerOptions {
  /** For TLS: `cert` and `key` at least. Left out: plain HTTP. */
  readonly tls?: TlsOptions;
  readonly limits?: Partial<HttpLimits>;
}

/** What a server has closed, by the reason. */
export interface ServerCounts {
  /** Connections of an address that had its share. */
  readonly connectionsRefused: number;
  /** Requests that were none, or took too long. */
  readonly requestsBroken: number;
  /** Connections that did not come to speak TLS with us. */
  readonly handshakesFailed: number;
}

const countsOf = new WeakMap<object, ServerCounts>();

/** How often Node looks for requests that take too long. */
const CHECK_EVERY_MS = 1_000;

/** It listens when its `listen` is called. @throws {RuntimeError} OPTION_INVALID */
export function createHttpServer(
  handler: (request: IncomingMessage, response: Parameters<RequestListener>[1]) => void,
  { tls, limits }: HttpServerOptions = {},
): Server | TlsServer {
  const resolved = resolveHttpLimits(limits);
  const options: ServerOptions = {
    maxHeaderSize: resolved.headBytesMax,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, resolved.headMs),
    requireHostHeader: true,
  };
  const server =
    tls === undefined
      ? createServer(options, handler)
      : createTlsServer({ minVersion: 'TLSv1.2', ...options, ...tls }, handler);
  serverLimits(server, resolved);
  return server;
}

/**
 * Sets the limits of a server that is there already. The size of a head cannot be set afterwards:
 * give `maxHeaderSize` when you make it.
 */
export function serverLimits(server: Server | TlsServer, limits: Partial<HttpLimits> = {}): void {
  const { headMs, requestMs, keepAliveMs, connectionsMax, connectionsPerAddressMax } =
    resolveHttpLimits(limits);
  const counts = { connectionsRefused: 0, requestsBroken: 0, handshakesFailed: 0 };
  countsOf.set(server, counts);
  server.headersTimeout = Math.min(headMs, requestMs);
  server.requestTimeout = requestMs;
  server.keepAliveTimeout = keepAliveMs;
  server.maxConnections = connectionsMax;
  // Node would drop the rest in silence; the API counts them and refuses.
  server.maxHeadersCount = 0;
  const connections = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const open = (connections.get(address) ?? 0) + 1;
    connections.set(address, open);
    socket.once('close', () => {
      const left = (connections.get(address) ?? 1) - 1;
      if (left > 0) connections.set(address, left);
      else connections.delete(address);
    });
    if (open <= connectionsPerAddressMax) return;
    counts.connectionsRefused += 1;
    socket.on('error', () => {});
    socket.destroy();
  });
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answers.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    counts.requestsBroken += 1;
    const answer = answers.get(socket);
    // Nobody could tell a second answer from the rest of the first.
    if (answer?.headersSent === true && !answer.writableFinished) socket.destroy();
    else refuse(error, socket);
  });
  server.on('tlsClientError', (_error: Error, socket: Socket) => {
    counts.handshakesFailed += 1;
    socket.destroy();
  });
}

/** What a server with limits has closed since then; undefined for one without. */
export function serverCounts(server: Server | TlsServer): ServerCounts | undefined {
  const counts = countsOf.get(server);
  return counts && { ...counts };
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function refuse({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  socket.on('error', () => {});
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const line = STATUS_LINES[code] ?? '400 Bad Request';
  const word = line.startsWith('431')
    ? 'headTooLarge'
    : line.startsWith('408')
      ? 'requestLate'
      : 'invalid';
  const body = `${JSON.stringify({ error: { code: word, message: line.slice(4) } })}\n`;
  socket.end(
    `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `cache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
