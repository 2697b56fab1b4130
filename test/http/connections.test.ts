/** The connections of a server: who makes room for whom, and what happens when the system has none left. */

import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer, type HttpServerOptions, serverCounts } from '../../http/index.ts';
import { RawConnection } from './raw-connection.ts';
import { until } from './served.ts';
import { head } from './unheard.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Answers when it is told to. */
async function listen(options: HttpServerOptions) {
  const waiting: ServerResponse[] = [];
  const server = createHttpServer((_request, response) => {
    waiting.push(response);
  }, options) as Server;
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const counts = () => serverCounts(server);
  /** A connection with a request that is being served. */
  const served = async (): Promise<RawConnection> => {
    const before = waiting.length;
    const connection = await RawConnection.open(port);
    connection.write(head('GET /'));
    await until(async () => (waiting.length > before ? true : undefined));
    return connection;
  };
  return { server, port, waiting, counts, served };
}

const PATIENT = { firstHeadMs: 60_000, keepAliveMs: 60_000 };

test('an idle connection makes room, and one that is served does not', async () => {
  const { port, waiting, counts, served } = await listen({
    limits: { ...PATIENT, connectionsMax: 3 },
  });
  const [first, second, third] = [await served(), await served(), await served()];
  waiting[1]?.end('done');
  await until(async () => (second.text.includes('done') ? true : undefined));
  const fourth = await served();
  await second.closed;
  expect([first, third, fourth].some(({ socket }) => socket.destroyed)).toBe(false);
  const fifth = await RawConnection.open(port);
  await fifth.closed;
  expect(counts()).toMatchObject({ connectionsRefused: 1, connectionsSilenced: 0 });
  for (const response of waiting) response.end();
});

test('requests never have all places: who has yet to say who it is can come', async () => {
  const { port, waiting, counts, served } = await listen({
    limits: { ...PATIENT, connectionsMax: 16 },
  });
  for (let count = 0; count < 14; count += 1) await served();
  const more = await RawConnection.open(port);
  more.write(head('GET /'));
  const { status, head: answered, body } = await more.answer();
  expect([status, JSON.parse(body).error.code]).toEqual([503, 'overloaded']);
  expect(answered).toContain('retry-after: 1');
  expect(waiting).toHaveLength(14);
  expect(counts()).toMatchObject({ requestsRefused: 1, connectionsRefused: 0 });
});

test('a storm of one address does not touch a silent caller of another', async () => {
  const { port, counts } = await listen({ limits: { ...PATIENT, connectionsMax: 10 } });
  const lonely = await RawConnection.open(port, '127.0.0.2');
  await RawConnection.openMany(port, 100);
  await until(async () => (counts()?.connectionsSilenced === 91 ? true : undefined));
  expect(lonely.socket.destroyed).toBe(false);
});

test('a connection that cannot be taken in ends nothing: it is logged, counted and makes room', async () => {
  const told: object[] = [];
  const ignore = (): void => {};
  const error = (fields: object): void => void told.push(fields);
  const logger = { debug: ignore, info: ignore, warn: ignore, error };
  let now = 0;
  const clock = { now: () => now, schedule: () => ignore, defer: ignore };
  const { server, port, waiting, counts, served } = await listen({
    limits: { ...PATIENT, connectionsMax: 100 },
    logger,
    clock,
  });
  const busy = await served();
  const silent = await RawConnection.openMany(port, 10);
  await until(async () => (counts()?.connectionsOpen === 11 ? true : undefined));
  const failure = { code: 'EMFILE', syscall: 'accept' };
  for (let count = 0; count < 1_000; count += 1)
    server.emit('error', Object.assign(new Error('accept EMFILE'), failure));
  await Promise.all(silent.map(({ closed }) => closed));
  expect(told).toEqual([{ event: 'connection.notAccepted', error: 'accept EMFILE', open: 1 }]);
  expect(counts()).toMatchObject({ acceptsFailed: 1_000, connectionsSilenced: 10 });
  // For a moment anybody who comes is refused, then nobody is.
  await (await RawConnection.open(port)).closed;
  now += 1_000;
  await served();
  waiting[0]?.end('still here');
  await until(async () => (busy.text.includes('still here') ? true : undefined));
  expect(() => server.emit('error', new Error('something else'))).toThrow('something else');
});
