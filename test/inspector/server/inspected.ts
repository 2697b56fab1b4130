/**
 * Runtime with an inspector on a real port, and a page's side of it: questions, posts, and a stream that is read.
 */

import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assign, setup } from 'xstate';
import { createRuntime } from '../../../create-runtime.ts';
import { type InspectorHandler, inspectorHandler } from '../../../inspector/mount.ts';
import type { InspectorHandlerOptions } from '../../../inspector/options.ts';
import type { Frame } from '../../../inspector/protocol.ts';
import type { Runtime } from '../../../runtime/runtime.ts';

export const orderMachine = setup({
  types: {
    context: {} as {
      items: number;
      apiToken: string;
      customer: { name: string; password: string };
    },
    events: {} as { type: 'order.pay' } | { type: 'order.add' } | { type: 'order.fail' },
    input: {} as { at: number; name?: string } | undefined,
  },
  actions: {
    fail: () => {
      throw new Error('cannot');
    },
  },
  guards: { hasItems: ({ context }) => context.items > 0 },
  delays: { limit: 60_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({
    items: 0,
    apiToken: 'sesame-0123',
    customer: { name: input?.name ?? 'Ann', password: 'hunter2' },
  }),
  initial: 'open',
  states: {
    open: {
      on: {
        'order.pay': { guard: 'hasItems', target: 'paid' },
        'order.add': { actions: assign({ items: ({ context }) => context.items + 1 }) },
        'order.fail': {
          actions: assign(() => {
            throw new Error('cannot');
          }),
        },
      },
      after: { limit: 'expired' },
    },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});

export interface Inspected {
  readonly runtime: Runtime;
  readonly handler: InspectorHandler;
  readonly server: Server;
  readonly port: number;
  close(): Promise<void>;
}

export async function inspected(
  options: InspectorHandlerOptions = {},
  kinds: Parameters<typeof createRuntime>[0] = {},
): Promise<Inspected> {
  const runtime = (await createRuntime({
    kinds: { order: orderMachine },
    ...kinds,
  })) as unknown as Runtime;
  const handler = inspectorHandler(runtime as never, options);
  const server = createServer(handler);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await runtime.stop();
  };
  return { runtime, handler, server, port, close };
}

export interface Told {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into, and what is not there fails the test.
  readonly body: any;
}

export function call(
  port: number,
  path: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly text?: string;
  } = {},
): Promise<Told> {
  const { method = options.body === undefined && options.text === undefined ? 'GET' : 'POST' } =
    options;
  const text =
    options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const type = options.body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...type, ...options.headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const all = Buffer.concat(chunks).toString('utf8');
          const isJson = answer.headers['content-type']?.startsWith('application/json;') === true;
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: all,
            body: isJson ? JSON.parse(all) : undefined,
          });
        });
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

export interface ReadStream {
  readonly id: string;
  readonly frames: readonly Frame[];
  /** Resolves with the first frame, already come or still to come, that fits. */
  until(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Reads nothing more until it goes on. */
  pause(): void;
  goOn(): void;
  close(): void;
  readonly ended: Promise<void>;
}

export async function readStream(
  port: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadStream> {
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/api/stream', headers }, resolve);
    sent.on('error', reject);
    sent.end();
  });
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) frames.push(JSON.parse(part.replace(/^data: /, '')) as Frame);
    for (const wake of waiting) wake();
  });
  const ended = new Promise<void>((resolve) => {
    answer.on('close', resolve);
    answer.on('error', () => resolve());
  });
  const until = (fits: (frame: Frame) => boolean): Promise<Frame> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const opened = (await until(({ type }) => type === 'opened')) as Extract<
    Frame,
    { type: 'opened' }
  >;
  return {
    id: opened.stream,
    frames,
    until,
    ended,
    pause: () => answer.pause(),
    goOn: () => answer.resume(),
    close: () => answer.destroy(),
  };
}
