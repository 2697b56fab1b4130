/**
 * Errors that the runtime throws, rejects with or puts on the wire: all of them.
 *
 * Callers branch on `code`, never on `message`: codes are part of the public API
 * and are listed in docs/errors.md (test/package/docs.test.ts keeps the two equal).
 * Each code has one line here: what it means, and whether the same message may
 * succeed later. The message says what to do.
 */

import { printable } from './printable.ts';

export const ERROR_CODES = {
  ABORTED: { retryable: false },
  ACTOR_ACTIVE: { retryable: false },
  ACTOR_ENDED: { retryable: false },
  ACTOR_EXISTS: { retryable: false },
  ACTOR_TOO_LARGE: { retryable: false },
  ACTOR_UNKNOWN: { retryable: false },
  ADDRESS_MALFORMED: { retryable: false },
  AGENT_PLAN_INVALID: { retryable: false },
  ASK_LOST: { retryable: true },
  ASK_TIMED_OUT: { retryable: true },
  ASK_UNANSWERED: { retryable: false },
  BIRTH_FAILED: { retryable: false },
  CHILD_UNREGISTERED: { retryable: false },
  COMMIT_REFUSED: { retryable: true },
  CONNECT_REFUSED: { retryable: false },
  CONNECT_TIMED_OUT: { retryable: true },
  DELAY_INVALID: { retryable: false },
  EFFECT_FAILED: { retryable: true },
  ENVELOPE_MALFORMED: { retryable: false },
  EVENT_MALFORMED: { retryable: false },
  EVENT_REFUSED: { retryable: false },
  EVENT_RESERVED: { retryable: false },
  EVENT_UNDECLARED: { retryable: false },
  FENCE_EXHAUSTED: { retryable: false },
  FENCE_STALE: { retryable: false },
  INPUT_INVALID: { retryable: false },
  INTERNAL: { retryable: false },
  INVARIANT_BROKEN: { retryable: false },
  KIND_EXISTS: { retryable: false },
  KIND_UNKNOWN: { retryable: false },
  MAILBOX_FULL: { retryable: true },
  MESSAGE_EARLY: { retryable: true },
  MICROSTEPS_EXCEEDED: { retryable: false },
  NOT_ALLOWED: { retryable: false },
  NOT_HOSTED: { retryable: true },
  OPTION_INVALID: { retryable: false },
  OUTBOX_FULL: { retryable: true },
  OVERLOADED: { retryable: true },
  PACKAGE_MISSING: { retryable: false },
  PEER_FLOODED: { retryable: false },
  PEER_OVERSTEPPED: { retryable: false },
  PLAN_INVALID: { retryable: false },
  PLATFORM_UNSUPPORTED: { retryable: false },
  PROGRESS_INVALID: { retryable: false },
  RECORD_DAMAGED: { retryable: false },
  RECORD_INVALID: { retryable: false },
  RECORD_NEWER: { retryable: false },
  RUNTIME_STOPPED: { retryable: true },
  SCENARIO_INVALID: { retryable: false },
  SEALED: { retryable: false },
  SEND_TIMED_OUT: { retryable: true },
  SENDER_REFUSED: { retryable: false },
  STORE_CLOSED: { retryable: true },
  STORE_DAMAGED: { retryable: false },
  STORE_FAILED: { retryable: true },
  STORE_FOREIGN: { retryable: false },
  STORE_LOCKED: { retryable: true },
  STORE_MISSING: { retryable: false },
  STORE_NEWER: { retryable: false },
  STORE_UNAVAILABLE: { retryable: false },
  STORE_UNWRITABLE: { retryable: false },
  TABLE_MISPLACED: { retryable: false },
  TOO_MANY_SENDERS: { retryable: true },
  TURN_FAILED: { retryable: false },
  WATCH_LOST: { retryable: true },
  WATCH_REFUSED: { retryable: false },
  WORKFLOW_INVALID: { retryable: false },
  XSTATE_UNSUPPORTED: { retryable: false },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Parts of an error that cross the wire: never the stack. */
export interface ErrorShape {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly host?: string;
}

/** Characters of its message that an error keeps on its way to somebody else. */
const MESSAGE_MAX = 2_000;
const NAME_MAX = 1_024;

/** The one class of error that leaves the runtime. */
export class RuntimeError extends Error {
  readonly code: ErrorCode;
  /** True when sending the same message again later may succeed. */
  readonly retryable: boolean;
  /** The actor concerned, where there is one. */
  readonly address: string | undefined;
  /** The node that hosts the place, with NOT_HOSTED, where that is known. */
  readonly host: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly address?: string | undefined;
      readonly host?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = ERROR_CODES[code].retryable;
    this.address = options.address;
    this.host = options.host;
  }

  override get name(): string {
    return 'RuntimeError';
  }

  toJSON(): ErrorShape {
    const message = this.message.slice(0, MESSAGE_MAX);
    const shape = { code: this.code, message, retryable: this.retryable };
    return this.host === undefined ? shape : { ...shape, host: this.host };
  }
}

/** Rebuilds an error that came over the wire; anything unknown becomes INTERNAL. */
export function errorFromShape(shape: unknown, address?: string): RuntimeError {
  const { code, message, host } = (shape ?? {}) as Partial<ErrorShape>;
  const isKnown = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
  const what = typeof message === 'string' ? message.slice(0, MESSAGE_MAX) : 'unknown error';
  const node = typeof host === 'string' ? host.slice(0, NAME_MAX) : undefined;
  return new RuntimeError(isKnown ? code : 'INTERNAL', what, { address, host: node });
}

/** Text that may be shown of any thrown value. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    // An object without a prototype, or one that defends itself.
    return `something of type ${typeof thrown}`;
  }
}

/** Cuts text from outside before it is echoed: at most 64 characters, control characters escaped. */
export function excerpt(text: unknown): string {
  const shown = typeof text === 'string' ? text : shownOf(text);
  return printable(JSON.stringify(shown.length > 64 ? `${shown.slice(0, 63)}…` : shown));
}

function shownOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Too deep, circular, or something JSON has no word for.
    return `something of type ${typeof value}`;
  }
}

/** Errors that are made meanwhile have a message and no stack: for many at once that nobody looks into. */
export function withoutStacks(run: () => void): void {
  const { stackTraceLimit } = Error;
  // Not where the globals are frozen.
  const isSet = Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    run();
  } finally {
    if (isSet) Error.stackTraceLimit = stackTraceLimit;
  }
}
