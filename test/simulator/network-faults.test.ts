import { describe, expect, test } from 'vitest';
import { encodeFrame } from '../../runtime/delivery/frame.ts';
import { startNodes } from './noting-nodes.ts';

const everybody = () => true;
const start = (names: readonly string[]) => startNodes(names, 50, true);

/** Disconnected from each other: `a` and `b`. */
const parting = [[['a'], ['b']]] as const;

describe('a partition', () => {
  test('holds until it is ended, whatever else is cut and healed', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b', 'c']);
    const one = network.part(parting);
    const another = network.part([[['a'], ['b', 'c']]]);
    network.heal();
    clock.advanceBy(100);
    expect(nodes[0]?.peers()).toEqual([]);
    another.end();
    another.end();
    clock.advanceBy(100);
    expect(nodes[0]?.peers()).toEqual(['c']);
    one.end();
    clock.advanceBy(100);
    expect(nodes[0]?.peers()).toEqual(['c', 'b']);
    expect(log.filter((line) => line.includes('a: '))).toEqual([
      '0 a: down b',
      '0 a: down c',
      '150 a: up c',
      '250 a: up b',
    ]);
  });

  test('is silent, and the worst of several holds', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b']);
    const silence = network.part(parting, 'silent');
    clock.advanceBy(100);
    expect(log).toEqual([]);
    network.cut('a', 'b');
    clock.advanceBy(100);
    expect(log.sort()).toEqual(['100 a: down b', '100 b: down a']);
    network.heal('a', 'b');
    clock.advanceBy(100);
    expect(nodes[0]?.peers()).toEqual([]);
    silence.end();
    clock.advanceBy(100);
    expect(nodes[0]?.peers()).toEqual(['b']);
  });

  test('that is half open is news to one side; the other speaks to nobody', async () => {
    const { clock, network, log, fates, nodes } = await start(['a', 'b']);
    const half = network.part(parting, 'half');
    clock.advanceBy(100);
    expect(log).toEqual(['0 b: down a']);
    expect(nodes[0]?.send('b', 'into the void')).toBe(true);
    expect(nodes[1]?.send('a', 'x')).toBe(false);
    clock.advanceBy(100);
    expect(fates).toEqual(['sent a>b into the void', 'lost a>b into the void']);
    half.end();
    clock.advanceBy(100);
    expect(log.slice(1).sort()).toEqual(['200 a: down b', '250 a: up b', '250 b: up a']);
  });

  test('flaps', async () => {
    const { clock, network, log } = await start(['a', 'b']);
    const flapping = network.flap(parting, { partedMs: 300, wholeMs: 700 });
    clock.advanceBy(1_400);
    flapping.end();
    clock.advanceBy(1_000);
    flapping.end();
    expect(log.filter((line) => line.includes('a: '))).toEqual([
      '0 a: down b',
      '350 a: up b',
      '1000 a: down b',
      '1350 a: up b',
    ]);
    const again = network.flap(parting, { partedMs: 300, wholeMs: 700 });
    clock.advanceBy(100);
    again.end();
    clock.advanceBy(10_000);
    expect(log.at(-1)).toMatch(/^2550 .: up/);
  });
});

test('a reset ends connections with what is in flight, and makes them again', async () => {
  const { clock, network, log, fates, nodes } = await start(['a', 'b', 'c']);
  nodes[0]?.send('b', 'lost');
  nodes[0]?.send('c', 'kept');
  network.reset('a', 'b');
  clock.advanceBy(100);
  expect(log.sort()).toEqual([
    '0 a: down b',
    '0 b: down a',
    '50 a: up b',
    '50 b: up a',
    '50 c: kept of a',
  ]);
  expect(fates).toContain('lost a>b lost');
  network.part(parting);
  network.reset('a', 'b');
  clock.advanceBy(100);
  expect(nodes[0]?.peers()).toEqual(['c']);
});

