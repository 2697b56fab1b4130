/**
 * Directories that a store is opened on: none, empty, of somebody else, of a newer release, not
 * ours to write, not a directory, in use.
 */

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { HEAD_KEY, readHeadRow } from '../../stores/lmdb/check.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { encodeHead } from '../../stores/lmdb/head.ts';
import { STORE_FORMAT } from '../../stores/lmdb/row.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { codeOf } from '../engine/outcomes.ts';
import { fillDirectory, orderMachine, PLACE } from './filled-directory.ts';
import { newFolder } from './folders.ts';
import { runCommitter } from './traced.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

async function newData(): Promise<string> {
  const directory = join(newFolder('opening'), 'data');
  await fillDirectory(directory, 5);
  return directory;
}

async function openingOf(directory: string, place = PLACE): Promise<string> {
  const store = lmdbStore(directory);
  const code = await codeOf(store.open(place));
  await store.close();
  return code;
}

describe('a store begins afresh', () => {
  test.each<[string, (directory: string) => void]>([
    ['where there is no directory, nor the one above it', () => {}],
    ['in an empty directory', (directory) => mkdirSync(directory, { recursive: true })],
  ])('%s', async (_, prepare) => {
    const directory = join(newFolder('opening'), 'deep', 'data');
    prepare(directory);
    expect(await runCommitter({ directory, commits: 3 })).toMatchObject({ exitCode: 0, found: 0 });
    expect(await runCommitter({ directory, commits: 1 })).toMatchObject({ exitCode: 0, found: 3 });
  });

  test('that only its user can read', async () => {
    const directory = join(newFolder('opening'), 'deep', 'data');
    const committed = await runCommitter({ directory, commits: 1 });
    expect(committed).toMatchObject({ exitCode: 0 });
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([modeOf(directory), modeOf(join(directory, '..'))]).toEqual(['700', '700']);
    const files = readdirSync(directory).map((name) => [name, modeOf(join(directory, name))]);
    expect(files.sort()).toEqual([
      ['data.mdb', '600'],
      ['lock.mdb', '600'],
      ['store.json', '600'],
    ]);
  });

  test('beside files that have nothing to do with it', async () => {
    const directory = newFolder('opening');
    writeFileSync(join(directory, 'notes.txt'), 'ours');
    expect(await openingOf(directory)).toBe('taken');
    expect(readdirSync(directory)).toContain('notes.txt');
  });
});

describe('a store is refused', () => {
  test('that belongs to another place, and is unchanged by that', async () => {
    const directory = await newData();
    expect(await openingOf(directory, 'elsewhere')).toBe('STORE_FOREIGN');
    const kinds = { order: orderMachine };
    const other = { place: 'elsewhere', store: lmdbStore(directory), kinds, telemetry: false };
    expect(await codeOf(createRuntime(other))).toBe('STORE_FOREIGN');
    expect(await openingOf(directory)).toBe('taken');
  });

  test('that a newer release has written', async () => {
    const directory = await newData();
    const environment = await Environment.open(directory, { isReadOnly: false });
    const head = { ...readHeadRow(environment, directory), format: STORE_FORMAT + 1 };
    await environment.head.put(HEAD_KEY, encodeHead(head), head.commits);
    await environment.close();
    expect(await openingOf(directory)).toBe('STORE_NEWER');
  });

  test('whose data was removed, until somebody says that it may begin empty', async () => {
    const directory = await newData();
    rmSync(join(directory, 'data.mdb'));
    expect(await openingOf(directory)).toBe('STORE_MISSING');
    rmSync(join(directory, 'lock.mdb'));
    expect(await openingOf(directory)).toBe('STORE_MISSING');
    rmSync(join(directory, 'store.json'));
    expect(await openingOf(directory)).toBe('taken');
  });

  test('in whose place there is a file', async () => {
    const file = join(newFolder('opening'), 'data');
    writeFileSync(file, 'not a directory');
    expect(await openingOf(file)).toBe('OPTION_INVALID');
    expect(await openingOf(join(file, 'below'))).toBe('OPTION_INVALID');
  });

  test('whose file is a link, a directory, or nothing that a store has written', async () => {
    const linked = await newData();
    renameSync(join(linked, 'data.mdb'), join(linked, 'elsewhere.mdb'));
    symlinkSync(join(linked, 'elsewhere.mdb'), join(linked, 'data.mdb'));
    expect(await openingOf(linked)).toBe('STORE_UNWRITABLE');
    const nested = newFolder('opening');
    mkdirSync(join(nested, 'data.mdb'));
    expect(await openingOf(nested)).toBe('STORE_UNWRITABLE');
    for (const bytes of ['', 'x', 'x'.repeat(100_000)]) {
      const foreign = newFolder('opening');
      writeFileSync(join(foreign, 'data.mdb'), bytes);
      expect(await openingOf(foreign)).toBe('STORE_DAMAGED');
    }
  });

  test('that another process has open, until that has ended', async () => {
    const directory = join(newFolder('opening'), 'data');
    const codes: string[] = [];
    let asked: Promise<unknown> = Promise.resolve();
    const owner = await runCommitter({
      directory,
      commits: 2_000,
      options: { pauseMs: 5 },
      heard: ([event, turn], child) => {
        if (event !== 'ack' || turn !== '3') return;
        asked = openingOf(directory, 'node-1').then((code) => {
          codes.push(code);
          child.kill('SIGKILL');
        });
      },
    });
    await asked;
    expect(owner.exitCode).toBe('SIGKILL');
    expect(codes).toEqual(['STORE_LOCKED']);
    expect(await openingOf(directory, 'node-1')).toBe('taken');
  });

  test('twice in one process, until it is closed', async () => {
    const directory = await newData();
    const first = lmdbStore(directory);
    await first.open(PLACE);
    expect(await openingOf(directory)).toBe('STORE_LOCKED');
    await first.close();
    expect(await openingOf(directory)).toBe('taken');
  });
});

describe.skipIf(!isRoot)('a store of somebody else (needs root to try)', () => {
  const asNobody = { asNobody: true };
  const failureOf = async (directory: string) => {
    const { exitCode, lines } = await runCommitter({ directory, commits: 1, options: asNobody });
    return [exitCode, lines[0]?.[1]];
  };

  test('is refused where the directory cannot be written, or not even be entered', async () => {
    const folder = newFolder('opening');
    expect(await failureOf(join(folder, 'data'))).toEqual([1, 'STORE_UNWRITABLE']);
    chmodSync(folder, 0o755);
    expect(await failureOf(join(folder, 'data'))).toEqual([1, 'STORE_UNWRITABLE']);
    expect(existsSync(join(folder, 'data'))).toBe(false);
    const directory = join(folder, 'data');
    await fillDirectory(directory, 2);
    chmodSync(directory, 0o755);
    expect(await failureOf(directory)).toEqual([1, 'STORE_UNWRITABLE']);
  });

  test('is refused where only its file cannot be written', async () => {
    const folder = newFolder('opening');
    chmodSync(folder, 0o755);
    const directory = join(folder, 'data');
    await fillDirectory(directory, 2);
    chownSync(directory, NOBODY, NOBODY);
    chmodSync(join(directory, 'data.mdb'), 0o644);
    expect(await failureOf(directory)).toEqual([1, 'STORE_UNWRITABLE']);
  });
});
