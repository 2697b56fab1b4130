/**
 * Processes that stand by for each other over one LMDB directory: the leader is killed, stopped,
 * or asked to end, and another one goes on where it was.
 */

import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDataDirectory } from '../../stores/directory/data-directory.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { socketNameOf } from '../../stores/directory/socket.ts';
import { eventually } from '../kit/eventually.ts';
import type { Ring } from './recovery-machines.ts';
import { type RecoveryProcess, RecoverySite } from './recovery-process.ts';
import { recoveryDirectory } from './recovery-store.ts';

/** Later than this no deadline comes, on a machine that is busy with other things either. */
const LATENESS_MAX_MS = 30_000;
/** Longer than a test may take: whatever waits for it fails. */
const LONG_MS = 3_600_000;

/** A leader whose pulse beats, and others that wait. */
async function lead(leaseMs: number, standbys: number) {
  const site = new RecoverySite();
  onTestFinished(() => site.clear());
  const start = (node: string) => site.start({ node, place: 'p', leaseMs });
  const leader = start('leader');
  const { fence } = await leader.hosts();
  const waiting = Array.from({ length: standbys }, (_, index) => start(`standby-${index}`));
  await Promise.all(waiting.map((one) => one.standsBy()));
  await leader.spawn('pulse/1');
  await leader.spawn('workshop/1');
  await leader.send('workshop/1', { type: 'job.charge', amount: 1 } as never);
  await eventually(() => expect(site.notes('beat').length).toBeGreaterThan(3));
  return { site, leader, fence, waiting };
}

async function arm(on: RecoveryProcess, key: string, delayMs: number): Promise<number> {
  await on.spawn(`alarm/${key}`);
  await on.send(`alarm/${key}`, { type: 'alarm.arm', name: 'bell', delayMs } as never);
  const { history } = await on.actor(`alarm/${key}`);
  return (history.at(-1)?.at ?? 0) + delayMs;
}

async function ringOf(on: RecoveryProcess, key: string): Promise<Ring> {
  const rings = await eventually(async () => {
    const seen = await on.actor<{ rings: readonly Ring[] }>(`alarm/${key}`);
    expect(seen.context.rings).toHaveLength(1);
    return seen.context.rings;
  });
  return rings[0] as Ring;
}

/** Anybody who hosts first of those who waited. */
async function successor(waiting: readonly RecoveryProcess[]) {
  return Promise.race(waiting.map(async (one) => ({ next: one, ...(await one.hosts()) })));
}

/** What every takeover keeps, however it came about. */
async function expectTakenOver(
  { site, leader, fence }: Awaited<ReturnType<typeof lead>>,
  next: RecoveryProcess,
  nextFence: number,
): Promise<void> {
  expect(nextFence).toBeGreaterThan(fence);
  const beats = () => site.notes('beat').map(({ pid }) => pid);
  await eventually(() =>
    expect(beats().filter((pid) => pid === next.pid).length).toBeGreaterThan(9),
  );
  // First all of the one, then all of the other: the first never acted again.
  expect(beats().filter((pid, index, all) => pid !== all[index - 1])).toEqual([
    leader.pid,
    next.pid,
  ]);
  expect(new Set(site.notes('beat').map((note) => note.fence))).toEqual(
    new Set([fence, nextFence]),
  );
  const charges = site.notes('charge');
  expect(charges.map(({ pid }) => pid)).toEqual([leader.pid, next.pid]);
  expect(new Set(charges.map(({ effectId }) => effectId)).size).toBe(1);
}

describe('the leader of a directory', () => {
  test('that is killed is followed at once by one of two, and deadlines keep their moments', async () => {
    const all = await lead(LONG_MS, 2);
    const dueAt = await arm(all.leader, 'soon', 1_500);
    await all.leader.kill();
    const { next, fence, at } = await successor(all.waiting);
    const ring = await ringOf(next, 'soon');
    expect(ring.dueAt).toBe(dueAt);
    expect(ring.at).toBeGreaterThanOrEqual(dueAt);
    expect(ring.at - Math.max(dueAt, at)).toBeLessThan(LATENESS_MAX_MS);
    await expectTakenOver(all, next, fence);
    expect(all.waiting.filter(({ isHosting }) => isHosting)).toEqual([next]);
  });

  test.skipIf(process.platform !== 'linux')(
    'that is stopped is killed and never acts again; what it missed comes with its own moment',
    async () => {
      const leaseMs = 4_000;
      const all = await lead(leaseMs, 1);
      const missedAt = await arm(all.leader, 'missed', 250);
      const aheadAt = await arm(all.leader, 'ahead', 8_000);
      all.leader.signal('SIGSTOP');
      const { next, fence, at } = await successor(all.waiting);
      expect(await all.leader.exited).toBe('SIGKILL');
      const missed = await ringOf(next, 'missed');
      expect(missed.dueAt).toBe(missedAt);
      expect(at).toBeGreaterThan(missedAt);
      expect(missed.at - at).toBeLessThan(LATENESS_MAX_MS);
      await expectTakenOver(all, next, fence);
      const ahead = await ringOf(next, 'ahead');
      expect(ahead.dueAt).toBe(aheadAt);
      expect(ahead.at).toBeGreaterThanOrEqual(aheadAt);
      expect(ahead.at - aheadAt).toBeLessThan(LATENESS_MAX_MS);
      await expectTakenOver(all, next, fence);
    },
  );

  test('that ends in order hands over long before its lease is over', async () => {
    const all = await lead(LONG_MS, 1);
    // A performer that is still at work is waited for as long as `drainMs` says.
    await all.leader.finishCharges();
    await eventually(async () =>
      expect((await all.leader.actor('workshop/1')).record.effects).toBeUndefined(),
    );
    const dueAt = await arm(all.leader, 'soon', 1_500);
    all.leader.signal('SIGTERM');
    const { next, fence, at } = await successor(all.waiting);
    expect(await all.leader.exited).toBe(0);
    expect(fence).toBeGreaterThan(all.fence);
    const ring = await ringOf(next, 'soon');
    expect(ring.dueAt).toBe(dueAt);
    expect(ring.at - Math.max(dueAt, at)).toBeLessThan(LATENESS_MAX_MS);
    expect(all.site.notes('charge')).toHaveLength(1);
  });
});

test('a standby that comes a moment too early after a death tries again soon, however long the lease', async () => {
  const directory = recoveryDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const name = socketNameOf(openDataDirectory(directory).identity);
  // As a process that is being torn down: its connections end before its name is free.
  let connections = 0;
  const dying = createServer((connection) => {
    connections += 1;
    connection.destroy();
    if (connections === 3) dying.close();
  });
  await new Promise<void>((resolve) => {
    dying.listen({ path: name, exclusive: true }, resolve);
  });
  const lease = directoryLease(directory, { leaseMs: LONG_MS });
  await new Promise<void>((resolve) => {
    const claim = lease.hold('p', { acquired: () => resolve(), standsBy() {}, lost() {} });
    onTestFinished(() => claim.release());
  });
  expect(connections).toBe(3);
});