describe('a clog', () => {
  test('holds one way, and lets everything go at once, in order', async () => {
    const { clock, network, log, fates, nodes } = await start(['a', 'b', 'c']);
    const clog = network.clog('a', everybody);
    for (const frame of ['1', '2', '3']) nodes[0]?.send('b', frame);
    nodes[1]?.send('a', 'back');
    clock.advanceBy(1_000);
    expect(log).toEqual(['50 a: back of b']);
    nodes[0]?.send('b', '4');
    expect(fates.filter((fate) => fate.startsWith('held'))).toEqual([
      'held a>b 1',
      'held a>b 2',
      'held a>b 3',
    ]);
    clog.end();
    clog.end();
    clock.advanceBy(100);
    expect(log.slice(1)).toEqual([
      '1000 b: 1 of a',
      '1000 b: 2 of a',
      '1000 b: 3 of a',
      '1050 b: 4 of a',
    ]);
  });

  test('holds the news of a node that stopped, behind its last words', async () => {
    const { clock, network, log, nodes, join } = await start(['a', 'b']);
    const clog = network.clog('a', 'b');
    nodes[0]?.send('b', 'last words');
    await nodes[0]?.stop();
    await join('a');
    clock.advanceBy(500);
    expect(log).toEqual(['50 a: up b']);
    clog.end();
    clock.advanceBy(500);
    expect(log.slice(1)).toEqual(['500 b: last words of a', '500 b: down a', '500 b: up a']);
  });

  test('does not bring back what a cut has lost', async () => {
    const { clock, network, log, fates, nodes } = await start(['a', 'b']);
    const clog = network.clog('a', 'b');
    nodes[0]?.send('b', 'lost');
    clock.advanceBy(100);
    network.reset('a', 'b');
    clog.end();
    clock.advanceBy(100);
    expect(log.some((line) => line.includes('lost'))).toBe(false);
    expect(fates.at(-1)).toBe('lost a>b lost');
  });

  test('is over for ways that are used first afterwards, and there before for new ones', async () => {
    const { clock, network, log, nodes, join } = await start(['a']);
    const clog = network.clog(everybody, everybody);
    await join('b');
    clock.advanceBy(500);
    expect(log).toEqual([]);
    clog.end();
    await join('c');
    clock.advanceBy(500);
    expect([...(nodes[0]?.peers() ?? [])].sort()).toEqual(['b', 'c']);
  });
});

test('calm ends everything', async () => {
  const { clock, network, log, nodes } = await start(['a', 'b']);
  network.cut('a', 'b');
  network.part(parting, 'half');
  network.flap(parting, { partedMs: 10, wholeMs: 10 });
  network.clog('a', 'b');
  network.disturb({ id: 'all', from: everybody, to: everybody, noise: { loss: 1 } });
  network.intercept({ between: ['a', 'b'], action: 'drop' });
  clock.advanceBy(1_000);
  network.calm();
  clock.advanceBy(100);
  log.length = 0;
  const frame = encodeFrame(['{"to":"x/1@b","from":"x/1@a","counter":1,"event":{"type":"x"}}'], []);
  nodes[0]?.send('b', frame);
  clock.advanceBy(1_000);
  expect(log).toEqual([`1150 b: ${frame} of a`]);
});

describe('the outcome of a frame', () => {
  test('is said of those to a node that dies before it hears them', async () => {
    const { clock, network, fates, nodes } = await start(['a', 'b']);
    network.freeze('b');
    nodes[0]?.send('b', 'unheard');
    clock.advanceBy(100);
    await nodes[1]?.stop();
    nodes[0]?.send('b', 'too late');
    clock.advanceBy(100);
    expect(fates).toEqual([
      'sent a>b unheard',
      'lost a>b unheard',
      'sent a>b too late',
      'lost a>b too late',
    ]);
  });

  test('is said of the parts that rules take out', async () => {
    const { clock, network, fates, nodes } = await start(['a', 'b']);
    const message = (type: string) =>
      `{"to":"x/1@b","from":"x/1@a","counter":1,"event":{"type":"${type}"}}`;
    network.intercept({ between: ['a', 'b'], type: 'lost', action: 'drop' });
    network.intercept({ between: ['a', 'b'], type: 'twice', action: { duplicate: 1 } });
    nodes[0]?.send('b', encodeFrame([message('lost'), message('twice')], []));
    clock.advanceBy(100);
    const told = fates.map((fate) => {
      const types = [...fate.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);
      return [fate.split(' ')[0], ...types].join(' ');
    });
    expect(told.sort()).toEqual([
      'delivered twice',
      'delivered twice',
      'lost lost',
      'repeated twice',
      'sent lost twice',
    ]);
  });
});

test('frames that come when a node is thawed do not overtake those it has not heard', async () => {
  const { clock, network, log, nodes } = await startNodes(['a', 'b']);
  network.freeze('b');
  // One arrives in the moment of the thaw, and is due after it.
  clock.schedule(clock.now() + 100, () => network.thaw('b'));
  for (let frame = 0; frame < 10; frame++) {
    nodes[0]?.send('b', `${frame}`);
    clock.advanceBy(10);
  }
  clock.advanceBy(100);
  expect(log.map((line) => /: (\d)/.exec(line)?.[1]).join('')).toBe('0123456789');
  expect(log[0]).toMatch(/^100 /);
});
