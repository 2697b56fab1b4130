/** Whatever is asked is answered, with a status, and by JSON that says why. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { HTTP_CODES } from '../../http/index.ts';
import { startManager } from '../../programs/jobs/index.ts';
import { exchange } from './raw-connection.ts';
import { close, type Endpoint, listen } from './served.ts';

/** Of a node of the jobs system, and of one of own kinds. */
const programs = {
  'a manager': () => startManager({ datacenter: 'A' }),
  'a node of own kinds': async () => {
    const order = setup({}).createMachine({ on: { 'order.paid': {} } });
    const runtime = await createRuntime({ node: 'A', kinds: { order } });
    await runtime.spawn('order/1');
    return { runtime, stop: () => runtime.stop() };
  },
};

const words = [
  'v1',
  'jobs',
  'j1',
  'cancel',
  'extend',
  'events',
  'workers',
  'timers',
  'undelivered',
  'retry',
  '..',
  '%2e',
  '%00',
  '',
  'é',
  '~',
  'history',
  'metrics',
  'actors',
  'explain',
  'waiting',
  'order',
  '1',
  '1@A',
  'end',
];
const path = fc
  .array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 8 })), { maxLength: 6 })
  .map((parts) => plain(`/${parts.join('/')}`));
const query = fc.oneof(
  fc.constant(''),
  fc.constantFrom(
    '?',
    '?limit=1',
    '?limit=-1',
    '?status=running&status=x',
    '?%',
    '?cursor=%00',
    '?__proto__=1',
    '?before=1e9',
    '?stuckFor=9007199254740993',
  ),
  fc.string({ maxLength: 20 }).map((text) => plain(`?${text}`)),
);
const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS');

describe.each(Object.entries(programs))('%s answers', (_, start) => {
  const faults: object[] = [];
  let program: Awaited<ReturnType<typeof start>>;
  let at: Endpoint;
  beforeAll(async () => {
    program = await start();
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (fields: object) => faults.push(fields),
    };
    at = await listen(program, { logger });
  });
  afterAll(async () => {
    await close(at.server, at.handler);
    await program.stop();
  });

  test('any path, query and method', async () => {
    await fc.assert(
      fc.asyncProperty(method, path, query, async (verb, where, asked) => {
        const { status, head, body } = await exchange(
          at.port,
          `${verb} ${where}${asked} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
        );
        check(status, body, verb === 'HEAD' || !head.includes('application/json'));
      }),
      { numRuns: 150 },
    );
    expect(faults).toEqual([]);
  });

  test('any body', async () => {
    const job = fc.record(
      {
        jobId: fc.oneof(fc.constant('j1'), fc.anything()),
        timeoutMs: fc.oneof(fc.constant(60_000), fc.anything()),
        failFast: fc.anything(),
        targetDatacenters: fc.anything(),
        workflows: fc.oneof(
          fc.anything(),
          fc.array(
            fc.record(
              {
                id: fc.oneof(fc.constant('w1'), fc.anything()),
                handler: fc.anything(),
                payload: fc.anything(),
                dependsOn: fc.anything(),
                cores: fc.anything(),
              },
              { requiredKeys: [] },
            ),
            { maxLength: 3 },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    const event = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('order.paid', 'xstate.stop', 'escapement.spawn'),
          fc.anything(),
        ),
        address: fc.oneof(fc.constantFrom('order/2', 'order/1@', 'ask/1'), fc.anything()),
        input: fc.anything(),
        replyTo: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const text = fc.oneof(
      job.map((value) => textOf(value)),
      event.map((value) => textOf(value)),
      fc.json(),
      fc.string(),
      fc.string({ unit: 'binary' }),
    );
    const where = fc.constantFrom(
      ...['/v1/jobs', '/v1/jobs/j1/extend', '/v1/jobs/j1/cancel'],
      ...['/v1/actors', '/v1/actors/order/1', '/v1/actors/order/2', '/v1/end/order/2'],
    );
    await fc.assert(
      fc.asyncProperty(where, text, async (path, sent) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await at.call(path, { method: 'POST', body: sent, headers });
        check(answer.status, await answer.text(), false);
      }),
      { numRuns: 150 },
    );
    expect(faults).toEqual([]);
  });
});

/** What may stand in the first line of a request. */
const plain = (text: string): string => text.replaceAll(/[^!-~]/g, '_');

function check(status: number, body: string, isBare: boolean): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  if (isBare) return;
  const told = JSON.parse(body);
  if (status < 300) return;
  expect(HTTP_CODES[told.error.code as keyof typeof HTTP_CODES]).toBe(status);
  expect(typeof told.error.message).toBe('string');
  expect(Object.values(told.error)).not.toContain(null);
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '{}';
  }
}
