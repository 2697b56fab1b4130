/**
 * Contract of every Transport. Each adapter runs it on a network of its own, and may say how to cut a link;
 * nothing waits for a fixed time, only for what a listener is told.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Transport, TransportListener } from '../../runtime/ports/transport.ts';
import { newTelling } from '../kit/telling.ts';

/** A network in which each node that joins is meant to connect to all others. */
export interface TransportNetwork {
  /** A transport that has not been started. */
  join(node: string): Promise<Transport>;
  cut?(node: string, other: string): Promise<void>;
  heal?(node: string, other: string): Promise<void>;
  close(): Promise<void>;
}

interface StartedNode extends Told {
  readonly transport: Transport;
}

export function describeTransport(name: string, open: () => Promise<TransportNetwork>): void {
  describe(`${name} keeps the transport contract`, () => {
    let network: TransportNetwork;
    let started: Transport[];
    beforeEach(async () => {
      network = await open();
      started = [];
    });
    afterEach(async () => {
      await Promise.all(started.map((transport) => transport.stop()));
      await network.close();
    });

    const start: StartNode = async (node) => {
      const transport = await network.join(node);
      const told = recordTold();
      started.push(transport);
      await transport.start(told.listener);
      return { transport, ...told };
    };

    describe('connections', () => testConnections(start));
    describe('frames', () => testFrames(start));
    describe('stop', () => testStop(start));
    describe('a cut link', () => testCut(start, () => network));
  });
}

type StartNode = (node: string) => Promise<StartedNode>;

function testConnections(start: StartNode): void {
  test('are told to both sides', async () => {
    const [a, b] = await startPair(start);
    expect(a.transport.peers()).toEqual(['b']);
    expect(b.transport.peers()).toEqual(['a']);
  });

  test('are made between all nodes, in whatever order they start', async () => {
    const nodes = [await start('a'), await start('b'), await start('c')];
    for (const node of nodes) await node.until(() => node.upCount() === 2);
    const peers = nodes.map((node) => [...node.transport.peers()].sort());
    expect(peers).toEqual([
      ['b', 'c'],
      ['a', 'c'],
      ['a', 'b'],
    ]);
  });

  test('do not exist to nodes that are not there, nor to oneself', async () => {
    const a = await start('a');
    expect(a.transport.peers()).toEqual([]);
    expect(a.transport.send('nobody', 'frame')).toBe(false);
    expect(a.transport.send('a', 'frame')).toBe(false);
  });
}

