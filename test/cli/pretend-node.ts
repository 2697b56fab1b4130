/** Pretend node: an HTTP server in this process that answers as a test wants it to. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Take = (request: IncomingMessage, response: ServerResponse) => void;

/** Resolves with its URL. It ends with the test. */
export async function serve(take: Take): Promise<string> {
  const server = createServer(take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A text goes out as it is, anything else as JSON. */
export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Take =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
