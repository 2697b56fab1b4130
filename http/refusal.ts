/**
 * Refusals of requests: the words of the HTTP API, each with its status.
 *
 * Clients branch on `code`; the words are part of the public API and are listed in
 * docs/http-api.md (a test keeps the two equal). A message echoes little of what came in, and never
 * a stack.
 */

import { type ErrorCode, RuntimeError } from '../runtime/base/errors.ts';

export const HTTP_CODES = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestLate: 408,
  conflict: 409,
  alreadyFinal: 409,
  alreadyReported: 409,
  stillRefused: 409,
  bodyTooLarge: 413,
  urlTooLong: 414,
  unsupportedMediaType: 415,
  wrongHost: 421,
  refused: 422,
  tooManyRequests: 429,
  headTooLarge: 431,
  internal: 500,
  notLeader: 503,
  overloaded: 503,
  notReady: 503,
  answerLate: 504,
} as const;

export type HttpCode = keyof typeof HTTP_CODES;

export class HttpRefusal extends Error {
  readonly code: HttpCode;
  readonly status: number;
  /** Field of the request that is wrong. */
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The rest of the request is not read: the connection ends with the answer. */
  readonly endsConnection: boolean;

  constructor(
    code: HttpCode,
    message: string,
    options: {
      readonly field?: string | undefined;
      readonly headers?: Readonly<Record<string, string>>;
      readonly endsConnection?: boolean;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.status = HTTP_CODES[code];
    this.field = options.field;
    this.headers = options.headers ?? {};
    this.endsConnection = options.endsConnection ?? false;
  }

  override get name(): string {
    return 'HttpRefusal';
  }

  toJSON(): object {
    const { code, message, field } = this;
    return { error: { code, message, ...(field !== undefined && { field }) } };
  }
}

/** Soon enough for a takeover, and no stampede. */
const RETRY_AFTER_MS = 1_000;

/** 503: what is to be changed is here and passes; the caller has done nothing wrong, as 429 would say. */
export const tryLater = (
  code: 'notLeader' | 'overloaded' | 'notReady',
  message: string,
  retryAfterMs = RETRY_AFTER_MS,
): HttpRefusal => {
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  return new HttpRefusal(code, message, { headers });
};

export const invalid = (message: string, field?: string): HttpRefusal =>
  new HttpRefusal('invalid', message, { field });

export const notLeader = (): HttpRefusal =>
  tryLater('notLeader', 'This node stands by. Ask the node that leads, or this one again later.');

const RUNTIME_CODES: Readonly<Partial<Record<ErrorCode, HttpCode>>> = {
  ACTOR_ACTIVE: 'conflict',
  ACTOR_ENDED: 'alreadyFinal',
  ACTOR_EXISTS: 'conflict',
  ACTOR_UNKNOWN: 'notFound',
  ADDRESS_MALFORMED: 'invalid',
  EVENT_MALFORMED: 'invalid',
  EVENT_REFUSED: 'invalid',
  EVENT_RESERVED: 'invalid',
  EVENT_UNDECLARED: 'invalid',
  KIND_UNKNOWN: 'notFound',
  SENDER_REFUSED: 'forbidden',
  SEND_TIMED_OUT: 'answerLate',
  OPTION_INVALID: 'invalid',
  ASK_TIMED_OUT: 'answerLate',
};

/**
 * Refusal that clients are told for an error of the runtime; undefined when it is nobody's business
 * but ours.
 */
export function refusalOf(thrown: unknown): HttpRefusal | undefined {
  if (thrown instanceof HttpRefusal) return thrown;
  if (!(thrown instanceof RuntimeError)) return undefined;
  if (thrown.code === 'NOT_HOSTED' || thrown.code === 'ASK_LOST') return notLeader();
  if (thrown.code === 'RUNTIME_STOPPED') return tryLater('notReady', 'This node is stopping.');
  const code = RUNTIME_CODES[thrown.code];
  if (code !== undefined) return new HttpRefusal(code, thrown.message);
  return thrown.retryable ? tryLater('overloaded', thrown.message) : undefined;
}
