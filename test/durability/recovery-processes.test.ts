/**
 * A process with LMDB that is killed by SIGKILL, and its successor.
 *
 * One story on the system's clock: everything that can be under way is under way when the process
 * dies. The tests look at what the second process made of it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upTo } from '../delivery/talkers.ts';
import { eventually } from '../kit/eventually.ts';
import type { Ring } from './recovery-machines.ts';
import { type RecoveryProcess, RecoverySite } from './recovery-process.ts';

/** Far beyond the end of the story. */
const FAR_MS = 3_600_000;

describe('after the first process was killed, the second', () => {
  const armedAt = new Map<string, number>();
  let site: RecoverySite;
  let second: RecoveryProcess;
  let hostedAt = 0;
  /** What the deadlines of the story are multiples of. */
  let paceMs = 0;

  async function arm(on: RecoveryProcess, key: string, delayMs: number, name = 'bell') {
    await on.send(`alarm/${key}`, { type: 'alarm.arm', name, delayMs } as never);
    const { history } = await on.actor(`alarm/${key}`);
    armedAt.set(key, (history.at(-1)?.at ?? 0) + delayMs);
  }

  const momentOf = (key: string): number => armedAt.get(key) ?? 0;
  /** In the order of their moments: y, z, x, but where arming took long. */
  const missed = () => ['x', 'y', 'z'].sort((one, other) => momentOf(one) - momentOf(other));

  const ringsOf = async (key: string) =>
    (await second.actor<{ rings: Ring[] }>(`alarm/${key}`)).context.rings;

  // Told again at half the pace where this machine was too slow for the deadlines to be ahead at the kill.
  beforeAll(async () => {
    for (paceMs = 1_000; !(await isToldInTime()); paceMs *= 2) await site.clear();
  });

  async function isToldInTime(): Promise<boolean> {
    site = new RecoverySite();
    const node = { node: 'here', place: 'here' };
    const first = site.start(node);
    await first.hosts();
    for (const key of ['x', 'y', 'z', 'ahead', 'cancelled', 'rearmed', 'idle'])
      await first.spawn(`alarm/${key}`);
    for (const key of ['open', 'left', 'unpaid', 'paid', 'printed'])
      await first.spawn(`workshop/${key}`);
    await first.send('workshop/paid', { type: 'job.charge', amount: 1 } as never);
    await first.finishCharges();
    await eventually(async () =>
      expect((await first.actor('workshop/paid')).record.effects).toBeUndefined(),
    );
    await first.send('workshop/unpaid', { type: 'job.charge', amount: 2 } as never);
    await first.send('workshop/printed', { type: 'job.print' });
    await first.send('workshop/open', { type: 'job.begin', job: 'open' } as never);
    await first.send('workshop/left', { type: 'job.begin', job: 'left' } as never);
    await first.send('workshop/left', { type: 'job.abandon' });
    await arm(first, 'ahead', 8 * paceMs);
    await arm(first, 'cancelled', 3 * paceMs);
    await arm(first, 'rearmed', 3 * paceMs);
    await arm(first, 'x', 3.2 * paceMs);
    await arm(first, 'y', 3 * paceMs);
    await arm(first, 'z', 3.1 * paceMs);
    await first.send('alarm/cancelled', { type: 'alarm.cancel', name: 'bell' } as never);
    await arm(first, 'rearmed', FAR_MS);
    await first.kill();
    if (Date.now() >= Math.min(...armedAt.values())) return false;
    await momentAfter(Math.max(...missed().map(momentOf)));
    second = site.start(node);
    hostedAt = (await second.hosts()).at;
    return true;
  }

  afterAll(() => site.clear());

  test('lets missed deadlines come at once, in their order and with their own moments', async () => {
    const keys = missed();
    const last = keys.at(-1) ?? '';
    await eventually(async () => expect(await ringsOf(last)).toHaveLength(1));
    const rings = await Promise.all(keys.map(ringsOf));
    expect(rings.map(([ring]) => ring?.dueAt)).toEqual(keys.map(momentOf));
    for (const [ring] of rings) {
      expect(ring?.at).toBeGreaterThan(momentOf(last));
      // One that began again with the second process would be later.
      expect((ring?.at ?? 0) - hostedAt).toBeLessThan(3 * paceMs);
    }
    expect(
      site
        .notes('ring')
        .slice(0, 3)
        .map(({ address }) => address),
    ).toEqual(keys.map((key) => `alarm/${key}@here`));
    const { history } = await second.actor('alarm/y');
    expect(history.at(-1)).toMatchObject({ event: 'alarm.rang', dueAt: armedAt.get('y') });
  });

  test('runs the open promise again with its input, and not the promise that was left', async () => {
    const runs = site.notes('run').map(({ pid, job }) => [pid === second.pid, job]);
    expect(runs).toEqual([
      [false, 'open'],
      [false, 'left'],
      [true, 'open'],
    ]);
  });

  test('performs what was not done again under its id, and nothing else', async () => {
    const charges = site.notes('charge').map(({ pid, effectId }) => [pid === second.pid, effectId]);
    expect(charges).toEqual([
      [false, expect.stringMatching(/^workshop\/paid@here#2\.0\.\d+$/)],
      [false, expect.stringMatching(/^workshop\/unpaid@here#2\.0\.\d+$/)],
      [true, charges[1]?.[1]],
    ]);
    expect(site.notes('print')).toHaveLength(1);
    await second.finishCharges();
    await eventually(async () =>
      expect((await second.actor('workshop/unpaid')).record.effects).toBeUndefined(),
    );
  });

  test('has in memory what is under way or was looked at, and not the others', async () => {
    const { live = 0, deadlines } = await second.counts();
    // x, y, z; open, unpaid; `paid`, `left`, `printed` and `idle` stay where they are.
    expect(live).toBeLessThanOrEqual(6);
    const isAheadStill = (await ringsOf('ahead')).length === 0;
    expect(deadlines).toBe(isAheadStill ? 2 : 1);
  });

  test('lets a deadline ahead come at its own moment, not later, and a cancelled one never', async () => {
    const aheadAt = momentOf('ahead');
    await eventually(async () => expect(await ringsOf('ahead')).toHaveLength(1));
    const [ring] = await ringsOf('ahead');
    expect(ring?.dueAt).toBe(aheadAt);
    expect(ring?.at).toBeGreaterThanOrEqual(aheadAt);
    // One that began again with the second process would be later.
    expect(ring?.at).toBeLessThan(hostedAt + 8 * paceMs);
    expect(await ringsOf('rearmed')).toEqual([]);
    const { record } = await second.actor('alarm/rearmed');
    expect(record.timers?.map(([, dueAt]) => dueAt)).toEqual([momentOf('rearmed')]);
    expect(await ringsOf('cancelled')).toEqual([]);
    expect(site.notes('ring')).toHaveLength(4);
  });
});

test('two nodes that are killed together while they talk lose nothing and repeat nothing', async () => {
  const site = new RecoverySite();
  const nodes = [
    { node: 'here', place: 'here' },
    { node: 'there', place: 'there' },
  ];
  const events = { type: 'speak', to: ['listener/l@there'], count: 3 };
  let acknowledged = 0;
  let asked = 0;
  try {
    for (let life = 0; life < 4; life += 1) {
      const both = site.start(...nodes);
      await both.hosts('there');
      if (life === 0) {
        await both.spawn('listener/l', undefined, 'there');
        await both.spawn('speaker/s', { self: 's' });
      }
      const until = acknowledged + 40 * (life + 1);
      await new Promise<void>((resolve) => {
        const speak = (): void => {
          asked += 1;
          both.send('speaker/s', events).then(
            () => {
              acknowledged += 1;
              if (acknowledged >= until) resolve();
              speak();
            },
            () => {},
          );
        };
        // Several at once, so that the process dies with some on every part of their way.
        for (let voice = 0; voice < 8; voice += 1) speak();
      });
      await both.kill();
    }
    const last = site.start(...nodes);
    await last.hosts('there');
    const said = await eventually(async () => {
      const { context, record } = await last.actor<{ said: Record<string, number> }>('speaker/s');
      expect(record.outbox).toBeUndefined();
      return context.said['listener/l@there'] ?? 0;
    });
    const { context } = await last.actor<{ heard: object }>('listener/l', 'there');
    expect(context.heard).toEqual({ s: upTo(said) });
    expect(said).toBeGreaterThanOrEqual(3 * acknowledged);
    expect(said).toBeLessThanOrEqual(3 * asked);
  } finally {
    await site.clear();
  }
});

/** Nothing tells of a moment that passes while nobody lives to see it. */
async function momentAfter(at: number): Promise<void> {
  await eventually(() => expect(Date.now()).toBeGreaterThan(at));
}
