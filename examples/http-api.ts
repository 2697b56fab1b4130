/**
 * The HTTP API of a jobs system in a service of your own, on a plain `node:http` server.
 *
 *   GET  /                     the service's own page
 *   ...  /jobs-api/v1/jobs     the API: submit, look at, cancel, watch
 *
 * Shows: one server for both, one runtime behind it, and an end that finishes what was begun.
 *
 *   npx tsx examples/http-api.ts
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpHandler, serverLimits } from '../http/index.ts';
import { startManager, startWorker } from '../programs/jobs/index.ts';
import { inProcessNetwork } from '../transports/index.ts';

export async function main(print: (line: string) => void): Promise<void> {
  const network = inProcessNetwork();
  const manager = await startManager({ datacenter: 'A', transport: network.join('A.manager-1') });
  const worker = await startWorker({
    worker: 'A.worker-1',
    datacenter: 'A',
    cores: 4,
    handlers: { greet: async ({ payload }) => `Hello, ${payload}!` },
    transport: network.join('A.worker-1'),
  });

  const api = createHttpHandler({ program: manager, prefix: '/jobs-api' });
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (request, response) => {
    if (request.url === '/') response.end('greetings\n');
    else api(request, response);
  });
  serverLimits(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  print(`the service says: ${(await (await fetch(url)).text()).trim()}`);
  const submitted = await fetch(`${url}/jobs-api/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'greeting-1' },
    body: JSON.stringify({
      timeoutMs: 60_000,
      workflows: [{ id: 'hello', handler: 'greet', payload: 'Ada' }],
    }),
  });
  const where = submitted.headers.get('location');
  print(`${submitted.status} ${where}`);

  // A stream of server-sent events: it ends with the job.
  const events = await (await fetch(`${url}${where}/events`)).text();
  print(`the job is ${/"status":"(\w+)"[^\n]*\n*$/.exec(events)?.[1]}`);
  const job = (await (await fetch(`${url}${where}`)).json()) as {
    readonly workflows: ReadonlyArray<{ readonly result: string }>;
  };
  print(`its result is: ${job.workflows[0]?.result}`);

  const closed = new Promise((resolve) => server.close(resolve));
  await api.close();
  server.closeAllConnections();
  await closed;
  for (const program of [worker, manager]) await program.stop();
}

if (process.argv[1] === import.meta.filename) await main((line) => console.log(line));
