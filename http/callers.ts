/**
 * Callers, known by the bearer token of a request.
 *
 * Guarantees: how long a comparison takes tells nothing about any token, and no refusal says why. A list
 * that changes is checked; while it is bad the last good one holds.
 * Where no tokens are configured everybody on this machine is operator, and nobody else is anybody.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Asker, type ClientRole, reachOf } from '../programs/jobs/jobs-service/permissions.ts';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import type { Logger } from '../runtime/base/limits.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { HttpRefusal } from './refusal.ts';
import { findTokenFaults, type HttpToken } from './tokens.ts';

export interface Caller extends Asker {
  readonly role: ClientRole;
  /** Client whose requests are counted together: that of a token, or of an address without one. */
  readonly client: string;
}

/** A list, or where to look for the list that holds now; undefined: there are none. */
export type HttpTokens =
  | readonly HttpToken[]
  | (() => readonly HttpToken[] | undefined)
  | undefined;

interface Known {
  readonly digest: Buffer;
  readonly token: HttpToken;
}

const LOOPBACK = /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/;
const NOBODY = Buffer.alloc(32);
/** Names of query parameters that people put tokens into. */
const TOKEN_PARAMETERS = ['token', 'access_token', 'auth_token', 'api_key', 'apikey', 'key'];

export class Callers {
  readonly #tokens: () => readonly HttpToken[] | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** List that was looked at last, and the part of it that holds: the last list that was good. */
  #last: readonly HttpToken[] | undefined;
  #known: readonly Known[] | undefined;
  #told = '';

  /** @throws {RuntimeError} OPTION_INVALID */
  constructor(tokens: HttpTokens, clock: Clock, logger: Logger) {
    this.#tokens = typeof tokens === 'function' ? tokens : () => tokens;
    this.#clock = clock;
    this.#logger = logger;
    this.#take(this.#tokens());
  }

  /** @throws {HttpRefusal} unauthorized: the same for every cause */
  identify(request: IncomingMessage, query: URLSearchParams): Caller {
    this.#look();
    const shown = TOKEN_PARAMETERS.some((name) => query.has(name))
      ? undefined
      : bearerToken(request.headers.authorization);
    const known = this.#known;
    const caller =
      known === undefined ? this.#neighbour(request, query) : this.#owner(known, shown);
    if (caller !== undefined) return caller;
    const headers = { 'www-authenticate': 'Bearer' };
    throw new HttpRefusal('unauthorized', 'A valid token is needed, in the header Authorization.', {
      headers,
    });
  }

  /** A list that is none, or cannot be had, changes nothing. */
  #look(): void {
    try {
      const tokens = this.#tokens();
      if (tokens === this.#last) return;
      this.#last = tokens;
      this.#take(tokens);
      this.#told = '';
    } catch (thrown) {
      const error = messageOf(thrown);
      if (error === this.#told) return;
      this.#told = error;
      this.#logger.error({ event: 'tokens.refused', error }, 'the tokens stay as they were');
    }
  }

  /** @throws {RuntimeError} OPTION_INVALID */
  #take(tokens: readonly HttpToken[] | undefined): void {
    const [fault] = tokens === undefined ? [] : findTokenFaults(tokens);
    if (fault !== undefined) {
      const { index, field, what } = fault;
      throw new RuntimeError('OPTION_INVALID', `tokens[${index}].${field}: ${what}.`);
    }
    this.#last = tokens;
    this.#known = tokens?.map((token) => ({ digest: digestOf(token.token), token }));
  }

  #neighbour({ socket }: IncomingMessage, query: URLSearchParams): Caller | undefined {
    const { remoteAddress: client = '' } = socket;
    if (TOKEN_PARAMETERS.some((name) => query.has(name)) || !LOOPBACK.test(client))
      return undefined;
    return { name: 'operator', client, role: 'operator', jobs: undefined };
  }

  /** Looks at every token whichever it is, so that time says nothing. */
  #owner(all: readonly Known[], shown: string | undefined): Caller | undefined {
    const digest = shown === undefined ? NOBODY : digestOf(shown);
    let found: HttpToken | undefined;
    for (const { digest: known, token } of all) if (timingSafeEqual(known, digest)) found = token;
    if (found === undefined || shown === undefined) return undefined;
    const { name, role, expiresAt } = found;
    return expiresAt !== undefined && expiresAt <= this.#clock.now()
      ? undefined
      : { name, client: `token ${name}`, role, ...reachOf(found) };
  }
}

function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([^\s,]{1,4096})$/i.exec(header ?? '')?.[1];
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
