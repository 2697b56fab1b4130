import { describe, expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { simulatedNetwork } from '../../simulator/world/network/network.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { describeTransport, type TransportNetwork } from '../contracts/describe-transport.ts';
import { startNodes } from './noting-nodes.ts';

describeTransport('the simulated network', () => openNetwork([1, 20]));

// Everything happens at one moment, and the clock draws its order.
describeTransport('the simulated network without delays', () => openNetwork(0));

async function openNetwork(delayMs: number | [number, number]): Promise<TransportNetwork> {
  const clock = new SimulatedClock({ tiebreak: new SeededRandom(1, 'tiebreak') });
  const network = simulatedNetwork({ clock, random: new SeededRandom(1), delayMs });
  let isClosed = false;
  // Somebody has to move the clock while a test waits for what a listener is told.
  const step = (): void => {
    clock.step();
    if (!isClosed) setImmediate(step);
  };
  step();
  return {
    join: async (node) => network.join(node),
    cut: async (node, other) => network.cut(node, other),
    heal: async (node, other) => network.heal(node, other),
    close: async () => {
      isClosed = true;
    },
  };
}

describe('a simulated link', () => {
  test('takes its delay for everything, connecting included', async () => {
    const { clock, log, nodes, upon } = await startNodes(['a', 'b']);
    expect(upon.sort()).toEqual(['50 a: up b', '50 b: up a']);
    nodes[0]?.send('b', 'one');
    clock.advanceBy(10);
    nodes[1]?.send('a', 'two');
    clock.advanceBy(200);
    expect(log).toEqual(['50 b: one of a', '60 a: two of b']);
  });

  test('draws its delays from the range, and keeps the order', async () => {
    const { clock, log, nodes } = await startNodes(['a', 'b'], [10, 90]);
    const sent = Array.from({ length: 200 }, (_, index) => `f${index}`);
    for (const frame of sent) {
      nodes[0]?.send('b', frame);
      clock.advanceBy(20);
    }
    clock.advanceBy(100);
    expect(log.map((line) => /f\d+/.exec(line)?.[0])).toEqual(sent);
    const delays = log.map((line, index) => Number.parseInt(line, 10) - index * 20);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...delays)).toBeLessThanOrEqual(90);
    expect(new Set(delays).size).toBeGreaterThan(20);
  });

  test('is the same link for the same seed', async () => {
    const play = async () => {
      const { clock, log, nodes } = await startNodes(['a', 'b'], [0, 100]);
      for (let index = 0; index < 20; index++) nodes[index % 2]?.send(index % 2 ? 'a' : 'b', 'x');
      clock.advanceBy(200);
      return log;
    };
    expect(await play()).toEqual(await play());
  });

  test('brings again what was sent before, and does not say that the node sent it', async () => {
    const { clock, network, log, fates, nodes } = await startNodes(['a', 'b']);
    expect(network.repeat('a', 'b', 'old')).toBe(true);
    clock.advanceBy(100);
    expect(log).toEqual(['50 b: old of a']);
    expect(fates).toEqual(['repeated a>b old', 'delivered a>b old']);
    await nodes[1]?.stop();
    clock.advanceBy(100);
    expect(network.repeat('a', 'b', 'old')).toBe(false);
    expect(network.repeat('nobody', 'a', 'old')).toBe(false);
  });

  test('refuses delays that are none', () => {
    const clock = new SimulatedClock();
    for (const delayMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, [5, 4] as const])
      expect(() => simulatedNetwork({ clock, random: new SeededRandom(1), delayMs })).toThrow(
        RangeError,
      );
  });

  test('is told of to nobody when a side was gone before', async () => {
    const { clock, log, join } = await startNodes(['a']);
    const b = await join('b');
    clock.advanceBy(20);
    await b.stop();
    clock.advanceBy(200);
    expect(log).toEqual([]);
  });

  test('brings what a node sent before it stopped, then the news', async () => {
    const { clock, log, nodes } = await startNodes(['a', 'b']);
    nodes[1]?.send('a', 'lost');
    clock.advanceBy(20);
    nodes[0]?.send('b', 'last words');
    await nodes[0]?.stop();
    clock.advanceBy(200);
    expect(log).toEqual(['70 b: last words of a', '70 b: down a']);
  });
});

