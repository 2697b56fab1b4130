/**
 * The limits of the WebSocket transport, and the only place where their defaults are written.
 *
 * Everything that a peer could fill, hold open or repeat has a limit here, and each says what
 * happens when it is reached. Sizes are bytes on the wire.
 */

import { type OptionRelation, resolveOptions, wholeNumbers } from '../../runtime/base/option.ts';

export interface WebSocketLimits {
  /** A frame to or from a node of the cluster; a larger one ends the connection with 1009. Default 1 MiB. */
  readonly peerFrameBytesMax: number;
  /** A frame from a client. Default 64 KiB. */
  readonly clientFrameBytesMax: number;
  /** Fragments of one frame; more end the connection with 1008. Default 64. */
  readonly fragmentsMax: number;
  /** Time that a frame may stay unfinished; then the connection ends with 1008. Default 10,000. */
  readonly unfinishedFrameMs: number;
  /** Bytes of frames that a node of the cluster may send in a second; more end the connection with 1008 and a ban. Default 64 MiB. */
  readonly peerBytesPerSecond: number;
  /** The same for a client. Default 4 MiB. */
  readonly clientBytesPerSecond: number;
  /** Pings, and pongs that nobody asked for, that a peer may send in a second; more end the connection with 1008 and a ban. Default 10. */
  readonly controlFramesPerSecond: number;
  /** Damaged, repeated or foreign frames of one connection; this many end it with 1008 and a ban. Default 3. */
  readonly badFramesMax: number;
  /**
   * Bytes that may wait to be sent to a node of the cluster; further frames are dropped until there is
   * room. Default 8 MiB.
   */
  readonly peerBufferBytesMax: number;
  /** The same for a client. Default 1 MiB. */
  readonly clientBufferBytesMax: number;
  /** Time that a full buffer has to become half empty; then the connection ends with 1013. Default 1,000. */
  readonly overflowMs: number;
  /** Bytes above which a connection counts as congested: hints are left out. Default 256 KiB. */
  readonly congestedBytes: number;
  /**
   * Time in which nothing may leave a buffer that is not empty; then the connection ends with 1013.
   * Default 30,000.
   */
  readonly drainMs: number;
  /** Pause between the pings to a peer. Default 10,000. */
  readonly pingMs: number;
  /** Pings without any sign of life in return, after which a peer counts as gone. Default 2. */
  readonly missedPingsMax: number;
  /** Time that dialling and proving may take. Default 10,000. */
  readonly handshakeMs: number;
  /**
   * Time that a caller has for its first whole question, and TLS before it; then it is cut off. Default
   * 5,000.
   */
  readonly firstHeadMs: number;
  /** Everything that a caller says in its handshake; more is answered with 413. Default 4 KiB. */
  readonly handshakeBytesMax: number;
  /** Callers that have not been let in yet, in all; for a further one the longest silent one is cut off. Default 256. */
  readonly handshakesMax: number;
  /** The same of one address. Default 64. */
  readonly handshakesPerAddressMax: number;
  /** Handshakes of one address in a second, and of each name that was proved before; more are answered with 429. Default 200. */
  readonly handshakesPerSecond: number;
  /** Connections in all, a quarter of them not for clients; a further one is answered with 503. Default 1,024. */
  readonly connectionsMax: number;
  /**
   * Time that the boot epoch of a node may be ahead of the clock here; one above it is answered with 403.
   * Default 1 day.
   */
  readonly bootAheadMaxMs: number;
  /** Connections of one client; a further one is answered with 429. Default 64. */
  readonly connectionsPerClientMax: number;
  /** Time that a peer that broke the rules is kept away. Default 30,000. */
  readonly banMs: number;
  /** Connections that are being made at one moment; others wait their turn. Default 32. */
  readonly dialsMax: number;
  /** Pauses between tries to reach a peer: the first and the longest. Default 100 and 5,000. */
  readonly redialMinMs: number;
  readonly redialMaxMs: number;
  /** Time that a connection that is being closed may take to say goodbye. Default 1,000. */
  readonly closeMs: number;
}

export const DEFAULT_WEBSOCKET_LIMITS: WebSocketLimits = {
  peerFrameBytesMax: 2 ** 20,
  clientFrameBytesMax: 64 * 1024,
  fragmentsMax: 64,
  unfinishedFrameMs: 10_000,
  peerBytesPerSecond: 64 * 2 ** 20,
  clientBytesPerSecond: 4 * 2 ** 20,
  controlFramesPerSecond: 10,
  badFramesMax: 3,
  peerBufferBytesMax: 8 * 2 ** 20,
  clientBufferBytesMax: 2 ** 20,
  overflowMs: 1_000,
  congestedBytes: 256 * 1024,
  drainMs: 30_000,
  pingMs: 10_000,
  missedPingsMax: 2,
  handshakeMs: 10_000,
  firstHeadMs: 5_000,
  handshakeBytesMax: 4 * 1024,
  handshakesMax: 256,
  handshakesPerAddressMax: 64,
  handshakesPerSecond: 200,
  connectionsMax: 1_024,
  connectionsPerClientMax: 64,
  bootAheadMaxMs: 86_400_000,
  banMs: 30_000,
  dialsMax: 32,
  redialMinMs: 100,
  redialMaxMs: 5_000,
  closeMs: 1_000,
};

export const WEBSOCKET_LIMITS = wholeNumbers(DEFAULT_WEBSOCKET_LIMITS);

const RELATIONS: ReadonlyArray<OptionRelation<WebSocketLimits>> = [
  {
    names: ['redialMinMs', 'redialMaxMs'],
    text: '"redialMinMs" must not be above "redialMaxMs"',
    holds: ({ redialMinMs, redialMaxMs }) => redialMinMs <= redialMaxMs,
  },
];

/** @throws {RuntimeError} OPTION_INVALID */
export function resolveWebSocketLimits(limits: Partial<WebSocketLimits> = {}): WebSocketLimits {
  return resolveOptions<WebSocketLimits>(
    limits,
    WEBSOCKET_LIMITS,
    RELATIONS,
    'Limits of sockets: ',
  );
}
