/** Releases of a machine that follow each other over the records of one LMDB directory, forwards and back. */

import { expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { codeOfThrown } from '../engine/outcomes.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

const LIMIT_MS = 3_600_000;

const parcelOld = setup({
  types: { context: {} as { stops: number }, events: {} as { type: 'parcel.scan' } },
  delays: { limit: LIMIT_MS },
}).createMachine({
  id: 'parcel',
  context: { stops: 0 },
  initial: 'moving',
  states: {
    moving: {
      on: { 'parcel.scan': { actions: assign({ stops: ({ context }) => context.stops + 1 }) } },
      after: { limit: 'lost' },
    },
    lost: {},
  },
});

/** `moving` is called `underWay`, and the number of stops has become a list of them. */
const parcelNew = setup({
  types: {
    context: {} as { scans: string[] },
    events: {} as { type: 'parcel.scan' } | { type: 'parcel.deliver' },
  },
  delays: { limit: LIMIT_MS },
}).createMachine({
  id: 'parcel',
  context: { scans: [] },
  initial: 'underWay',
  states: {
    underWay: {
      on: {
        'parcel.scan': { actions: assign({ scans: ({ context }) => [...context.scans, 'new'] }) },
        'parcel.deliver': 'delivered',
      },
      after: { limit: 'lost' },
    },
    delivered: {},
    lost: {},
  },
});

const migrated: string[] = [];

const NEW_RELEASE = {
  version: 2,
  migrate: {
    2: ({ snapshot, timers }: MigratedState): MigratedState => {
      const { value, context, ...rest } = snapshot as { value: string; context: { stops: number } };
      migrated.push(value);
      return {
        snapshot: {
          ...rest,
          value: value === 'moving' ? 'underWay' : value,
          context: { scans: Array(context.stops).fill('old') },
        },
        timers: timers.map(({ id, dueAt }) => ({ id: id.replace('moving', 'underWay'), dueAt })),
      };
    },
  },
};

const OLD = { kinds: { parcel: parcelOld }, options: { parcel: { version: 1 } } };
/** For a harness that knows the old machine: it is replaced like a process by its next release. */
const NEW = { kinds: { parcel: parcelNew }, options: { parcel: NEW_RELEASE } } as never;

async function startOld() {
  const nodes = new RecoveryNodes();
  const node = await nodes.start(OLD);
  const startedAt = nodes.clock.now();
  for (const key of ['a', 'b', 'c']) await nodes.during(node.rt.spawn(`parcel/${key}`));
  await nodes.during(node.rt.actor('parcel/a').send({ type: 'parcel.scan' }));
  migrated.length = 0;
  const scan = (key: string) =>
    nodes.during(node.rt.actor(`parcel/${key}`).send({ type: 'parcel.scan' }));
  const stored = (key: string) => JSON.parse(node.store.load(`parcel/${key}@node`) ?? '{}');
  const snapshot = (key: string): { value: unknown; context: unknown } =>
    node.rt.actor(`parcel/${key}`).getSnapshot();
  return { nodes, node, startedAt, scan, stored, snapshot };
}

test('records of the version before are migrated when their actor is needed, one by one', async () => {
  const { nodes, node, startedAt, scan, stored, snapshot } = await startOld();
  await nodes.advance('10m');
  await node.restart(NEW);
  expect(migrated).toEqual([]);
  expect(node.runtime.counts()).toMatchObject({ live: 0, deadlines: 3 });
  await scan('a');
  expect(migrated).toHaveLength(1);
  expect(snapshot('a')).toMatchObject({ value: 'underWay', context: { scans: ['old', 'new'] } });
  expect([stored('a').version, stored('b').version]).toEqual([2, 1]);
  // Its deadline kept its moment under its new name, and those of the others need no migration to come.
  await nodes.advance(LIMIT_MS);
  for (const key of ['a', 'b', 'c']) {
    expect(snapshot(key).value).toBe('lost');
    expect(node.runtime.history(`parcel/${key}`).at(-1)).toMatchObject({
      event: 'xstate.after.limit.parcel.underWay',
      at: startedAt + LIMIT_MS,
      dueAt: startedAt + LIMIT_MS,
    });
  }
  expect(migrated).toEqual(['moving', 'moving', 'moving']);
});

test('an older release refuses what a newer one wrote, that actor alone, and nothing is lost by it', async () => {
  const { nodes, node, startedAt, scan, stored, snapshot } = await startOld();
  await node.restart(NEW);
  await scan('a');
  const written = node.store.load('parcel/a@node');
  const warnings: string[] = [];
  const error: Logger['error'] = (fields) => {
    warnings.push((fields as { address?: string }).address ?? '');
  };
  const logger: Logger = { debug() {}, info() {}, warn() {}, error };
  await node.restart({ ...OLD, logger });

  // The record that was written by the newer release is left alone, whatever comes for it.
  await expect(scan('a')).rejects.toMatchObject({
    code: 'RECORD_NEWER',
    retryable: false,
    address: 'parcel/a@node',
  });
  expect(codeOfThrown(() => snapshot('a'))).toBe('RECORD_NEWER');
  await expect(node.rt.explain('parcel/a')).rejects.toMatchObject({ code: 'RECORD_NEWER' });
  await scan('b');
  expect(snapshot('b').context).toEqual({ stops: 1 });
  expect(node.runtime.query({ kind: 'parcel' }).actors).toHaveLength(3);
  await nodes.advance(LIMIT_MS);
  expect([snapshot('b').value, snapshot('c').value]).toEqual(['lost', 'lost']);
  expect(warnings).toEqual(['parcel/a@node']);
  expect(node.store.load('parcel/a@node')).toBe(written);

  // Its deadline has passed meanwhile: the newer release finds it, and with its own moment.
  await node.restart(NEW);
  expect(snapshot('a')).toMatchObject({ value: 'lost', context: { scans: ['old', 'new'] } });
  expect(node.runtime.history('parcel/a').at(-1)).toMatchObject({
    at: startedAt + LIMIT_MS,
    dueAt: startedAt + LIMIT_MS,
    state: 'lost',
  });
  expect(snapshot('b')).toMatchObject({ value: 'lost', context: { scans: ['old'] } });
  expect(stored('a').version).toBe(2);
});
