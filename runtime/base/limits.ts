/**
 * Options of a runtime, and the only place where their defaults are written.
 *
 * Units are part of the name (`Ms`, `Bytes`). Every queue has a limit, and every
 * limit says what happens when it is reached.
 */

import { type OptionRelation, resolveOptions, wholeNumbers } from './option.ts';

/** Compatible with pino: an object of fields, then a sentence. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RuntimeLimits {
  /** Messages one actor may have waiting, and as much new work besides; a further one is refused with MAILBOX_FULL, a hint is dropped. Default 1,000. */
  readonly mailboxMax: number;
  /** Unacknowledged messages one actor may have; the turn that sends more fails with OUTBOX_FULL. Default 1,000. */
  readonly outboxMax: number;
  /** Senders one actor remembers; a message of a further one is refused with TOO_MANY_SENDERS. Default 10,000. */
  readonly sendersMax: number;
  /** Time that a silent sender is remembered. Default 7 days. */
  readonly dedupRetentionMs: number;
  /** Size of a record; the turn that makes a larger one fails with ACTOR_TOO_LARGE. Default 256 KiB. */
  readonly recordBytesMax: number;
  /** Children in one actor's tree; more fail the turn with ACTOR_TOO_LARGE. Default 64. */
  readonly childrenMax: number;
  /** Microsteps of one turn; more fail it with MICROSTEPS_EXCEEDED. Default 1,000. */
  readonly microstepsMax: number;
  /** Actors kept in memory beside their records; beyond it idle ones are let go, least recently used first. Default 10,000. */
  readonly liveActorsMax: number;
  /** Turns in one group; a full group waits for the one before to be committed. Default 1,024. */
  readonly groupTurnsMax: number;
  /** Time that turns are taken before pending I/O has its turn. Default 10. */
  readonly sliceMs: number;
  /** Time that `ask` waits for an answer before it rejects with ASK_TIMED_OUT. Default 5,000. */
  readonly askTimeoutMs: number;
  /**
   * Time that `send` and `spawn` to another place wait before they reject with SEND_TIMED_OUT. Default
   * 30,000.
   */
  readonly sendTimeoutMs: number;
  /** Questions that actors of this node have taken and not answered; beyond it the next is refused with ASK_LOST. Default 100,000. */
  readonly questionsMax: number;
  /** Watchers of other nodes that this one serves; a further one is refused with OVERLOADED. Default 10,000. */
  readonly watchersMax: number;
  /**
   * Time that a watched actor of another node may be silent before its host is asked again. Default
   * 10,000.
   */
  readonly watchRepeatMs: number;
  /** Time without any answer for it before the watch ends with WATCH_LOST. Default 60,000. */
  readonly watchLostMs: number;
  /** Pauses between tries of an unacknowledged message: the first and the longest. Default 200 and 5,000. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Share of such a pause that chance may take away; with 0 they are exact. Default 50, at most 100. */
  readonly retryJitterPercent: number;
  /** Bytes of the largest message that travels; a larger one is refused with EVENT_REFUSED. All nodes have the same. Default 4 MiB. */
  readonly messageBytesMax: number;
  /** The same for what clients send. Default 512 KiB. */
  readonly clientMessageBytesMax: number;
  /** Time that a message in fragments may pause before it is dropped. Default 10,000. */
  readonly pieceWaitMs: number;
  /** Characters of one text in a frame of a peer whose role says where longer ones may be. Default 8,192. */
  readonly textLengthMax: number;
  /** The same where such a role lets texts be longer, and for all texts of other clients. Default 65,536. */
  readonly payloadLengthMax: number;
  /** Malformed things of one peer within the window that end its connection. Default 3 in 60,000 ms. */
  readonly peerFaultsMax: number;
  readonly peerFaultsWindowMs: number;
  /** Messages that one node of the cluster may send in a second; more end its connection. Default 500,000. */
  readonly peerMessagesPerSecond: number;
  /** Messages that one client may send in a minute; more end its connection. Default 100. */
  readonly clientMessagesPerMinute: number;
  /**
   * Distance above a known fence that a peer may claim; a peer that claims more is disconnected. Default
   * 10,000.
   */
  readonly fenceStepMax: number;
  /** Time that a fence is held against others once the node that claimed it is gone. Default 60,000. */
  readonly fenceMemoryMs: number;
  /** Time that `stop` waits for performers and mailboxes before it aborts them. Default 5,000. */
  readonly drainMs: number;
  /**
   * Time that an ended actor can still be looked up; then it is forgotten, if it has sent something not
   * before `dedupRetentionMs`. Default 7 days.
   */
  readonly endedRetentionMs: number;
}

export const DEFAULT_LIMITS: RuntimeLimits = {
  mailboxMax: 1_000,
  outboxMax: 1_000,
  sendersMax: 10_000,
  dedupRetentionMs: 7 * 86_400_000,
  recordBytesMax: 256 * 1024,
  childrenMax: 64,
  microstepsMax: 1_000,
  liveActorsMax: 10_000,
  groupTurnsMax: 1_024,
  sliceMs: 10,
  askTimeoutMs: 5_000,
  sendTimeoutMs: 30_000,
  questionsMax: 100_000,
  watchersMax: 10_000,
  watchRepeatMs: 10_000,
  watchLostMs: 60_000,
  retryMinMs: 200,
  retryMaxMs: 5_000,
  retryJitterPercent: 50,
  messageBytesMax: 4 * 1024 * 1024,
  clientMessageBytesMax: 512 * 1024,
  pieceWaitMs: 10_000,
  textLengthMax: 8_192,
  payloadLengthMax: 65_536,
  peerFaultsMax: 3,
  peerFaultsWindowMs: 60_000,
  peerMessagesPerSecond: 500_000,
  clientMessagesPerMinute: 100,
  fenceStepMax: 10_000,
  fenceMemoryMs: 60_000,
  drainMs: 5_000,
  endedRetentionMs: 7 * 86_400_000,
};

export const LIMITS = wholeNumbers(DEFAULT_LIMITS, { retryJitterPercent: { min: 0, max: 100 } });

const RELATIONS: ReadonlyArray<OptionRelation<RuntimeLimits>> = [
  {
    names: ['retryMinMs', 'retryMaxMs'],
    text: '"retryMinMs" must not be above "retryMaxMs"',
    holds: ({ retryMinMs, retryMaxMs }) => retryMinMs <= retryMaxMs,
  },
];

/** Fills in defaults and rejects nonsense early, so that nothing else re-checks. @throws {RuntimeError} OPTION_INVALID */
export function resolveLimits(limits: Partial<RuntimeLimits> = {}): RuntimeLimits {
  return resolveOptions<RuntimeLimits>(limits, LIMITS, RELATIONS, 'Limits: ');
}

export const SILENT_LOGGER: Logger = { debug() {}, info() {}, warn() {}, error() {} };