describe('a cut', () => {
  test('loses what is in flight and tells both sides at once', async () => {
    const { clock, network, log, nodes } = await startNodes(['a', 'b']);
    nodes[0]?.send('b', 'lost');
    clock.advanceBy(20);
    network.cut('a', 'b');
    clock.advanceBy(500);
    network.heal('b', 'a');
    clock.advanceBy(100);
    expect(log).toEqual(['20 a: down b', '20 b: down a', '570 a: up b', '570 b: up a']);
  });

  test('separates groups and leaves each whole, newcomers too', async () => {
    const { clock, network, nodes, join } = await startNodes(['gate-1', 'A.m', 'A.w', 'B.m']);
    network.cut('gate-1', (node) => node.startsWith('A.'));
    const late = await join('A.late');
    clock.advanceBy(200);
    const peers = [...nodes, late].map((node) => [...node.peers()].sort());
    expect(peers).toEqual([
      ['B.m'],
      ['A.late', 'A.w', 'B.m'],
      ['A.late', 'A.m', 'B.m'],
      ['A.late', 'A.m', 'A.w', 'gate-1'],
      ['A.m', 'A.w', 'B.m'],
    ]);
    network.heal();
    clock.advanceBy(200);
    expect(late.peers()).toContain('gate-1');
  });

  test('that is silent loses frames and tells nobody', async () => {
    const { clock, network, log, nodes } = await startNodes(['a', 'b']);
    nodes[0]?.send('b', 'in flight');
    network.cut(['a'], ['b'], { silent: true });
    expect(nodes[0]?.send('b', 'vanishes')).toBe(true);
    clock.advanceBy(100);
    network.heal(['a'], ['b']);
    nodes[0]?.send('b', 'arrives');
    clock.advanceBy(100);
    expect(log).toEqual(['150 b: arrives of a']);
  });

  test('that was silent tells of a node that stopped meanwhile, and of the one after it', async () => {
    const { clock, network, log, nodes, join } = await startNodes(['a', 'b']);
    network.cut('a', 'b', { silent: true });
    await nodes[1]?.stop();
    await join('b');
    clock.advanceBy(100);
    expect(log).toEqual([]);
    network.heal('a', 'b');
    clock.advanceBy(100);
    expect(log).toEqual(['100 a: down b', '150 a: up b', '150 b: up a']);
  });

  test('that falls silent while a link is made leaves it to be made again', async () => {
    const { clock, network, log, join } = await startNodes(['a']);
    await join('b');
    clock.advanceBy(20);
    network.cut('a', 'b', { silent: true });
    clock.advanceBy(100);
    network.heal('a', 'b');
    clock.advanceBy(100);
    expect(log).toEqual(['170 a: up b', '170 b: up a']);
  });
});

describe('a frozen node', () => {
  test('hears everything when it is thawed, in order', async () => {
    const { clock, network, log, nodes } = await startNodes(['a', 'b']);
    network.freeze('b');
    nodes[0]?.send('b', 'one');
    nodes[0]?.send('b', 'two');
    clock.advanceBy(90);
    nodes[0]?.send('b', 'three');
    clock.advanceBy(10);
    network.thaw('b');
    clock.advanceBy(100);
    expect(log).toEqual(['100 b: one of a', '100 b: two of a', '140 b: three of a']);
  });

  test('is still frozen when it comes back under its name', async () => {
    const { clock, network, log, nodes, join } = await startNodes(['a', 'b']);
    network.freeze('b');
    await nodes[1]?.stop();
    await join('b');
    clock.advanceBy(100);
    expect(log).toEqual(['50 a: down b', '50 a: up b']);
    network.thaw('b');
    clock.advanceBy(1);
    expect(log.at(-1)).toBe('100 b: up a');
  });
});
