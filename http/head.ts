/**
 * Head of a request, as far as it says where the request ends and whom it is for.
 *
 * Guarantees: what somebody in between could read in another way is refused: two names of the
 * server, or a coding of the body besides `chunked`. Lengths and lines are checked by Node.
 */

import type { IncomingMessage } from 'node:http';
import { HttpRefusal, invalid } from './refusal.ts';

/** @throws {HttpRefusal} headTooLarge, invalid */
export function checkHead({ rawHeaders, headers }: IncomingMessage, headersMax: number): void {
  if (rawHeaders.length > 2 * headersMax)
    throw new HttpRefusal('headTooLarge', `A request has at most ${headersMax} headers.`, {
      endsConnection: true,
    });
  if (timesIn(rawHeaders, 'host') > 1) throw ending(invalid('It is there twice.', 'Host'));
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw ending(invalid('A body is chunked or has a length.', 'Transfer-Encoding'));
}

/** Node tells of the first only. Names and values take turns. */
function timesIn(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** Nobody could say where the next request begins. */
function ending({ code, message, field, headers }: HttpRefusal): HttpRefusal {
  return new HttpRefusal(code, message, { field, headers, endsConnection: true });
}
