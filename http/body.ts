/**
 * Body of a request: read as a stream, within a size and a time.
 *
 * Guarantees: only JSON in UTF-8 as it is, in no coding; nothing is kept beyond the size; what is
 * refused is not read on, and the connection ends with the answer.
 */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../runtime/ports/clock.ts';
import { JsonReader, type JsonShape } from './json-reader.ts';
import { HttpRefusal, invalid } from './refusal.ts';

/** Reader of a body, piece by piece. */
export interface BodyReader<TBody> {
  push(text: string): void;
  end(): TBody;
}

export interface BodyLimits {
  readonly bytesMax: number;
  readonly limitMs: number;
  /** Bytes that are read of it before others have their turn. Default 64 KiB. */
  readonly sliceBytes?: number;
  readonly clock: Clock;
}

export interface Body<TBody> {
  readonly value: TBody;
  /** Digest of the bytes as they came. */
  readonly digest: string;
}

/** True when the request says that there is one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** Only JSON, and nothing that has to be unpacked. @throws {HttpRefusal} unsupportedMediaType */
export function checkMediaType({ headers }: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': coding } = headers;
  const isJson = /^application\/json(?: *; *charset="?utf-8"?)?$/i.test(type.trim());
  if (isJson && (coding === undefined || coding === 'identity')) return;
  const what = 'A body is application/json in UTF-8, without a content-encoding.';
  throw new HttpRefusal('unsupportedMediaType', what, { endsConnection: true });
}

/** A few milliseconds for the reader that takes it in. */
const SLICE_BYTES = 64 * 1024;

/** Reads a body to its end. @throws {HttpRefusal} bodyTooLarge, invalid, requestLate */
export function readBody<TBody>(
  request: IncomingMessage,
  reader: BodyReader<TBody>,
  { bytesMax, limitMs, sliceBytes = SLICE_BYTES, clock }: BodyLimits,
): Promise<Body<TBody>> {
  const tooLarge = (): HttpRefusal =>
    new HttpRefusal('bodyTooLarge', `A body here takes at most ${bytesMax} bytes.`, {
      endsConnection: true,
    });
  return new Promise((resolve, reject) => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const hash = createHash('sha256');
    let bytes = 0;
    let isSettled = false;
    const settle = (how: () => void): void => {
      isSettled = true;
      cancel();
      request.off('data', take).off('end', end).off('error', broken).off('close', broken);
      how();
    };
    const refuse = (thrown: unknown): void => settle(() => reject(ended(thrown)));
    let unbroken = 0;
    const goOn = (): void => {
      unbroken = 0;
      if (!isSettled) request.resume();
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      unbroken += chunk.length;
      // Node reads on from a connection for as long as there is something in it.
      if (unbroken >= sliceBytes && !request.isPaused()) {
        request.pause();
        clock.defer(goOn);
      }
      try {
        if (bytes > bytesMax) throw tooLarge();
        hash.update(chunk);
        reader.push(decoder.decode(chunk, { stream: true }));
      } catch (thrown) {
        refuse(thrown);
      }
    };
    const end = (): void => {
      try {
        reader.push(decoder.decode());
        const value = reader.end();
        settle(() => resolve({ value, digest: hash.digest('base64url') }));
      } catch (thrown) {
        refuse(thrown);
      }
    };
    const broken = (): void => refuse(new HttpRefusal('requestLate', 'The request broke off.'));
    const late = (): void =>
      refuse(new HttpRefusal('requestLate', `A body takes at most ${limitMs} ms to arrive.`));
    const cancel = clock.schedule(clock.now() + limitMs, late);
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) refuse(tooLarge());
    else if (request.readableEnded || request.destroyed) refuse(taken());
    else request.on('data', take).on('end', end).on('error', broken).on('close', broken);
  });
}

/** A small body: an object whose members are listed. */
export class ObjectReader implements BodyReader<Readonly<Record<string, unknown>>> {
  readonly #json: JsonReader;
  readonly #members: Record<string, unknown> = {};
  #isEmpty = true;

  constructor(shape: JsonShape) {
    this.#json = new JsonReader(shape, {
      member: (name, value) => {
        this.#members[name] = value;
      },
    });
  }

  push(text: string): void {
    if (text !== '') this.#isEmpty = false;
    this.#json.push(text);
  }

  end(): Readonly<Record<string, unknown>> {
    if (!this.#isEmpty) this.#json.end();
    return this.#members;
  }
}

/** Nothing of a refused body is read on. */
function ended(thrown: unknown): unknown {
  const isText = thrown instanceof TypeError && 'code' in thrown;
  const refusal = isText ? invalid('A body is text in UTF-8.', 'body') : thrown;
  if (!(refusal instanceof HttpRefusal)) return refusal;
  const { code, message, field, headers } = refusal;
  return new HttpRefusal(code, message, { field, headers, endsConnection: true });
}

/** The server that mounted the API reads bodies before it. */
function taken(): Error {
  return new Error('The body was read before the API got the request: mount it before parsers.');
}
