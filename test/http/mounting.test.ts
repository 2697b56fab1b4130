/** The API within applications of other frameworks: the examples, looked at from outside. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp as createExpress } from '../../examples/http-express.ts';
import { createApp as createFastify } from '../../examples/http-fastify.ts';
import { type Manager, startManager } from '../../programs/jobs/index.ts';
import { exchange } from './raw-connection.ts';
import { until } from './served.ts';

let manager: Manager;
beforeAll(async () => {
  manager = await startManager({ datacenter: 'A' });
});
afterAll(() => manager.stop());

interface Mounted {
  readonly port: number;
  close(): Promise<void>;
}

async function express(): Promise<Mounted> {
  const { app, api } = createExpress(manager);
  const server: Server = await new Promise((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function fastify(): Promise<Mounted> {
  const app = createFastify(manager);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    port: (app.server.address() as AddressInfo).port,
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

describe.each([
  ['Express', express],
  ['Fastify', fastify],
] as const)('in %s', (name, open) => {
  let mounted: Mounted;
  let url: string;
  beforeAll(async () => {
    mounted = await open();
    url = `http://127.0.0.1:${mounted.port}`;
  });
  afterAll(() => mounted.close());
  const headers = { 'content-type': 'application/json' };
  const job = (jobId: string, payload = '') =>
    JSON.stringify({
      jobId,
      timeoutMs: 60_000,
      workflows: [{ id: 'w1', handler: 'nobody-has-it', payload }],
    });

  test('a job is submitted, watched and cancelled beside the routes of the application', async () => {
    const greeting = await fetch(`${url}/greetings`, {
      method: 'POST',
      headers,
      body: '{"name":"Ada"}',
    });
    expect(await greeting.json()).toEqual({ greeting: 'Hello, Ada!' });
    const submitted = await fetch(`${url}/jobs-api/v1/jobs`, {
      method: 'POST',
      headers,
      body: job(name, 'x'.repeat(60_000)),
    });
    expect(submitted.status).toBe(201);
    const where = submitted.headers.get('location');
    expect(where).toBe(`/jobs-api/v1/jobs/${name}`);
    const events = await fetch(`${url}${where}/events`);
    expect(events.headers.get('content-type')).toMatch(/^text\/event-stream/);
    await fetch(`${url}${where}/cancel`, { method: 'POST' });
    expect(await events.text()).toMatch(/"status":"cancelled"/);
    expect(await (await fetch(`${url}/jobs-api/livez`)).json()).toEqual({ status: 'alive' });
  });

  test('what is wrong is refused as ever', async () => {
    const at = (path: string, init?: RequestInit) => fetch(`${url}/jobs-api${path}`, init);
    const statuses = [
      (await at('/v1/nothing')).status,
      (await at('/v1/jobs', { method: 'PUT' })).status,
      (await at('/v1/jobs', { method: 'POST', body: 'timeoutMs=1' })).status,
      (await at('/v1/jobs', { method: 'POST', headers, body: '{"a":' })).status,
      (
        await at('/v1/jobs/j1/cancel', {
          method: 'POST',
          headers,
          body: job('x', 'x'.repeat(70_000)),
        })
      ).status,
    ];
    expect(statuses).toEqual([404, 405, 415, 400, 413]);
    const foreign = await exchange(
      mounted.port,
      'GET /jobs-api/v1/jobs HTTP/1.1\r\nhost: evil.com\r\nconnection: close\r\n\r\n',
    );
    expect(foreign.status).toBe(421);
  });
});

test('a body that somebody has read before is said to be so, and not waited for', async () => {
  const { default: framework } = await import('express');
  const errors: object[] = [];
  const { createHttpHandler } = await import('../../http/index.ts');
  const noted = {
    error: (fields: object) => errors.push(fields),
    warn() {},
    info() {},
    debug() {},
  };
  const api = createHttpHandler({ program: manager, logger: noted });
  const app = framework();
  app.use(framework.json());
  app.use(api);
  const server: Server = await new Promise((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"timeoutMs":1}',
  });
  expect(answer.status).toBe(500);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe('internal');
  const noted1 = await until(() => errors[0]);
  expect(JSON.stringify(noted1)).toContain('mount it before parsers');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
