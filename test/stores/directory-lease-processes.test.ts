/**
 * The lease of a directory between real processes that are killed, stopped and continued.
 *
 * While it holds, each process notes its fence and its pid every few milliseconds in one file
 * that all append to: what several processes did at the same time shows there as notes out of
 * order.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BEATS_PER_LEASE } from '../../stores/directory/claim.ts';
import { eventually, until } from '../kit/eventually.ts';
import {
  FEW_DESCRIPTORS,
  OwnerProcess,
  ownerIn,
  type Told,
  testDirectory,
  UNSHARE,
  writeOwner,
} from './owner-processes.ts';

/** Longer than a test may take: whatever waits for it fails. */
const LONG_MS = 3_600_000;

function open() {
  const directory = testDirectory();
  const turnsFile = join(directory, '..', 'turns');
  writeFileSync(turnsFile, '');
  const start = (leaseMs: number, more: object = {}, wrapper: string[] = []) =>
    new OwnerProcess('lease', directory, { leaseMs, turnsFile, ...more }, wrapper);
  return { directory, start, turns: () => turnsIn(turnsFile) };
}

/** The fences in the order of their first turn; fails if two holders took turns at once. */
function turnsIn(turnsFile: string): number[] {
  const lines = readFileSync(turnsFile, 'utf8').split('\n').filter(Boolean);
  const holders = lines.filter((line, index) => line !== lines[index - 1]);
  expect(new Set(holders).size, `turns of ${holders.join(', ')}`).toBe(holders.length);
  const fences = holders.map((line) => Number(line.split(' ')[0]));
  expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  return fences;
}

/** The first of `processes` to hear it, and what it heard. */
function first(
  processes: readonly OwnerProcess[],
  event: string,
): Promise<readonly [OwnerProcess, Told]> {
  return Promise.race(
    processes.map(async (one) => {
      const nth = one.events().filter((name) => name === event).length + 1;
      return [one, await one.hears(event, nth)] as const;
    }),
  );
}

