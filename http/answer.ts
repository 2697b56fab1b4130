/**
 * Answers: written once, whole, and never cached.
 *
 * An answer to a request that is not read on is written first and ends the connection after a
 * moment, during which what still comes is thrown away: a client that is still sending would
 * otherwise find the connection gone and never see the answer.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../runtime/ports/clock.ts';
import type { HttpRefusal } from './refusal.ts';

export interface Answer {
  readonly status: number;
  /** As JSON. Text is sent as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Time for which a refused request is still read, and thrown away. */
const LINGER_MS = 1_000;

const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const text = textOf(answer);
  response.writeHead(answer.status, headersOf(answer, text));
  response.end(text);
}

export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: HttpRefusal,
  clock: Clock,
): void {
  const answer = { status: refusal.status, body: refusal.toJSON(), headers: refusal.headers };
  const isUnread = refusal.endsConnection && !request.readableEnded;
  if (!isUnread) {
    sendAnswer(response, answer);
    return;
  }
  const text = textOf(answer);
  response.writeHead(answer.status, { ...headersOf(answer, text), connection: 'close' });
  const end = (): void => {
    cancel();
    response.end();
  };
  const cancel = clock.schedule(clock.now() + LINGER_MS, end);
  response.on('close', cancel);
  request.once('end', end).once('error', end);
  response.write(text);
  request.resume();
}

function textOf({ body }: Answer): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
}

function headersOf({ body, headers }: Answer, text: string): Record<string, string> {
  return {
    ...ALWAYS,
    ...(typeof body === 'object' && { 'content-type': 'application/json; charset=utf-8' }),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  };
}
