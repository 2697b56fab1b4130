import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs, { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import net, { connect } from 'node:net';
import { loadavg } from 'node:os';
import { scheduler, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { drained, type Outside, sealed } from '../../simulator/world/sealed.ts';

/** What a run throws that does this and nothing else. */
async function outcomeOf(reach: () => unknown): Promise<unknown> {
  try {
    return await sealed(async () => reach());
  } catch (thrown) {
    return thrown;
  }
}

const doors: Array<[string, () => unknown]> = [
  ['Date.now', () => Date.now()],
  ['A Date without a moment', () => new Date()],
  ['Date()', () => Date()],
  ['performance.now', () => performance.now()],
  ['process.hrtime', () => process.hrtime()],
  ['hrtime.bigint', () => process.hrtime.bigint()],
  ['performance.mark', () => performance.mark('here')],
  ['A format without a moment', () => new Intl.DateTimeFormat().format()],
  ['A format without a moment', () => new Intl.DateTimeFormat().formatToParts()],
  ['AbortSignal.timeout', () => AbortSignal.timeout(1)],
  ['Atomics.wait', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)],
  ['scheduler.wait', () => scheduler.wait(1)],
  ['process.memoryUsage', () => process.memoryUsage()],
  ['process.cpuUsage', () => process.cpuUsage()],
  ['os.loadavg', () => loadavg()],
  ['subtle.generateKey', () => crypto.subtle.generateKey('Ed25519', true, ['sign'])],
  ['setTimeout', () => setTimeout(() => {}, 1)],
  ['setInterval', () => setInterval(() => {}, 1)],
  ['setImmediate', () => setImmediate(() => {})],
  ['timers/promises.setTimeout', () => sleep(1)],
  ['Math.random', () => Math.random()],
  ['crypto.randomUUID', () => crypto.randomUUID()],
  ['crypto.randomUUID', () => randomUUID()],
  ['crypto.getRandomValues', () => crypto.getRandomValues(new Uint8Array(1))],
  ['fetch', () => fetch('http://localhost:1')],
  ['fs.existsSync', () => existsSync('.')],
  ['fs.readFileSync', () => fs.readFileSync('package.json')],
  ['fs/promises.readFile', () => readFile('package.json')],
  ['net.connect', () => connect(1)],
  ['net.Socket.connect', () => new net.Socket().connect(1)],
  ['net.Server.listen', () => new net.Server().listen(0)],
  ['child_process.execFileSync', () => execFileSync('true')],
  ['worker_threads.Worker', () => new Worker('', { eval: true })],
];

describe('a sealed run', () => {
  test.each(doors)('refuses %s and says what to do', async (name, reach) => {
    const outcome = await outcomeOf(reach);
    expect(outcome).toBeInstanceOf(RuntimeError);
    const { code, message } = outcome as RuntimeError;
    expect(code).toBe('SEALED');
    expect(message.startsWith(`${name} is sealed in a simulated run`)).toBe(true);
    expect(message).toMatch(/Clock|Random|Transport|Store|before the run/);
  });

  test('fails also when somebody inside caught it', async () => {
    const outcome = await outcomeOf(() => {
      try {
        return Math.random();
      } catch {
        return 4;
      }
    });
    expect(outcome).toMatchObject({ code: 'SEALED' });
  });

  test('refuses it in whatever its promises do later', async () => {
    const run = async ({ drained: settled }: Outside) => {
      const late = Promise.resolve()
        .then(() => {})
        .then(() => Date.now());
      const caught = late.catch(() => {});
      await settled();
      return caught;
    };
    await expect(sealed(run)).rejects.toMatchObject({ code: 'SEALED' });
  });

  test('may make dates of given moments, errors with stacks, and promises', async () => {
    const made = await sealed(async () => {
      const date = new Date(1_000);
      await new Promise<void>((resolve) => queueMicrotask(resolve));
      const told = new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(date);
      return { date, told, stack: new Error('here').stack, env: process.env['PATH'] };
    });
    expect(made.date).toBeInstanceOf(Date);
    expect(made.date.toISOString()).toBe('1970-01-01T00:00:01.000Z');
    expect(made.told).toBe('1/1/1970');
    expect(made.stack).toContain('sealed.test.ts');
  });

  test('lets the rest of the process work while it breathes, and only then', async () => {
    const seen: string[] = [];
    setTimeout(() => seen.push(`${typeof Date.now()} ${existsSync('package.json')}`), 0);
    await sealed(async ({ drained: settled, breathe, elapsedMs }) => {
      for (let turn = 0; turn < 1_000; turn++) await settled();
      expect(seen).toEqual([]);
      while (seen.length === 0) await breathe();
      expect(elapsedMs()).toBeGreaterThan(0);
      expect(() => Date.now()).toThrow('is sealed');
    }).catch((thrown) => expect(thrown.code).toBe('SEALED'));
    expect(seen).toEqual(['number true']);
  });

  test('leaves everything as it was, after failures too', async () => {
    const before = [Date, Date.now, setTimeout, Math.random, fs.readFileSync, performance.now];
    const uuid = Object.getOwnPropertyDescriptor(crypto, 'randomUUID');
    const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format');
    await outcomeOf(() => {
      throw new Error('of its own');
    });
    await outcomeOf(() => Date.now());
    expect([Date, Date.now, setTimeout, Math.random, fs.readFileSync, performance.now]).toEqual(
      before,
    );
    expect(Object.getOwnPropertyDescriptor(crypto, 'randomUUID')).toEqual(uuid);
    expect(readFileSync).toBe(fs.readFileSync);
    expect(Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format')).toEqual(
      format,
    );
    expect(new Intl.DateTimeFormat('en').format()).toBeTruthy();
    expect(new Date()).toBeInstanceOf(Date);
  });

  test('goes on when another one ends beside it', async () => {
    let isOver = false;
    const long = sealed(async ({ breathe }) => {
      while (!isOver) await breathe();
      return Math.random();
    });
    await sealed(async ({ breathe }) => breathe());
    expect(Math.random()).toBeLessThan(1);
    isOver = true;
    await expect(long).rejects.toMatchObject({ code: 'SEALED' });
  });
});

test('drained waits for every promise that can settle, also when asked by a task', async () => {
  const done: number[] = [];
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      let chain = Promise.resolve();
      for (let link = 0; link < 100; link++)
        chain = chain.then(async () => {
          await undefined;
          done.push(link);
        });
      void drained().then(() => {
        done.push(-1);
        resolve();
      });
    });
  });
  expect(done.at(-1)).toBe(-1);
  expect(done).toHaveLength(101);
});