describe('a holder that ends', () => {
  test.each(['release', 'exit', 'SIGKILL'] as const)('by %s is followed at once', async (end) => {
    const { start, turns } = open();
    const holder = start(LONG_MS);
    const { fence = 0 } = await holder.hears('acquired');
    const standby = start(LONG_MS);
    await standby.hears('stands by');
    if (end === 'SIGKILL') await holder.kill();
    else holder.order(end);
    const next = await standby.hears('acquired');
    expect(next.fence).toBeGreaterThan(fence);
    expect(holder.isAlive).toBe(end === 'release');
    expect(standby.events()).toEqual(['stands by', 'acquired']);
    turns();
  });

  test('is followed by one of three, ten times', async () => {
    const { start, turns } = open();
    const fences: number[] = [];
    const standbys = new Set([start(LONG_MS), start(LONG_MS), start(LONG_MS), start(LONG_MS)]);
    let [holder, told] = await first([...standbys], 'acquired');
    fences.push(told.fence as number);
    for (let kill = 0; kill < 10; kill += 1) {
      standbys.delete(holder);
      await Promise.all([...standbys].map((one) => one.hears('stands by')));
      const following = first([...standbys], 'acquired');
      await holder.kill();
      const dead = holder;
      [holder, told] = await following;
      fences.push(told.fence as number);
      expect(dead.isAlive).toBe(false);
      standbys.add(start(LONG_MS));
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    expect(fences).toHaveLength(11);
    const taken = turns();
    expect(taken.every((fence) => fences.includes(fence))).toBe(true);
    for (const one of standbys) {
      if (one !== holder) expect(one.events()).not.toContain('acquired');
    }
  });
});

describe.skipIf(process.platform === 'win32')('a holder without descriptors', () => {
  test('goes on beating, and its standby waits', async () => {
    const LEASE_MS = 3_000;
    const directory = testDirectory();
    const holder = new OwnerProcess('lease', directory, { leaseMs: LEASE_MS }, FEW_DESCRIPTORS);
    await holder.hears('acquired');
    const standby = new OwnerProcess('lease', directory, { leaseMs: LEASE_MS });
    await standby.hears('stands by');
    holder.order('exhaust');
    expect(await holder.hears('exhausted')).toMatchObject({ code: 'EMFILE' });
    const before = Number(ownerIn(directory).beat);
    // Two lease times: a holder that cannot beat has been killed by then.
    const isOver = () =>
      !holder.isAlive || Number(ownerIn(directory).beat) >= before + 2 * BEATS_PER_LEASE;
    await until(isOver);
    expect(holder.isAlive).toBe(true);
    expect(holder.events()).toEqual(['acquired', 'exhausted']);
    expect(standby.events()).toEqual(['stands by']);
  });
});

describe.skipIf(process.platform !== 'linux')('a holder that is stopped', () => {
  const LEASE_MS = 1_000;

  test('is killed, and the standby leads', async () => {
    const { start, turns } = open();
    const holder = start(LEASE_MS);
    const { fence = 0 } = await holder.hears('acquired');
    const standbys = [start(LEASE_MS), start(LEASE_MS)];
    await Promise.all(standbys.map((one) => one.hears('stands by')));
    const startedAt = performance.now();
    const following = first(standbys, 'acquired');
    holder.signal('SIGSTOP');
    const [, told] = await following;
    const tookMs = performance.now() - startedAt;
    expect(await holder.exited).toBe('SIGKILL');
    expect(told.fence).toBeGreaterThan(fence);
    // It beat last up to a third of the lease time before it was stopped.
    expect(tookMs).toBeGreaterThan((LEASE_MS * 2) / 3 - 50);
    turns();
  });

  test('and cannot be killed finds out when it continues', async () => {
    const { start, turns } = open();
    const holder = start(LEASE_MS, { kill: 'never' });
    const { fence = 0 } = await holder.hears('acquired');
    const standby = start(LEASE_MS, { kill: 'never' });
    await standby.hears('stands by');
    holder.signal('SIGSTOP');
    await standby.logs(/cannot be killed from here: end it by hand/);
    expect(holder.isAlive).toBe(true);
    expect(standby.events()).toEqual(['stands by']);
    const following = first([holder, standby], 'acquired');
    holder.signal('SIGCONT');
    expect(await holder.hears('lost')).toMatchObject({ isHeld: false });
    const [, told] = await following;
    expect(told.fence).toBeGreaterThan(fence);
    turns();
  });

  test('is not killed when its pid or start time does not fit', async () => {
    const { directory, start } = open();
    const holder = start(LEASE_MS);
    await holder.hears('acquired');
    const standby = start(LEASE_MS);
    await standby.hears('stands by');
    // However slow this is, nobody looks at the silent holder before the file is as it should be.
    standby.signal('SIGSTOP');
    holder.signal('SIGSTOP');
    // What the file says now is of an earlier process: nobody knows who has the socket.
    writeOwner(directory, { ...ownerIn(directory), startTicks: '1' });
    const bystander = start(LEASE_MS);
    await bystander.hears('stands by');
    writeOwner(directory, { ...ownerIn(directory), pidNamespace: 'pid:[1]', pid: bystander.pid });
    standby.signal('SIGCONT');
    await standby.logs(/cannot be killed from here: end it by hand/);
    expect([holder.isAlive, bystander.isAlive]).toEqual([true, true]);
  });

  test.skipIf(!canUnshare())('in a network of its own is killed as well', async () => {
    const { start, turns } = open();
    const holder = start(LEASE_MS, {}, [UNSHARE, '--net']);
    const { fence = 0 } = await holder.hears('acquired');
    const standby = start(LEASE_MS);
    await standby.hears('stands by');
    holder.signal('SIGSTOP');
    const told = await standby.hears('acquired');
    expect(await holder.exited).toBe('SIGKILL');
    expect(told.fence).toBeGreaterThan(fence);
    turns();
  });
});

describe.skipIf(process.platform !== 'linux')('processes that stop and go', () => {
  test('a holder and its standby that were paused together kill nobody', async () => {
    const leaseMs = 1_000;
    const { start, turns } = open();
    const holder = start(leaseMs);
    await holder.hears('acquired');
    const standby = start(leaseMs);
    await standby.hears('stands by');
    holder.signal('SIGSTOP');
    standby.signal('SIGSTOP');
    await sleep(2 * leaseMs);
    const following = first([holder, standby], 'acquired');
    // The standby is a little ahead, and sees a file that has not changed for a long time.
    standby.signal('SIGCONT');
    await sleep(leaseMs / 10);
    holder.signal('SIGCONT');
    expect(await holder.hears('lost')).toMatchObject({ isHeld: false });
    await following;
    expect([holder.isAlive, standby.isAlive]).toEqual([true, true]);
    turns();
  });

  test('never hold at the same time, however long they pause', async () => {
    const leaseMs = 600;
    const { start, turns } = open();
    const all: OwnerProcess[] = [];
    const live = () => all.filter((one) => one.isAlive);
    for (const pauseMs of [100, 500, 590, 610, 650, 700, 1_000, 1_200, 400]) {
      while (live().length < 3) all.push(start(leaseMs));
      const holder = await holderAmong(all);
      holder.signal('SIGSTOP');
      await sleep(pauseMs);
      holder.signal('SIGCONT');
    }
    await holderAmong(all);
    const told = all.flatMap((one) => one.told.flatMap(({ fence }) => fence ?? []));
    expect(new Set(told).size).toBe(told.length);
    expect(told.length).toBeGreaterThan(1);
    expect(turns().every((fence) => told.includes(fence))).toBe(true);
  });
});

/** Resolves with the process that was told last that it holds. */
function holderAmong(processes: readonly OwnerProcess[]): Promise<OwnerProcess> {
  return eventually(() => {
    const holders = processes.filter((one) => one.isAlive && one.events().at(-1) === 'acquired');
    expect(holders).toHaveLength(1);
    return holders[0] as OwnerProcess;
  });
}

function canUnshare(): boolean {
  return spawnSync(UNSHARE, ['--net', 'true']).status === 0;
}
