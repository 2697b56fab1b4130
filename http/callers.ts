/**
 * Who calls, by the bearer token of a request, and what he may do.
 *
 * Guarantees: how long a comparison takes tells nothing about any token, and no refusal says why.
 * Where no tokens are configured everybody on this machine is operator, and nobody else is anybody.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import { RuntimeError } from '../runtime/errors.ts';
import { HttpRefusal } from './refusal.ts';

/** Each may do what the ones before it may. */
export const ROLES = ['reader', 'submitter', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface HttpToken {
  /** Who it belongs to: the name in logs, and who added time to a job. */
  readonly name: string;
  readonly role: Role;
  readonly token: string;
  /** How the ids of jobs begin that it is for. Default: all jobs. */
  readonly jobs?: readonly string[];
  /** When it ends, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
}

export interface Caller {
  readonly name: string;
  /** Whose requests are counted together: those of a token, or of an address without one. */
  readonly client: string;
  readonly role: Role;
  readonly jobs: readonly string[] | undefined;
}

/** A list, or where to look for the one that holds now; undefined: there are none. */
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
  #last: readonly HttpToken[] | undefined;
  #known: readonly Known[] = [];

  /** @throws {RuntimeError} OPTION_INVALID */
  constructor(tokens: HttpTokens, clock: Clock) {
    this.#tokens = typeof tokens === 'function' ? tokens : () => tokens;
    this.#clock = clock;
    this.#look();
  }

  /** @throws {HttpRefusal} unauthorized: the same for every cause */
  identify(request: IncomingMessage, query: URLSearchParams): Caller {
    const isOpen = this.#look();
    const shown = TOKEN_PARAMETERS.some((name) => query.has(name))
      ? undefined
      : bearerToken(request.headers.authorization);
    const caller = isOpen ? this.#neighbour(request, query) : this.#owner(shown);
    if (caller !== undefined) return caller;
    const headers = { 'www-authenticate': 'Bearer' };
    throw new HttpRefusal('unauthorized', 'A valid token is needed, in the header Authorization.', {
      headers,
    });
  }

  /** True when there are no tokens at all. */
  #look(): boolean {
    const tokens = this.#tokens();
    if (tokens !== this.#last) {
      checkTokens(tokens ?? []);
      this.#last = tokens;
      this.#known = (tokens ?? []).map((token) => ({ digest: digestOf(token.token), token }));
    }
    return tokens === undefined;
  }

  #neighbour({ socket }: IncomingMessage, query: URLSearchParams): Caller | undefined {
    const { remoteAddress: client = '' } = socket;
    if (TOKEN_PARAMETERS.some((name) => query.has(name)) || !LOOPBACK.test(client))
      return undefined;
    return { name: 'operator', client, role: 'operator', jobs: undefined };
  }

  /** Looks at every token whichever it is, so that time says nothing. */
  #owner(shown: string | undefined): Caller | undefined {
    const digest = shown === undefined ? NOBODY : digestOf(shown);
    let found: HttpToken | undefined;
    for (const { digest: known, token } of this.#known)
      if (timingSafeEqual(known, digest)) found = token;
    if (found === undefined || shown === undefined) return undefined;
    const { name, role, jobs, expiresAt } = found;
    return expiresAt !== undefined && expiresAt <= this.#clock.now()
      ? undefined
      : { name, client: `token ${name}`, role, jobs };
  }
}

export function mayDo(caller: Caller, role: Role): boolean {
  return ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

/** Says the same of jobs that are there and of jobs that are not. */
export function maySee({ jobs }: Caller, jobId: string): boolean {
  return jobs === undefined || jobs.some((beginning) => jobId.startsWith(beginning));
}

function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([^\s,]{1,4096})$/i.exec(header ?? '')?.[1];
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function checkTokens(tokens: readonly HttpToken[]): void {
  const names = new Set<string>();
  for (const { name, role, token } of tokens) {
    if (!/^[A-Za-z0-9._:-]{1,64}$/.test(name))
      throw wrong(`"name" of a token must be 1 to 64 letters, digits or "._:-"`);
    if (names.size === names.add(name).size) throw wrong(`two tokens are called "${name}"`);
    if (!ROLES.includes(role)) throw wrong(`"role" of token "${name}" must be ${ROLES.join(', ')}`);
    if (!/^[^\s,]{16,4096}$/.test(token))
      throw wrong(`token "${name}" must be 16 to 4,096 characters without blanks and commas`);
  }
}

const wrong = (what: string): RuntimeError => new RuntimeError('OPTION_INVALID', `${what}.`);
