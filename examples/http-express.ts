/**
 * The HTTP API of a jobs system in an Express application.
 *
 * Mount it before anything that reads bodies: the API reads them itself, as a stream and within
 * limits of its own.
 *
 *   npx tsx examples/http-express.ts
 */

import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { createHttpHandler, type HttpHandler, serverLimits } from '../http/index.ts';
import { type Manager, startManager } from '../programs/jobs/index.ts';

export function createApp(manager: Manager): { readonly app: Express; readonly api: HttpHandler } {
  const api = createHttpHandler({ program: manager });
  const app = express();
  app.use('/jobs-api', api);
  app.use(express.json());
  app.post('/greetings', (request, response) => {
    response.json({ greeting: `Hello, ${request.body.name}!` });
  });
  return { app, api };
}

export async function main(print: (line: string) => void): Promise<void> {
  const manager = await startManager({ datacenter: 'A' });
  const { app, api } = createApp(manager);
  const server = app.listen(0, '127.0.0.1');
  serverLimits(server);
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Ada' });
  const greeting = await fetch(`${url}/greetings`, { method: 'POST', headers, body });
  print(`the application: ${await greeting.text()}`);
  print(`the API: ${(await (await fetch(`${url}/jobs-api/v1/jobs`)).text()).trim()}`);

  const closed = new Promise((resolve) => server.close(resolve));
  await api.close();
  server.closeAllConnections();
  await closed;
  await manager.stop();
}

if (process.argv[1] === import.meta.filename) await main((line) => console.log(line));
