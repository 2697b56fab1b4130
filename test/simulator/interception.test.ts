import { describe, expect, test } from 'vitest';
import { encodeFrame, encodeHello } from '../../runtime/delivery/frame.ts';
import type { SimulatedNetwork } from '../../simulator/world/network/network.ts';
import { startNodes } from './noting-nodes.ts';

describe('a rule on messages', () => {
  const envelope = (type: string, counter: number) =>
    JSON.stringify({ to: 'job/1@b', from: 'gate-job/1@a', counter, event: { type } });
  const received = (log: readonly string[]) =>
    log.flatMap((line) => {
      const { envelopes, receipts } = JSON.parse(
        line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1),
      );
      const at = Number.parseInt(line, 10);
      return [...envelopes, ...receipts].map((one) => [
        at,
        one.event?.type ?? 'receipt',
        one.counter,
      ]);
    });

  async function play(rule: Partial<Parameters<SimulatedNetwork['intercept']>[0]>) {
    const { clock, network, log, nodes } = await startNodes(['a', 'b', 'c']);
    const interception = network.intercept({ between: ['a', 'b'], action: 'drop', ...rule });
    const receipt = JSON.stringify({ to: 'job/1@b', from: 'gate-job/1@a', counter: 9 });
    const first = encodeFrame([envelope('x.told', 1), envelope('y.told', 2)], [receipt]);
    nodes[0]?.send('b', first);
    clock.advanceBy(10);
    nodes[0]?.send('b', encodeFrame([envelope('x.told', 3)], []));
    clock.advanceBy(300);
    return { got: received(log), interception, clock, network, log, nodes };
  }

  test('loses messages of its type alone', async () => {
    const { got, interception } = await play({ type: 'x.told' });
    expect(got).toEqual([
      [50, 'y.told', 2],
      [50, 'receipt', 9],
    ]);
    expect(interception.hits).toBe(2);
  });

  test('loses this many', async () => {
    const { got } = await play({ type: 'x.told', count: 1 });
    expect(got.map(([, , counter]) => counter)).toEqual([2, 9, 3]);
  });

  test('loses every message when it names none, and no receipt', async () => {
    const { got, interception } = await play({});
    expect(got).toEqual([[50, 'receipt', 9]]);
    expect(interception.hits).toBe(3);
  });

  test('repeats messages', async () => {
    const { got } = await play({ type: 'x.told', count: 1, action: { duplicate: 2 } });
    expect(got.map(([, , counter]) => counter)).toEqual([1, 2, 9, 1, 1, 3]);
  });

  test('holds messages up, and lets others overtake them', async () => {
    const { got } = await play({ type: 'x.told', count: 1, action: { holdMs: 200 } });
    expect(got).toEqual([
      [50, 'y.told', 2],
      [50, 'receipt', 9],
      [60, 'x.told', 3],
      [250, 'x.told', 1],
    ]);
  });

  test('holds in both directions, between the nodes it names', async () => {
    const backwards = await play({ between: ['b', (node) => node === 'a'] });
    expect(backwards.interception.hits).toBe(3);
    const elsewhere = await play({ between: ['b', ['c', 'b']] });
    expect(elsewhere.interception.hits).toBe(0);
  });

  test('can be ended, and touches no greeting', async () => {
    const { interception, clock, network, log, nodes } = await play({});
    const hello = encodeHello({ node: 'a', places: [], isAsking: false });
    log.length = 0;
    nodes[0]?.send('b', hello);
    interception.end();
    nodes[0]?.send('b', encodeFrame([envelope('x.told', 4)], []));
    clock.advanceBy(100);
    expect(log).toHaveLength(2);
    expect(log[0]).toContain(hello);
    expect(interception.hits).toBe(3);
    network.heal();
  });

  test('does not bring a message that was held up across a cut', async () => {
    const { clock, network, log, nodes } = await startNodes(['a', 'b']);
    network.intercept({ between: ['a', 'b'], action: { holdMs: 500 } });
    nodes[0]?.send('b', encodeFrame([envelope('x.told', 1)], []));
    network.cut('a', 'b');
    network.heal('a', 'b');
    clock.advanceBy(1_000);
    expect(log).toEqual(['0 a: down b', '0 b: down a', '50 a: up b', '50 b: up a']);
  });
});
