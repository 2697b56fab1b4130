/** Page of the demo, in front of a real inspector; and the story that opening it begins. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { Faults } from '../../demo/faults.ts';
import { pageHandler } from '../../demo/page.ts';
import { Story } from '../../demo/story.ts';
import { call, type Inspected, inspected, readStream } from '../inspector/server/inspected.ts';

let gate: Inspected | undefined;
const closing: Array<() => void> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await gate?.close();
  gate = undefined;
  vi.useRealTimers();
});

async function served() {
  gate = await inspected({ prefix: '/inspector' });
  const { port } = gate;
  const asked: string[] = [];
  const state = { isAway: false, opened: 0 };
  const server = createServer(
    pageHandler({
      gateUrl: () => (state.isAway ? undefined : `http://127.0.0.1:${port}`),
      opened: () => {
        state.opened += 1;
      },
      start: () => '#/actor/job%2Fstory-1-0001%40A',
      fault: (name) => {
        asked.push(name);
        return name === 'leader' ? { isDone: true, text: 'A: it is killed' } : undefined;
      },
    }),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked, state, node: gate };
}

test('the page is the inspector of the gate, with the story, the tour and the faults', async () => {
  const { port, asked, state, node } = await served();
  await node.runtime.spawn('order/1' as never);
  expect((await call(port, '/')).status).toBe(200);
  expect(state.opened).toBe(1);
  expect((await call(port, '/api/actors')).body.rows).toHaveLength(1);
  const stream = await readStream(port);
  const [opened] = stream.frames;
  expect(opened).toMatchObject({
    hello: {
      start: '#/actor/job%2Fstory-1-0001%40A',
      capabilities: { faults: { can: true }, tour: { can: true }, send: { can: true } },
    },
  });
  const watch = { stream: stream.id, actors: ['order/1@node-1'] };
  expect((await call(port, '/api/watch', { body: watch })).status).toBe(204);
  await stream.until(({ type }) => type === 'actor');
  stream.close();

  const command = (body: object) => call(port, '/api/command', { body });
  expect((await command({ type: 'fault', name: 'leader' })).body).toMatchObject({
    outcome: 'taken',
    why: 'A: it is killed',
  });
  expect((await command({ type: 'fault', name: 'moon' })).body.outcome).toBe('refused');
  expect(asked).toEqual(['leader', 'moon']);
  const send = { type: 'send', address: 'order/1', event: { type: 'order.add' } };
  expect((await command(send)).body.outcome).toBe('taken');
});

test('other sites and other names get nothing, and a gate that is away is said to be', async () => {
  const { port, asked, state } = await served();
  const fault = { type: 'fault', name: 'leader' };
  for (const headers of [{ origin: 'http://evil.example' }, { host: 'evil.example' }])
    expect(
      (await call(port, '/api/command', { body: fault, headers })).status,
    ).toBeGreaterThanOrEqual(400);
  const form = { text: JSON.stringify(fault), headers: { 'content-type': 'text/plain' } };
  expect((await call(port, '/api/command', form)).status).toBe(415);
  expect(asked).toEqual([]);
  state.isAway = true;
  expect((await call(port, '/api/hello')).body.error.message).toContain('The gate is away');
  expect((await call(port, '/')).status).toBe(200);
  expect((await call(port, '/nothing')).status).toBe(404);
});

test('a story goes from an extension over a silent worker to a killed leader, once', () => {
  vi.useFakeTimers();
  const did: string[] = [];
  const faults = {
    pauseWorker: (datacenter: string, _ms: number, name: string) =>
      did.push(`pause ${datacenter} ${name}`),
    killLeader: (datacenter: string) => did.push(`kill ${datacenter}`),
  } as unknown as Faults;
  let jobs = 0;
  const submit = () => {
    jobs += 1;
    return `story-1-${jobs}`;
  };
  const story = new Story({ faults, hasFaults: true, submit });
  const heard = (event: string, more: object) => {
    story.heard({ time: 0, msg: '', event, ...more });
    vi.advanceTimersByTime(3_000);
  };
  expect(story.address).toBeUndefined();
  story.begin();
  story.begin();
  expect(story.address).toBe('job/story-1-1@A');
  heard('worker.recovered', { workerId: 'A.worker-2' });
  heard('extension.granted', { operationId: 'other/film/1', workerId: 'A.worker-1' });
  expect(did).toEqual([]);
  heard('extension.granted', { operationId: 'story-1-1/film/1', workerId: 'A.worker-2' });
  heard('extension.granted', { operationId: 'story-1-1/film/1', workerId: 'A.worker-2' });
  expect(did).toEqual(['pause A A.worker-2']);
  heard('worker.recovered', { workerId: 'A.worker-1' });
  heard('worker.recovered', { workerId: 'A.worker-2' });
  heard('worker.evicted', { workerId: 'A.worker-2' });
  expect(did).toEqual(['pause A A.worker-2', 'kill A']);
  vi.advanceTimersByTime(60_000);
  story.begin();
  expect(story.address).toBe('job/story-1-2@A');
  story.stop();
});
