import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lmdbStore } from '../../stores/lmdb.ts';
import { running } from '../rehearsal/releases.ts';
import { ended, escapement, start } from './command-line.ts';
import { newFolder, storedOrders, writeModule } from './stored-orders.ts';

const ESC = '\u001b';
const folder = newFolder();
let data = '';
let old = '';
let renamed = '';
let reminded = '';
let slower = '';

beforeAll(async () => {
  old = writeModule(folder, 'old.mjs');
  renamed = writeModule(folder, 'renamed.mjs', { open: 'waiting' });
  reminded = writeModule(folder, 'reminded.mjs', { after: "{ limit: 'expired', reminder: {} }" });
  slower = writeModule(folder, 'slower.mjs', { limit: 1_200_000 });
  data = await storedOrders(folder, old, 7);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const check = (before: string, next: string, ...more: string[]) =>
  escapement(['check-upgrade', before, next, '--data', data, ...more]);

describe('the verdict', () => {
  test('is the first line, and 0 when nothing would break', async () => {
    const { code, out, err } = await check(old, old);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      'HOLDS: 7 records rehearsed, nothing would break.\n\norder: 7 records, 7 restored, version 1 as before\n',
    );
  });

  test('is 1 when a state is gone', async () => {
    const { code, out } = await check(old, renamed, '--limit', '2');
    expect(code).toBe(1);
    expect(out).toMatch(/^BREAKS: 7 records of 7 would not go on as before\.\n/);
    expect(out).toContain('error      state-gone (7 records): The machine has no state "open"');
    expect(out).toContain('such as order/1@test, order/2@test, …');
    expect(out).toContain('states     − open, + waiting');
  });

  test('is 1 when a deadline would never be armed', async () => {
    const { code, out } = await check(old, reminded);
    expect(code).toBe(1);
    expect(out).toContain('warning    timer-never-armed (7 records)');
    expect(out).toContain('migrate[2] adds { id: "xstate.after.reminder.order.open", dueAt }');
  });

  test('is 0 for a changed delay, and 1 when asked to be strict', async () => {
    const { code, out } = await check(old, slower);
    expect(code).toBe(0);
    expect(out).toContain('900000 ms → 1200000 ms');
    expect((await check(old, slower, '--strict')).code).toBe(1);
  });

  test('comes without the old code too, and says what it lacks', async () => {
    const { code, out } = await check('-', renamed);
    expect(code).toBe(1);
    expect(out).toMatch(/^BREAKS: 7 records of 7/);
    expect(out).toContain('Left out: what the machines have gained and lost.');
  });

  test('is JSON for other programs', async () => {
    const { code, out } = await check(old, renamed, '--json', '--limit', '1');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      holds: false,
      records: 7,
      affected: 7,
      kinds: [{ kind: 'order', records: 7, restored: 0 }],
      findings: [
        { name: 'state-gone', level: 'error', count: 7, examples: ['order/1@test'] },
        { name: 'version-not-raised', level: 'note', count: 0 },
      ],
      differences: [{ kind: 'order', states: { added: ['waiting'], removed: ['open'] } }],
      leftOut: [],
    });
    const without = JSON.parse((await check('-', old, '--json')).out);
    expect(without).toMatchObject({ differences: null, leftOut: expect.any(Array) });
  });

  test('is about the kinds that were asked for', async () => {
    const other = writeModule(folder, 'other.mjs', { kind: 'parcel' });
    expect((await check(old, other)).code).toBe(1);
    const parcels = await check(old, other, '--kind', 'parcel');
    expect([parcels.code, parcels.out.split('\n')[0]]).toEqual([
      0,
      'HOLDS: 0 records rehearsed, nothing would break.',
    ]);
    const { code, err } = await check(old, other, '--kind', 'ordr');
    expect(code).toBe(64);
    expect(err).toContain('neither release has it. They have: order, parcel.');
  });
});

test('what comes from data or a module cannot speak to the terminal', async () => {
  const hostile = writeModule(folder, 'hostile.mjs', {
    options: `version: 2, migrate: { 2: () => { throw new Error('${ESC}[2J\\u202eboom'); } }`,
  });
  const { code, out } = await check(old, hostile);
  expect(code).toBe(1);
  expect(out).toContain('\\u001b[2J\\u202eboom');
  expect(out).not.toContain(ESC);
});

test('the data is not changed, and its owner goes on meanwhile', async () => {
  const own = join(folder, 'owned');
  mkdirSync(own);
  const directory = await storedOrders(own, old, 3);
  const digest = () =>
    createHash('sha256')
      .update(readFileSync(join(directory, 'data.mdb')))
      .digest('hex');
  const before = digest();
  const arguments_ = ['check-upgrade', old, renamed, '--data', directory];
  expect((await escapement(arguments_)).code).toBe(1);
  expect(digest()).toBe(before);

  const { kinds } = await import(/* @vite-ignore */ old);
  const owner = await running(kinds, lmdbStore(directory));
  const beside = await ended(start(arguments_));
  expect(beside).toMatchObject({ code: 1, err: '' });
  await owner.spawn('order/4' as never, { input: { total: 4 } } as never);
  const after = await ended(start(arguments_));
  expect(after.out).toMatch(/^BREAKS: 4 records of 4/);
  await owner.stop();
});

describe('what cannot be read', () => {
  const module = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test.each([
    ['nowhere.mjs', undefined, 'there is no such file or directory'],
    ['empty.mjs', '', 'must export "kinds"'],
    ['broken.mjs', 'export const kinds = {', 'It cannot be loaded'],
    ['throws.mjs', 'throw new Error("no database")', 'no database'],
    ['text.txt', 'x', 'A module is a .js, .mjs or .ts file'],
    ['no-machine.mjs', 'export const kinds = { order: 7 }', 'Kind "order" is a machine'],
  ])('as a module exits 65 and says which: %s', async (name, text, message) => {
    const path = text === undefined ? join(folder, name) : module(name, text);
    const { code, out, err } = await check(old, path);
    expect([code, out]).toEqual([65, '']);
    expect(err).toMatch(/^error: /);
    expect(err).toContain(message);
    expect(err).toContain(name);
  });

  test('as a folder in place of a module exits 65', async () => {
    expect(await check(old, folder)).toMatchObject({ code: 65, out: '' });
  });

  test('as a data directory exits 65: none, an empty one, a file, nonsense', async () => {
    const empty = join(folder, 'empty');
    const nonsense = join(folder, 'nonsense');
    for (const made of [empty, nonsense]) mkdirSync(made);
    writeFileSync(join(nonsense, 'data.mdb'), 'x'.repeat(100_000));
    for (const path of [join(folder, 'none'), empty, old, nonsense]) {
      const { code, out, err } = await escapement(['check-upgrade', old, old, '--data', path]);
      expect([path, code, out]).toEqual([path, 65, '']);
      expect(err).toMatch(/^error: .+\n$/);
    }
  });
});

test('as a process it colours when it is told to, and not otherwise', async () => {
  const arguments_ = ['check-upgrade', old, renamed, '--data', data];
  const [plain, forced, refused] = await Promise.all([
    ended(start(arguments_)),
    ended(start(arguments_, { FORCE_COLOR: '1' })),
    ended(start(arguments_, { NO_COLOR: '1' })),
  ]);
  expect(plain.out).not.toContain(ESC);
  expect(refused.out).not.toContain(ESC);
  expect(forced.out).toContain(`${ESC}[31mBREAKS${ESC}[39m`);
  expect([plain.code, forced.code, refused.code]).toEqual([1, 1, 1]);
});
