/** Adapter to viewers of the protocol of `@statelyai/inspect`: what it sends, to whom, and what it does not. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createRuntime } from '../../../create-runtime.ts';
import { statelyAdapter } from '../../../inspector/index.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { eventually } from '../../kit/eventually.ts';
import { orderMachine } from './inspected.ts';

type Message = Record<string, never> & { readonly type: string; readonly sessionId: string };

/** A viewer's server, which keeps what it is sent. */
class Listener {
  readonly heard: Message[] = [];
  readonly sockets: WebSocket[] = [];
  readonly server: WebSocketServer;

  constructor(port = 0) {
    this.server = new WebSocketServer({ host: '127.0.0.1', port });
    this.server.on('connection', (socket) => {
      this.sockets.push(socket);
      socket.on('message', (data) => this.heard.push(JSON.parse(String(data))));
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }
}

const cleanUp: Array<() => unknown> = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

async function started(options: object = {}) {
  const listener = new Listener();
  cleanUp.push(() => listener.close());
  await once(listener.server, 'listening');
  const runtime = await createRuntime({ kinds: { order: orderMachine, other: orderMachine } });
  cleanUp.push(() => runtime.stop());
  const url = `ws://127.0.0.1:${listener.port}`;
  const adapter = statelyAdapter(runtime as never, { url, retryMs: 20, ...options });
  cleanUp.push(() => adapter.close());
  await eventually(() => expect(adapter.isConnected).toBe(true));
  return { listener, adapter, runtime: runtime as unknown as Runtime<never>, url };
}

async function pay(runtime: Runtime<never>, address: string): Promise<void> {
  const { spawn } = runtime as unknown as { spawn(address: string): Promise<unknown> };
  await spawn.call(runtime, address);
  const order = runtime.actor(address as never) as { send(event: object): Promise<void> };
  await order.send({ type: 'order.add', password: 'hunter2' });
  await order.send({ type: 'order.pay' });
}

describe('the Stately adapter', () => {
  test('announces an actor with its definition, and tells its events and snapshots', async () => {
    const { listener, runtime } = await started({ kinds: ['order'] });
    await eventually(() => expect(listener.server.clients.size).toBe(1));
    await pay(runtime, 'other/1');
    await pay(runtime, 'order/1');
    await eventually(() =>
      expect(listener.heard.at(-1)).toMatchObject({ snapshot: { status: 'done' } }),
    );
    const [actor, ...rest] = listener.heard;
    expect(actor).toMatchObject({
      type: '@xstate.actor',
      sessionId: 'order/1@node-1',
      rootId: 'order/1@node-1',
      name: 'order/1@node-1',
      createdAt: expect.stringMatching(/^\d+$/),
    });
    expect(JSON.parse(actor?.definition ?? '')).toMatchObject({ id: 'order', initial: 'open' });
    expect(rest.map(({ type }) => type)).toEqual([
      ...Array(3).fill(['@xstate.event', '@xstate.snapshot']).flat(),
      '@xstate.snapshot',
    ]);
    expect(rest[3]).toMatchObject({
      event: { type: 'order.add', password: '[redacted]' },
      snapshot: { status: 'active', value: 'open', context: { items: 1, apiToken: '[redacted]' } },
    });
    expect(rest.at(-1)).toMatchObject({ snapshot: { status: 'done', value: 'paid' } });
    expect(JSON.stringify(listener.heard)).not.toMatch(/hunter2|sesame/);
    expect(listener.heard.every(({ sessionId }) => sessionId.startsWith('order/'))).toBe(true);
  });

  test('comes back to a viewer that was away, and holds nothing up meanwhile', async () => {
    const { listener, runtime, adapter } = await started();
    const { port } = listener;
    await listener.close();
    await eventually(async () => {
      await pay(runtime, `order/${Math.random()}`);
      expect(adapter.skipped).toBeGreaterThan(2);
    });
    const again = new Listener(port);
    cleanUp.push(() => again.close());
    await eventually(() => expect(adapter.isConnected).toBe(true));
    await pay(runtime, 'order/back');
    await eventually(() => expect(again.heard.map(({ type }) => type)).toContain('@xstate.actor'));
  });

  test('leaves out what a slow viewer cannot take', async () => {
    const { runtime, adapter } = await started({ bytesMax: 10 });
    await pay(runtime, 'order/1');
    expect(adapter.skipped).toBeGreaterThan(3);
  });

  test('H75: sends to no other machine that is not named, nor in the clear', async () => {
    const { runtime } = await started();
    const refused = (options: Parameters<typeof statelyAdapter>[1], message: RegExp) =>
      expect(() => statelyAdapter(runtime, options)).toThrow(message);
    refused({ url: 'wss://viewer.example.com/' }, /not this machine: name it in "allow"/);
    refused({ url: 'wss://127.0.0.1.example.com/' }, /not this machine/);
    refused(
      { url: 'wss://127.0.0.1@viewer.example.com/', allow: ['127.0.0.1'] },
      /not this machine/,
    );
    refused({ url: 'ws://viewer.example.com/', allow: ['viewer.example.com'] }, /wss:/);
    refused({ url: 'https://127.0.0.1/' }, /WebSocket/);
    refused({ url: 'nowhere' }, /WebSocket/);
    refused({ url: 'ws://127.0.0.1:1', bytesMax: 0 }, /bytesMax/);
  });

  test('ends with its runtime, and when it is closed', async () => {
    const { listener, adapter, runtime, url } = await started();
    adapter.close();
    adapter.close();
    await eventually(() => expect(listener.server.clients.size).toBe(0));
    statelyAdapter(runtime, { url });
    await eventually(() => expect(listener.server.clients.size).toBe(1));
    await runtime.stop();
    await eventually(() => expect(listener.server.clients.size).toBe(0));
  });
});
