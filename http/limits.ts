/**
 * Limits of the HTTP API, and the only place where their defaults are written.
 *
 * Units are part of the name (`Ms`, `Bytes`). Each says what happens when it is reached.
 */

import { resolveOptions, wholeNumbers } from '../runtime/base/option.ts';

export interface HttpLimits {
  /** Requests of one client in a minute; a further one is answered 429. Default 100. */
  readonly requestsPerMinute: number;
  /** Requests of one client that are carried out at once; further ones wait for them. Default 8. */
  readonly requestsAtOnceMax: number;
  /** Requests of one client that wait; a further one is answered 429. Default 256. */
  readonly requestsWaitingMax: number;
  /** Clients whose requests are counted; beyond it the one longest silent is forgotten. Default 10,000. */
  readonly clientsMax: number;
  /** Idempotency keys that are remembered; beyond it the oldest is forgotten. Default 10,000. */
  readonly idempotencyKeysMax: number;
  /** Time for which an idempotency key is remembered. Default 24 hours. */
  readonly idempotencyKeepMs: number;
  /** Size of the target of a request; a longer one is answered 414. Default 8 KiB. */
  readonly urlBytesMax: number;
  /** Header lines of a request; more are answered 431. Default 100. */
  readonly headersMax: number;
  /** Size of a body that is no submission; a larger one is answered 413. Default 64 KiB. */
  readonly bodyBytesMax: number;
  /** Size of a submission; a larger one is answered 413. Default 16 MiB. */
  readonly submissionBytesMax: number;
  /** Submissions read at once; a further one is answered 503. Default 4. */
  readonly submissionsMax: number;
  /** Submissions of one client at a time; its further ones wait for them. Default 2. */
  readonly submissionsPerClientMax: number;
  /** Time in which a body has to arrive; then the request is answered 408. Default 30,000. */
  readonly bodyMs: number;
  /** Objects and lists within each other in a body; deeper is answered 400. Default 32. */
  readonly depthMax: number;
  /** Keys of one object in a submission, and of a whole body elsewhere; more are answered 400. Default 1,000. */
  readonly keysMax: number;
  /** Size of a text in a body that is no payload; a longer one is answered 400. Default 8 KiB. */
  readonly stringBytesMax: number;
  /** Time for which an answer is waited for; then the request is answered 504. Default 25,000. */
  readonly answerMs: number;
  /** Streams of events at once; a further one is answered 503. Default 256. */
  readonly watchersMax: number;
  /** Watches of one client; a further one is answered 429. Default 64. */
  readonly watchersPerClientMax: number;
  /** Bytes that one of them may leave unread; beyond it the connection is ended. Default 256 KiB. */
  readonly watcherBytesMax: number;
  /** Interval at which a stream without news says that it is there. Default 15,000. */
  readonly heartbeatMs: number;
  /**
   * Time that a connection has for its first whole head, and TLS before it; then it is closed. Default
   * 5,000.
   */
  readonly firstHeadMs: number;
  /** Time that the head of a request may take; then it is answered 408. Default 10,000. */
  readonly headMs: number;
  /** Time that a whole request may take; then it is answered 408. Default 30,000. */
  readonly requestMs: number;
  /** Size of the head of a request; a larger one is answered 431. Default 16 KiB. */
  readonly headBytesMax: number;
  /** Connections at once; for a further one the longest silent or idle one is closed, else itself. Default 4,096. */
  readonly connectionsMax: number;
  /** The same for those of one address. Default 512. */
  readonly connectionsPerAddressMax: number;
  /** Time for which a connection without a request stays open. Default 5,000. */
  readonly keepAliveMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  requestsPerMinute: 100,
  requestsAtOnceMax: 8,
  requestsWaitingMax: 256,
  clientsMax: 10_000,
  idempotencyKeysMax: 10_000,
  idempotencyKeepMs: 86_400_000,
  urlBytesMax: 8 * 1024,
  headersMax: 100,
  bodyBytesMax: 64 * 1024,
  submissionBytesMax: 16 * 1024 * 1024,
  submissionsMax: 4,
  submissionsPerClientMax: 2,
  bodyMs: 30_000,
  depthMax: 32,
  keysMax: 1_000,
  stringBytesMax: 8 * 1024,
  answerMs: 25_000,
  watchersMax: 256,
  watchersPerClientMax: 64,
  watcherBytesMax: 256 * 1024,
  heartbeatMs: 15_000,
  firstHeadMs: 5_000,
  headMs: 10_000,
  requestMs: 30_000,
  headBytesMax: 16 * 1024,
  connectionsMax: 4_096,
  connectionsPerAddressMax: 512,
  keepAliveMs: 5_000,
};

export const HTTP_LIMITS = wholeNumbers(DEFAULT_HTTP_LIMITS);

/** Fills in defaults and rejects nonsense early. @throws {RuntimeError} OPTION_INVALID */
export function resolveHttpLimits(limits: Partial<HttpLimits> = {}): HttpLimits {
  return resolveOptions<HttpLimits>(limits, HTTP_LIMITS, [], 'Limits of HTTP: ');
}
