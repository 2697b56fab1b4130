/**
 * Records that are whole and make no sense: their actors are refused, their neighbours work.
 */

import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { commitAll, group, write } from '../contracts/store-groups.ts';
import { codeOf } from '../engine/outcomes.ts';
import { fillDirectory, orderMachine, PLACE } from './filled-directory.ts';
import { newFolder } from './folders.ts';

const VICTIM = 'order/1';
const NEIGHBOURS = ['order/0', 'order/2', 'order/10'];

const FOREIGN = 'xstate.after.limit.order.gone';

type Stored = { snapshot: Record<string, unknown>; timers?: unknown } & Record<string, unknown>;

let pristine: string;

beforeAll(async () => {
  const directory = join(newFolder('unfit'), 'data');
  await fillDirectory(directory, 12);
  const store = lmdbStore(directory);
  await store.open(PLACE);
  pristine = store.load(`${VICTIM}@${PLACE}`) as string;
  await store.close();
});

/** A directory in which the record of one actor was changed, and everything about it is in order. */
async function withRecord(record: string): Promise<string> {
  const directory = join(newFolder('unfit'), 'data');
  await fillDirectory(directory, 12);
  const store = lmdbStore(directory);
  await store.open(PLACE);
  const fence = store.fence(PLACE) + 1;
  const writes = [write(`${VICTIM}@${PLACE}`, record)];
  expect(await commitAll(store, group(writes, { shard: PLACE, fence }))).toEqual([undefined]);
  await store.close();
  return directory;
}

function changed(change: (stored: Stored) => void): string {
  const stored = JSON.parse(pristine) as Stored;
  change(stored);
  return JSON.stringify(stored);
}

async function outcomesIn(directory: string): Promise<{ victim: string[]; neighbours: string[] }> {
  const runtime = await createRuntime({
    place: PLACE,
    store: lmdbStore(directory),
    kinds: { order: orderMachine },
    telemetry: false,
  });
  const add = (address: string) =>
    codeOf(runtime.actor(address as 'order/1').send({ type: 'order.add', item: 'new' }));
  const victim = [await add(VICTIM), await add(VICTIM)];
  const neighbours = await Promise.all(NEIGHBOURS.map(add));
  await runtime.stop();
  return { victim, neighbours };
}

const TAKEN = NEIGHBOURS.map(() => 'taken');

describe('an actor is refused, and its neighbours are not,', () => {
  test.each<[string, string, () => string]>([
    [
      'whose status is impossible',
      'RECORD_INVALID',
      () => changed((stored) => Object.assign(stored, { status: 'asleep' })),
    ],
    [
      'whose snapshot has an impossible status',
      'RECORD_INVALID',
      () => changed(({ snapshot }) => Object.assign(snapshot, { status: 'asleep' })),
    ],
    [
      'that is in a state its machine does not have',
      'RECORD_INVALID',
      () => changed(({ snapshot }) => Object.assign(snapshot, { value: 'nowhere' })),
    ],
    [
      'that is in a state of the wrong shape',
      'RECORD_INVALID',
      () => changed(({ snapshot }) => Object.assign(snapshot, { value: { open: 'wide' } })),
    ],
    [
      'whose state is "__proto__"',
      'RECORD_INVALID',
      () => changed(({ snapshot }) => Object.assign(snapshot, { value: '__proto__' })),
    ],
    [
      'whose state has a child "__proto__"',
      'RECORD_INVALID',
      () => pristine.replace('"value":"open"', '"value":{"__proto__":{"wide":"open"}}'),
    ],
    [
      'whose state is "constructor"',
      'RECORD_INVALID',
      () => changed(({ snapshot }) => Object.assign(snapshot, { value: 'constructor' })),
    ],
    [
      'with a child that its machine cannot start',
      'RECORD_INVALID',
      () =>
        changed(({ snapshot }) =>
          Object.assign(snapshot, {
            children: {
              ghost: { src: 'ghost', snapshot: { status: 'active' }, syncSnapshot: false },
            },
          }),
        ),
    ],
    [
      'that waits for a deadline of a state it is not in',
      'RECORD_INVALID',
      () => changed((stored) => Object.assign(stored, { timers: [[FOREIGN, 1]] })),
    ],
    [
      'without a snapshot',
      'RECORD_INVALID',
      () => changed((stored) => Object.assign(stored, { snapshot: null })),
    ],
    [
      'of another kind',
      'RECORD_INVALID',
      () => changed((stored) => Object.assign(stored, { kind: 'invoice' })),
    ],
    [
      'with deadlines that are none',
      'RECORD_INVALID',
      () => changed((stored) => Object.assign(stored, { timers: [['x', 'soon']] })),
    ],
    ['whose record is no JSON', 'RECORD_INVALID', () => pristine.slice(0, -1)],
    ['whose record is empty', 'RECORD_INVALID', () => ''],
    [
      'of a newer version',
      'RECORD_NEWER',
      () => changed((stored) => Object.assign(stored, { version: 2 })),
    ],
    [
      'in a newer form',
      'RECORD_NEWER',
      () => changed((stored) => Object.assign(stored, { format: 99 })),
    ],
  ])('%s: %s', async (_, code, record) => {
    const directory = await withRecord(record());
    expect(await outcomesIn(directory)).toEqual({ victim: [code, code], neighbours: TAKEN });
    expect(({} as Record<string, unknown>)['wide']).toBeUndefined();
    // The record is left as it was found.
    const store = lmdbStore(directory, { isStrict: true });
    await store.open(PLACE);
    expect(store.load(`${VICTIM}@${PLACE}`)).toBe(record());
    await store.close();
  });

  test('and an untouched record is taken', async () => {
    const directory = await withRecord(pristine);
    expect(await outcomesIn(directory)).toEqual({ victim: ['taken', 'taken'], neighbours: TAKEN });
  });
});