function testFrames(start: StartNode): void {
  test('arrive whole and in the order they were sent', async () => {
    const [a, b] = await startPair(start);
    const frames = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(index)}`);
    expect(frames.map((frame) => a.transport.send('b', frame))).not.toContain(false);
    await b.until(() => b.frames('a').length === frames.length);
    expect(b.frames('a')).toEqual(frames);
  });

  test('keep every character, and may be large', async () => {
    const [a, b] = await startPair(start);
    const frames = ['', 'é ✓ 🕰', '\u0000\r\n"\\', 'line\u2028separator', '€'.repeat(100_000)];
    for (const frame of frames) a.transport.send('b', frame);
    await b.until(() => b.frames('a').length === frames.length);
    expect(b.frames('a')).toEqual(frames);
  });

  test('are not delivered inside send', async () => {
    const [a, b] = await startPair(start);
    a.transport.send('b', 'frame');
    expect(b.frames('a')).toEqual([]);
    await b.until(() => b.frames('a').length === 1);
  });

  test('go both ways, and name their sender', async () => {
    const [a, b] = await startPair(start);
    const c = await start('c');
    await c.until(() => c.upCount() === 2);
    a.transport.send('b', 'from a');
    c.transport.send('b', 'from c');
    await b.until(() => b.frames('a').length === 1 && b.frames('c').length === 1);
    b.transport.send('a', 'back');
    await a.until(() => a.frames('b').length === 1);
    expect([b.frames('a'), b.frames('c'), a.frames('b')]).toEqual([
      ['from a'],
      ['from c'],
      ['back'],
    ]);
  });

  test('come after the news of their sender', async () => {
    const a = await start('a');
    const b = await start('b');
    await a.until(() => a.upCount() === 1);
    a.transport.send('b', 'frame');
    await b.until(() => b.frames('a').length === 1);
    expect(b.log).toEqual(['up a', 'frame a']);
  });
}

function testStop(start: StartNode): void {
  test('is told to the other side, once', async () => {
    const [a, b] = await startPair(start);
    await b.transport.stop();
    await a.until(() => a.log.includes('down b'));
    expect(a.log).toEqual(['up b', 'down b']);
    expect(a.transport.peers()).toEqual([]);
    expect(a.transport.send('b', 'frame')).toBe(false);
  });

  test('lets nothing through afterwards', async () => {
    const [a, b] = await startPair(start);
    a.transport.send('b', 'in flight');
    await b.transport.stop();
    const told = b.log.length;
    await a.until(() => a.log.includes('down b'));
    expect(b.log.slice(told).filter((line) => line.startsWith('frame'))).toEqual([]);
    expect(b.transport.send('a', 'frame')).toBe(false);
    expect(b.transport.peers()).toEqual([]);
  });

  test('may be repeated, and leaves the name to another', async () => {
    const [a, b] = await startPair(start);
    await b.transport.stop();
    await b.transport.stop();
    await a.until(() => a.log.includes('down b'));
    const next = await start('b');
    await a.until(() => a.upCount() === 2);
    await next.until(() => next.upCount() === 1);
    a.transport.send('b', 'to the next');
    await next.until(() => next.frames('a').length === 1);
    expect(b.frames('a')).toEqual([]);
  });
}

function testCut(start: StartNode, network: () => TransportNetwork): void {
  test('is told to both sides, and so is its healing', async (context) => {
    const { cut, heal } = network();
    if (cut === undefined || heal === undefined) return context.skip();
    const [a, b] = await startPair(start);
    await cut('a', 'b');
    await a.until(() => a.log.includes('down b'));
    await b.until(() => b.log.includes('down a'));
    expect(a.transport.send('b', 'lost')).toBe(false);
    await heal('b', 'a');
    await a.until(() => a.upCount() === 2);
    await b.until(() => b.upCount() === 2);
    a.transport.send('b', 'found');
    await b.until(() => b.frames('a').length === 1);
    expect(b.log).toEqual(['up a', 'down a', 'up a', 'frame a']);
    expect(b.frames('a')).toEqual(['found']);
  });
}

async function startPair(start: StartNode): Promise<[StartedNode, StartedNode]> {
  const a = await start('a');
  const b = await start('b');
  await a.until(() => a.transport.peers().includes('b') && a.upCount() === 1);
  await b.until(() => b.transport.peers().includes('a') && b.upCount() === 1);
  return [a, b];
}

/** What a listener was told. */
interface Told {
  readonly listener: TransportListener;
  /** In order: `up b`, `frame b`, `down b`. */
  readonly log: readonly string[];
  upCount(): number;
  frames(node: string): readonly string[];
  /** Resolves when the claim holds, which is asked each time something is told. */
  until(isTrue: () => boolean): Promise<void>;
}

function recordTold(): Told {
  const { log, tell, until } = newTelling();
  const frames: Array<readonly [node: string, frame: string]> = [];
  return {
    log,
    listener: {
      peerUp: (node) => tell(`up ${node}`),
      peerDown: (node) => tell(`down ${node}`),
      frameReceived: (node, frame) => {
        frames.push([node, frame]);
        tell(`frame ${node}`);
      },
    },
    upCount: () => log.filter((line) => line.startsWith('up ')).length,
    frames: (node) => frames.filter(([from]) => from === node).map(([, frame]) => frame),
    until,
  };
}
