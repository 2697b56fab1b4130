/**
 * Access to the inspector: who may look, and who may command.
 *
 * On loopback, without a token, everybody who can reach the port may look and command. From anywhere else a token
 * is needed, and a token only looks unless it is told to command. A request that came through a proxy is from
 * elsewhere, wherever the proxy runs. How long a comparison takes tells nothing about any token.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface InspectorToken {
  /** Name that stands in the history beside commands: letters, digits and `._-`, at most 40. */
  readonly name: string;
  readonly token: string;
  /** True if it may command. Default false. */
  readonly commands?: boolean;
}

export interface Viewer {
  readonly name: string;
  readonly mayCommand: boolean;
  /** Reason why it may not. */
  readonly why?: string;
}

/** Answers of access: a viewer, or the reason why nobody is let in. */
export type Admission =
  | { readonly viewer: Viewer }
  | { readonly status: 401 | 403; readonly why: string };

/** Decides about one request; `token` is what it shows in its header, its cookie or its address. */
export type Authorize = (request: IncomingMessage, token: string | undefined) => Admission;

const LOOPBACK = /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/;
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
export const COOKIE = 'escapement_inspector';

export interface AccessRules {
  readonly tokens: readonly InspectorToken[];
  /** `loopback`: from there alone, unless a token says more; false: nobody. */
  readonly commands: boolean | 'loopback';
}

export function authorizeBy({ tokens, commands }: AccessRules): Authorize {
  const known = tokens.map((token) => ({ digest: digestOf(token.token), token }));
  return (request, shown) => {
    const isNear = isFromLoopback(request);
    const found = shown === undefined ? undefined : ownerOf(known, shown);
    if (found !== undefined) {
      const may =
        commands === true || (commands === 'loopback' && (isNear || found.commands === true));
      const why = commands === false ? OFF : 'This token only looks; give it commands: true.';
      return { viewer: { name: found.name, mayCommand: may, ...(!may && { why }) } };
    }
    if (shown !== undefined || (tokens.length > 0 && !isNear))
      return { status: 401, why: 'A valid token is needed: open the page with ?token=… once.' };
    if (tokens.length > 0)
      return { status: 401, why: 'A token is needed: open the page with ?token=… once.' };
    if (!isNear)
      return {
        status: 403,
        why: 'The inspector is for this machine alone until it is given a token.',
      };
    const mayCommand = commands !== false;
    return { viewer: { name: 'loopback', mayCommand, ...(!mayCommand && { why: OFF }) } };
  };
}

const OFF = 'Commands are switched off by the options of this inspector.';

export function isTokenName(name: string): boolean {
  return NAME.test(name);
}

/** Loopback itself, and not a proxy on it. */
function isFromLoopback({ socket, headers }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  return LOOPBACK.test(socket.remoteAddress ?? '');
}

export function tokenOf({ headers }: IncomingMessage, query: URLSearchParams): string | undefined {
  const bearer = /^Bearer +([^\s,]{1,4096})$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const cookie = headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${COOKIE}=`));
  if (cookie !== undefined) return decoded(cookie.slice(COOKIE.length + 1));
  return query.get('token') ?? undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Looks at every token whichever it is, so that time says nothing. */
function ownerOf(
  known: ReadonlyArray<{ readonly digest: Buffer; readonly token: InspectorToken }>,
  shown: string,
): InspectorToken | undefined {
  const digest = digestOf(shown);
  let found: InspectorToken | undefined;
  for (const each of known) if (timingSafeEqual(digest, each.digest)) found = each.token;
  return found;
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
