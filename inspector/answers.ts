/**
 * Answers of the inspector: their headers, which allow the page nothing but itself, and their statuses.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RuntimeError } from '../runtime/base/errors.ts';
import { COOKIE } from './access.ts';

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every answer. */
export const ALWAYS = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const STATUSES: Readonly<Record<string, number>> = {
  ACTOR_UNKNOWN: 404,
  ADDRESS_MALFORMED: 400,
  ASK_TIMED_OUT: 504,
  EVENT_MALFORMED: 400,
  KIND_UNKNOWN: 404,
  NOT_ALLOWED: 403,
  OPTION_INVALID: 400,
};

export function statusOf({ code }: RuntimeError): number {
  return STATUSES[code] ?? 503;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  cache = 'no-store',
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...ALWAYS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': cache,
    ...headers,
  });
  response.end(text);
}

/** The page's addresses are relative, so its own ends in a slash. */
export function redirect(request: IncomingMessage, response: ServerResponse, search: string): void {
  const { originalUrl } = request as { originalUrl?: string };
  const [whole = ''] = (originalUrl ?? request.url ?? '').split('?', 1);
  const last = whole.split('/').at(-1) ?? '';
  const location = last === '' ? './' : `${encodeURIComponent(last)}/`;
  response.writeHead(308, {
    ...ALWAYS,
    location: search === '' ? location : `${location}?${search}`,
  });
  response.end();
}

/** The token goes into a cookie, and out of the address. */
export function keepToken(
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): void {
  const token = query.get('token') ?? '';
  query.delete('token');
  const rest = query.toString();
  const [path = ''] = (request.url ?? '/').split('?', 1);
  const last = path.split('/').at(-1) ?? '';
  const isSecure = 'encrypted' in request.socket;
  response.writeHead(303, {
    ...ALWAYS,
    'cache-control': 'no-store',
    'set-cookie': `${COOKIE}=${encodeURIComponent(token)}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
    location: `./${encodeURIComponent(last)}${rest === '' ? '' : `?${rest}`}`,
  });
  response.end();
}
