/** The `data` commands against stored data that is kept in memory; what a store has to do is not tested here. */

import { describe, expect, test } from 'vitest';
import type { DataInfo, DataProblem, Purpose, StoredData } from '../../cli/loaders/stored-data.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { order, stored } from '../rehearsal/releases.ts';
import { escapement } from './command-line.ts';

const INFO: DataInfo = {
  format: 1,
  createdAt: 0,
  fences: { 'shop-1': 3 },
  records: [
    { kind: 'order', status: 'active', count: 2 },
    { kind: 'parcel', status: 'done', count: 1 },
  ],
  historyRows: 9,
  undelivered: 1,
  fileBytes: 3 * 1024 ** 2,
  freePages: 4,
  owner: { pid: 42, node: 'shop-1' },
};

interface Fake {
  readonly store?: Store;
  readonly damaged?: string;
  readonly problems?: readonly DataProblem[];
  readonly isLocked?: boolean;
}

/** Notes what it was opened for, and that it was closed. */
function fake({ store, damaged, problems = [], isLocked = false }: Fake = {}) {
  const log: string[] = [];
  const data: StoredData = {
    info: () => INFO,
    *actors() {
      for (const [address, entry] of store?.entries() ?? []) {
        const record = (): string => {
          if (address !== damaged) return store?.load(address) ?? '';
          throw new RuntimeError('RECORD_DAMAGED', `${address} is damaged.`);
        };
        yield { address, entry, record, rows: () => store?.rows(address) ?? [] };
      }
    },
    history: (address) => store?.history(address, 100) ?? [],
    undelivered: () => [['u1', '{"to":"order/1@test","event":{"type":"x"}}']],
    verify: (onRecord) => {
      onRecord(10_000);
      return { records: 10_000, problems };
    },
    compact: async () => ({ beforeBytes: 5 * 1024 ** 2, afterBytes: 2_048 }),
    close: async () => {
      log.push('closed');
    },
  };
  const openStoredData = async (directory: string, purpose: Purpose): Promise<StoredData> => {
    log.push(`${directory} ${purpose}`);
    if (isLocked) throw new RuntimeError('STORE_LOCKED', 'Process 42 has it.');
    return data;
  };
  return { log, sources: { openStoredData } };
}

const orders = () =>
  stored({ order: order(), parcel: order() }, { 'order/1': ['order.paid'], 'parcel/1': [] });

test('is not offered where nothing can open the data', async () => {
  expect((await escapement(['data', 'info', 'd'])).code).toBe(64);
});

describe('info', () => {
  test('prints numbers, and closes what it opened', async () => {
    const { log, sources } = fake();
    const { code, out } = await escapement(['data', 'info', 'd'], sources);
    expect(code).toBe(0);
    expect(out).toContain('format       1, created 1970-01-01T00:00:00.000Z');
    expect(out).toContain('owner        process 42, node shop-1');
    expect(out).toContain('size         3.0 MiB, 4 free pages');
    expect(out).toContain('records      3 actors\n  order active  2\n  parcel done  1\n');
    expect(log).toEqual(['d look', 'closed']);
  });

  test('prints the same as JSON', async () => {
    const { out } = await escapement(['data', 'info', 'd', '--json'], fake().sources);
    expect(JSON.parse(out)).toEqual(INFO);
  });
});

describe('dump', () => {
  const rows = (out: string) =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  test('prints an actor per line, of a kind or of one address when asked', async () => {
    const { sources } = fake({ store: await orders() });
    const all = rows((await escapement(['data', 'dump', 'd'], sources)).out);
    expect(all.map(({ address }) => address)).toEqual(['order/1@test', 'parcel/1@test']);
    expect(all[0]).toMatchObject({
      entry: { state: 'paid' },
      record: { snapshot: { value: 'paid' } },
    });
    expect(all[0]).not.toHaveProperty('history');
    const parcels = await escapement(['data', 'dump', 'd', '--kind', 'parcel'], sources);
    expect(rows(parcels.out)).toEqual([all[1]]);
    const one = await escapement(['data', 'dump', 'd', '--address', 'order/1@test'], sources);
    expect(rows(one.out)).toEqual([all[0]]);
  });

  test('adds the history when asked', async () => {
    const { sources } = fake({ store: await orders() });
    const [first] = rows((await escapement(['data', 'dump', 'd', '--history'], sources)).out);
    expect(first.history).toHaveLength(2);
  });

  test('prints undelivered messages instead when asked', async () => {
    const { out } = await escapement(['data', 'dump', 'd', '--undelivered'], fake().sources);
    expect(rows(out)).toEqual([{ id: 'u1', to: 'order/1@test', event: { type: 'x' } }]);
  });

  test('goes on behind a record that cannot be read, and exits 65', async () => {
    const { log, sources } = fake({ store: await orders(), damaged: 'order/1@test' });
    const { code, out } = await escapement(['data', 'dump', 'd'], sources);
    expect(code).toBe(65);
    expect(rows(out)[0]).toMatchObject({ error: 'order/1@test is damaged.' });
    expect(rows(out)[1]).toMatchObject({ address: 'parcel/1@test' });
    expect(log.at(-1)).toBe('closed');
  });
});

describe('verify', () => {
  test('exits 0 when nothing is wrong', async () => {
    const { log, sources } = fake();
    expect(await escapement(['data', 'verify', 'd'], sources)).toEqual({
      code: 0,
      out: 'OK, 10,000 records checked\n',
      err: '',
    });
    expect(log[0]).toBe('d verify');
  });

  test('exits 65 with the list when something is', async () => {
    const problems = [
      { address: 'order/1@test', problem: 'wrong checksum\u0007' },
      { address: null, problem: 'a record is missing' },
    ];
    const { sources } = fake({ problems });
    const { code, out } = await escapement(['data', 'verify', 'd'], sources);
    expect(code).toBe(65);
    expect(out).toBe(
      'BAD: 2 problems, 10,000 records checked\n  order/1@test: wrong checksum\\u0007\n  the store: a record is missing\n',
    );
    const json = await escapement(['data', 'verify', 'd', '--json'], sources);
    expect(JSON.parse(json.out)).toEqual({ records: 10_000, problems });
  });
});

describe('compact', () => {
  test('says the size before and after', async () => {
    const { log, sources } = fake();
    const { code, out } = await escapement(['data', 'compact', 'd'], sources);
    expect([code, out]).toEqual([0, '5.0 MiB → 2.0 KiB\n']);
    expect(log).toEqual(['d compact', 'closed']);
  });

  test('exits 73 while a node has the directory', async () => {
    const { sources } = fake({ isLocked: true });
    const { code, out, err } = await escapement(['data', 'compact', 'd'], sources);
    expect([code, out, err]).toEqual([73, '', 'error: Process 42 has it.\n']);
  });
});
