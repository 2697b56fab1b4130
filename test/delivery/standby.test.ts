/** A place that moves, and nodes that stand by for it: what they watch, what they pass on, whom they name. */

import { describe, expect, test } from 'vitest';
import { localLease } from '../../runtime/system/local-lease.ts';
import { memoryStore } from '../../stores/memory.ts';
import { during } from '../engine/outcomes.ts';
import { observer, open } from './watched-nodes.ts';

describe('a place that moves to another node', () => {
  async function standby() {
    const { a, at, network, clock } = await open();
    const shared = { store: memoryStore(), lease: localLease() };
    const first = await at('first', 'p', shared);
    const second = await at('second', 'p', shared);
    await first.spawn('counter/1');
    await a.settle();
    return { a, at, first, second, network, clock, lease: shared.lease };
  }

  test('is watched there', async () => {
    const { a, first, second, lease } = await standby();
    const seen = observer();
    a.runtime.actor('counter/1@p').subscribe(seen);
    await a.settle();
    await first.actor('counter/1').send({ type: 'inc' });
    lease.expire('p');
    await a.advance('1m');
    expect(second.runtime.isHosting).toBe(true);
    await second.actor('counter/1').send({ type: 'inc' });
    await a.settle();
    expect(seen).toMatchObject({ counts: [0, 1, 2], ends: [] });
    expect(first.runtime.counts().watchers).toBe(0);
  });

  test('is watched at its host by a node that stands by, and by itself once that hosts', async () => {
    const { a, first, second, lease } = await standby();
    const [here, there] = [observer(), observer()];
    first.runtime.actor('counter/1').subscribe(here);
    second.runtime.actor('counter/1').subscribe(there);
    await a.settle();
    await first.runtime.actor('counter/1').send({ type: 'inc' });
    await a.settle();
    expect(there.counts).toEqual([0, 1]);
    expect(here.counts).toEqual([1]);
    lease.expire('p');
    await a.advance('1m');
    expect([first.runtime.isHosting, second.runtime.isHosting]).toEqual([false, true]);
    await second.runtime.actor('counter/1').send({ type: 'inc' });
    await a.advance('10s');
    expect(there.counts).toEqual([0, 1, 2]);
    expect(here.counts.at(-1)).toBe(2);
    expect([here.ends, there.ends]).toEqual([[], []]);
    expect(second.runtime.counts().watches).toBe(0);
  });

  test('is reached through a node that stands by for it', async () => {
    const { a, first, second } = await standby();
    const handle = second.runtime.actor('counter/1');
    await during(a, handle.send({ type: 'inc' }));
    expect(first.actor('counter/1').getSnapshot().context.count).toBe(1);
    expect(await during(a, handle.fetchSnapshot())).toMatchObject({ context: { count: 1 } });
    expect(await during(a, second.runtime.explain('counter/1'))).toContain('is "counting"');
    const rows = await during(a, second.runtime.fetchHistory('counter/1'));
    expect(rows).toMatchObject([{ turn: 1 }, { event: 'inc' }]);
    await during(a, second.runtime.spawn('counter/2'));
    expect(first.actor('counter/2').getSnapshot().context.count).toBe(0);
    handle.hint({ type: 'inc' });
    await a.settle();
    expect(first.actor('counter/1').getSnapshot().context.count).toBe(2);
  });

  test('is named with its host where a node that stands by cannot answer itself', async () => {
    const { second } = await standby();
    const refused = {
      code: 'NOT_HOSTED',
      host: 'first',
      message: expect.stringContaining('"first"'),
    };
    expect(() => second.runtime.actor('counter/1').getSnapshot()).toThrow(
      expect.objectContaining(refused),
    );
    expect(() => second.runtime.history('counter/1')).toThrow(expect.objectContaining(refused));
    await expect(second.runtime.end('counter/1')).rejects.toMatchObject(refused);
  });

  test('is named to a node that knows only one that stands by', async () => {
    const { a, at, network } = await open();
    const shared = { store: memoryStore(), lease: localLease() };
    await at('host', 'desk', shared);
    const standsBy = await at('desk', 'desk', shared);
    network.cut('a', 'host');
    await a.settle();
    expect(standsBy.runtime.isHosting).toBe(false);
    const far = a.runtime.actor('counter/1@desk');
    const refused = { host: 'host', message: expect.stringContaining('"host"') };
    await expect(during(a, far.send({ type: 'inc' }, { timeoutMs: 5_000 }))).rejects.toMatchObject({
      code: 'SEND_TIMED_OUT',
      ...refused,
    });
    await expect(during(a, far.fetchSnapshot())).rejects.toMatchObject({
      code: 'NOT_HOSTED',
      ...refused,
    });
    await expect(during(a, a.runtime.explain('counter/1@desk'))).rejects.toMatchObject({
      code: 'NOT_HOSTED',
      ...refused,
    });
    const seen = observer();
    far.subscribe(seen);
    await a.advance('2m');
    expect(seen.ends).toEqual(['WATCH_LOST']);
  });
});

test('hints find the host of a place whose greeting was lost', async () => {
  const { a, at, network } = await open();
  network.filter = (from) => from !== 'host';
  const host = await at('host', 'p');
  await host.spawn('counter/1');
  await a.settle();
  network.filter = () => true;
  const far = a.runtime.actor('counter/1@p');
  const count = () => host.actor('counter/1').getSnapshot().context.count;
  // The first one is lost, as hints may be: where nobody is known there is nothing to be sent to.
  far.hint({ type: 'inc' });
  await a.advance('1s');
  expect(count()).toBe(0);
  far.hint({ type: 'inc' });
  await a.settle();
  expect(count()).toBe(1);
});
