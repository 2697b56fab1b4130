/** Probes of a node without an HTTP API: they say the same as those of one that has it. */

import { type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Probes, probesHandler } from '../../cli/node/probes.ts';
import { createHttpHandler } from '../../http/index.ts';
import { HTTP_CODES } from '../../http/refusal.ts';
import { startManager } from '../../programs/jobs/index.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { exchange } from '../http/raw-connection.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function asking(handler: RequestListener) {
  const server = new Server(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return async (target: string, host = 'localhost') => {
    const request = `${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    const { status, body } = await exchange(port, request);
    return { status, body };
  };
}

const inState = (state: ReturnType<Probes['state']>) =>
  asking(probesHandler({ state: () => state, metrics: () => 'lines 1\n' }));

describe('probes', () => {
  test.each([
    ['starting', 503, 'notReady'],
    ['ready', 200, 'ready'],
    ['draining', 503, 'notReady'],
  ] as const)('of a node that is %s', async (state, status, said) => {
    const ask = await inState(state);
    const readyz = await ask('GET /readyz');
    expect(readyz.status).toBe(status);
    expect(JSON.parse(readyz.body)).toEqual({ status: said });
    expect(JSON.parse((await ask('GET /livez?x=1')).body)).toEqual({ status: 'alive' });
    expect(await ask('GET /metrics')).toEqual({ status: 200, body: 'lines 1\n' });
  });

  test.each([
    ['ready', 'GET /v1/jobs', 'notFound'],
    ['draining', 'GET /v1/jobs', 'notFound'],
    ['starting', 'GET /v1/jobs', 'notReady'],
    ['starting', 'POST /livez', 'methodNotAllowed'],
    ['ready', 'DELETE /metrics', 'methodNotAllowed'],
  ] as const)(
    'of a node that is %s refuse %s in the words of the API: %s',
    async (state, target, code) => {
      const { status, body } = await (await inState(state))(target);
      expect(status).toBe(HTTP_CODES[code]);
      expect(JSON.parse(body)).toEqual({ error: { code, message: expect.any(String) } });
    },
  );

  test('say more about a node that has more to say, in the words of the API', async () => {
    const certificate = { expiresAt: '2030-01-01T00:00:00.000Z', daysLeft: 3, isExpiring: true };
    const details = () => ({ certificate });
    const ask = await asking(probesHandler({ state: () => 'ready', metrics: () => '', details }));
    expect(JSON.parse((await ask('GET /readyz')).body)).toEqual({ status: 'ready', certificate });
    const transport = inProcessNetwork().join('A.manager-1');
    const manager = await startManager({ datacenter: 'A', transport });
    onTestFinished(() => manager.stop());
    const api = await asking(createHttpHandler({ program: manager, details }));
    expect(JSON.parse((await api('GET /readyz')).body)).toMatchObject({
      status: 'ready',
      hosting: true,
      certificate,
    });
  });

  test('answer to any name, as those of the API do', async () => {
    const ask = await inState('ready');
    expect((await ask('GET /livez', '10.1.2.3:7400')).status).toBe(200);
    expect((await ask('GET /readyz', 'worker.example')).status).toBe(200);
  });
});
