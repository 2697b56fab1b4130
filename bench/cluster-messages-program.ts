/**
 * One process of two that exchange messages: `node cluster-messages-program.js FORM [URL]`.
 *
 *   receiver      a runtime with sinks, and beside it a plain ws server
 *   sender URL…   a runtime with sources that tell the sinks, and beside it a plain ws client
 *
 * The same event travels on every way: as a message of an actor that is delivered once and in order,
 * as a hint that may be lost, and as the text of one ws frame, which the other side parses.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket, { WebSocketServer } from 'ws';
import { assign, enqueueActions, setup } from 'xstate';
import { createRuntime, type Runtime } from '../index.ts';
import { hint, type Question, reply, to } from '../runtime/machine.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { SECRET } from './cluster-secret.ts';
import { say, serve } from './program-commands.ts';

/** Each source tells one sink. */
const PAIRS = 256;
/** Messages that one turn of a source sends. */
const AT_ONCE = 50;
/** Messages without a receipt beyond which no further turn of a source is asked for. */
const UNDER_WAY_MAX = (PAIRS * AT_ONCE) / 2;
/** Frames of plain ws that may wait in the socket before the sender waits too. */
const BUFFERED_MAX = 1 << 20;

interface News {
  readonly type: 'news.told';
  readonly number: number;
  readonly text: string;
}

/** About a hundred bytes as JSON. */
const newsOf = (number: number): News => ({
  type: 'news.told',
  number,
  text: 'the quick brown fox jumps over the lazy dog, again and again',
});

const sinkMachine = setup({
  types: {
    context: {} as { readonly taken: number },
    events: {} as News | Question<{ type: 'count.asked' }, number>,
  },
}).createMachine({
  id: 'sink',
  context: { taken: 0 },
  on: {
    'news.told': { actions: assign({ taken: ({ context }) => context.taken + 1 }) },
    'count.asked': { actions: reply(({ context }) => context.taken) },
  },
});

interface BatchAsked {
  readonly type: 'batch.asked';
  readonly sink: string;
  readonly isHint: boolean;
}

const sourceMachine = setup({
  types: {
    context: {} as { readonly sent: number },
    events: {} as BatchAsked,
  },
}).createMachine({
  id: 'source',
  context: { sent: 0 },
  on: {
    'batch.asked': {
      actions: enqueueActions(({ context, event, enqueue }) => {
        const target = (event.isHint ? hint : to)(event.sink);
        for (let index = 0; index < AT_ONCE; index += 1)
          enqueue.sendTo(target, newsOf(context.sent + index));
        enqueue.assign({ sent: context.sent + AT_ONCE });
      }),
    },
  },
});

type Sinks = Runtime<{ sink: typeof sinkMachine }>;
type Sources = Runtime<{ sink: typeof sinkMachine; source: typeof sourceMachine }>;

const [form, url = '', plainUrl = ''] = process.argv.slice(2);
await (form === 'receiver' ? receiver() : sender());

async function receiver(): Promise<void> {
  const transport = websocketTransport({ node: 'receiver', listen: { port: 0 }, secret: SECRET });
  const runtime: Sinks = await createRuntime({
    node: 'receiver',
    transport,
    kinds: { sink: sinkMachine },
  });
  for (let pair = 0; pair < PAIRS; pair += 1) await runtime.spawn(`sink/${pair}`);
  serve({ end: () => runtime.stop() });
  say({ url: transport.url, plainUrl: await plainServer() });
}

/** Counts what it takes, says how many when it is asked, and sends an echo back. */
async function plainServer(): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    let taken = 0;
    socket.on('message', (data) => {
      const event = JSON.parse(String(data)) as News | { readonly type: 'count' | 'echo' };
      if (event.type === 'news.told') taken += 1;
      else if (event.type === 'count') socket.send(String(taken));
      else socket.send(String(data));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function sender(): Promise<void> {
  const transport = websocketTransport({ node: 'sender', peers: [url], secret: SECRET });
  const runtime: Sources = await createRuntime({
    node: 'sender',
    transport,
    kinds: { sink: sinkMachine, source: sourceMachine },
  });
  const plain = new WebSocket(plainUrl, { perMessageDeflate: false });
  await new Promise((resolve, reject) => plain.once('open', resolve).once('error', reject));
  for (let pair = 0; pair < PAIRS; pair += 1) await runtime.spawn(`source/${pair}`);
  serve({
    tell: (count: number) => told(runtime, count, false),
    hint: (count: number) => told(runtime, count, true),
    plain: (count: number) => sentPlain(plain, count),
    ask: (count: number) => asked(runtime, count),
    echo: (count: number) => echoed(plain, count),
    end: () => runtime.stop(),
  });
  await runtime.actor('sink/0@receiver').ask({ type: 'count.asked' });
  say({ connected: true });
}

/** Milliseconds until the last of N messages was taken, and for hints how many were. */
async function told(
  runtime: Sources,
  count: number,
  isHint: boolean,
): Promise<{ ms: number; taken: number }> {
  const sinks = Array.from({ length: PAIRS }, (_, pair) => `sink/${pair}@receiver` as const);
  const sources = sinks.map((_, pair) => runtime.actor(`source/${pair}`));
  const before = await takenBy(runtime, sinks);
  const startedAt = performance.now();
  for (let sent = 0; sent < count; sent += AT_ONCE * PAIRS) {
    const events = sinks.map((sink) => ({ type: 'batch.asked' as const, sink, isHint }));
    await Promise.all(sources.map((source, pair) => source.send(events[pair] as BatchAsked)));
    // An outbox has a limit, and its rows are part of the source's record.
    while (runtime.counts().underWay > UNDER_WAY_MAX) await sleep(1);
  }
  while (runtime.counts().underWay > 0) await sleep(1);
  const taken = await takenBy(runtime, sinks);
  return { ms: performance.now() - startedAt, taken: taken - before };
}

async function takenBy(runtime: Sources, sinks: ReadonlyArray<`sink/${string}`>): Promise<number> {
  const counts = await Promise.all(
    sinks.map((sink) => runtime.actor(sink).ask({ type: 'count.asked' })),
  );
  return counts.reduce((sum, taken) => sum + taken, 0);
}

/** One frame for each; resolves when the other side has parsed them all. */
async function sentPlain(socket: WebSocket, count: number): Promise<{ ms: number }> {
  const startedAt = performance.now();
  for (let number = 0; number < count; number += 1) {
    socket.send(JSON.stringify(newsOf(number)));
    if (socket.bufferedAmount > BUFFERED_MAX) while (socket.bufferedAmount > 0) await turn();
  }
  await answered(socket, '{"type":"count"}');
  return { ms: performance.now() - startedAt };
}

/** Microseconds of each of N questions to an actor, one after the other. */
async function asked(runtime: Sources, count: number): Promise<number[]> {
  const sink = runtime.actor('sink/0@receiver');
  return each(count, () => sink.ask({ type: 'count.asked' }));
}

async function echoed(socket: WebSocket, count: number): Promise<number[]> {
  return each(count, () => answered(socket, '{"type":"echo"}'));
}

async function each(count: number, once: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const startedAt = performance.now();
    await once();
    took.push((performance.now() - startedAt) * 1_000);
  }
  return took;
}

function answered(socket: WebSocket, question: string): Promise<unknown> {
  return new Promise((resolve) => {
    socket.once('message', resolve);
    socket.send(question);
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
