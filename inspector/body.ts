/**
 * Body of a POST: JSON of a bounded size, and nothing that a form of another site could send.
 */

import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from '../http/refusal.ts';

const BYTES_MAX = 256 * 1024;
const LIMIT_MS = 10_000;

/** @throws {HttpRefusal} unsupportedMediaType, bodyTooLarge, requestLate, invalid */
export async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json')
    throw new HttpRefusal('unsupportedMediaType', 'Send JSON, as application/json.', {
      endsConnection: true,
    });
  const text = (await read(request)).toString('utf8');
  try {
    return JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value)) as unknown;
  } catch {
    throw new HttpRefusal('invalid', 'The body is no JSON.');
  }
}

/** A framework in front of us may have read it already. */
function read(request: IncomingMessage): Promise<Buffer> {
  const { body } = request as { body?: unknown };
  if (body !== undefined && request.readableEnded)
    return Promise.resolve(Buffer.from(JSON.stringify(body)));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => {
      reject(new HttpRefusal('requestLate', 'The body took too long.', { endsConnection: true }));
    }, LIMIT_MS);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BYTES_MAX) chunks.push(chunk);
      else
        reject(
          new HttpRefusal('bodyTooLarge', `A body has at most ${BYTES_MAX} bytes here.`, {
            endsConnection: true,
          }),
        );
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    request.once('close', () => clearTimeout(timer));
    request.once('error', reject);
  });
}
