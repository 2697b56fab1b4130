/** LMDB's list of free pages: it stays whole, and a transaction given up for it may be tried again. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readHeadRow } from '../../stores/lmdb/check.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { Heads } from '../../stores/lmdb/heads.ts';
import { LmdbWriter } from '../../stores/lmdb/writer.ts';
import { group, write } from '../contracts/store-groups.ts';
import { compiledProgram } from '../kit/compiled.ts';

const PROGRAM = 'test/stores/free-pages-program.ts';
/** The binding's own way fails before the twelve-thousandth. */
const TRANSACTIONS = 12_000;

const LIMITS = {
  historyMax: 10,
  undeliveredMax: 10,
  historyLogBytesMax: 1024 ** 2,
  sizeBytesMax: 1024 ** 3,
};

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'escapement-free-pages-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test('thousands of transactions and long readers leave the list of free pages whole', async () => {
  const argv = [compiledProgram(PROGRAM), await newDirectory(), `${TRANSACTIONS}`];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  child.stderr.on('data', (text) => {
    said += text;
  });
  const [code, signal] = await once(child, 'close');
  expect(said).toMatch(/^\d+\n$/);
  expect([code, signal]).toEqual([0, null]);
});

test.each([
  [-30_798, 'COMMIT_REFUSED'],
  [-30_782, 'COMMIT_REFUSED'],
  [-30_796, 'STORE_FAILED'],
  [5, 'STORE_FAILED'],
])('a transaction that LMDB gives up with %i is %s', async (code, expected) => {
  const directory = await newDirectory();
  const environment = await Environment.open(directory, { isReadOnly: false });
  onTestFinished(() => environment.close());
  const head = readHeadRow(environment, directory);
  const writer = new LmdbWriter(environment, head, new Heads(() => undefined), {
    ...LIMITS,
    directory,
  });
  await writer.begin();
  const outcome = (address: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      writer.commit(group([write(address, 'one')]), (refusal) =>
        resolve((refusal as { code?: string } | undefined)?.code),
      );
    });
  const reason = Object.assign(new Error('given up'), { code });
  const commitError = Promise.reject(reason);
  commitError.catch(() => {});
  const refused = Object.assign(new Error('Commit failed'), { commitError });
  vi.spyOn(environment.head, 'ifVersion').mockRejectedValueOnce(refused);
  expect(await outcome('order/1@A')).toBe(expected);
  expect(await outcome('order/1@A')).toBe(expected === 'STORE_FAILED' ? expected : undefined);
});
