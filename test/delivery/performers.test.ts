/** Named actions carried out after the commit: with what, in which order, and at most once. */

import { expect, test } from 'vitest';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { type Seen, start } from './shop.ts';

test('a performer gets params, address and an effect id of its own', async () => {
  const seen: Seen[] = [];
  const { actor } = await start({
    charge: ({ params, effectId, attempt, address }: PerformerCall) => {
      seen.push({ params, effectId, attempt });
      expect(address).toBe('shop/1@test');
    },
  });
  await actor.send({ type: 'charge', amount: 1 });
  await actor.send({ type: 'charge', amount: 2 });
  expect(seen.map(({ params }) => params)).toEqual([{ amount: 1 }, { amount: 2 }]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(2);
});

test('an action that is not durable runs at most once, whatever becomes of it', async () => {
  const seen: Seen[] = [];
  const { rt, actor, record } = await start({
    charge: (call: PerformerCall) => {
      seen.push(call);
      throw new Error('no luck');
    },
  });
  await actor.send({ type: 'charge', amount: 1 });
  expect(record().effects).toBeUndefined();
  await rt.advance('1h');
  await rt.crash();
  await rt.advance('1h');
  expect(seen).toHaveLength(1);
  expect(rt.runtime.undelivered()).toEqual([]);
});

test('an inline action runs after the commit and may send to its own actor', async () => {
  const rejections: unknown[] = [];
  const noted = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', noted);
  const { rt, actor } = await start({});
  await actor.send({ type: 'inline' });
  await rt.settle();
  await actor.send({ type: 'inline' });
  await rt.settle();
  expect(actor.getSnapshot().context.got).toEqual([0, 1]);
  await rt.settle();
  process.off('unhandledRejection', noted);
  // What is refused of a send that nobody waits for ends no process.
  expect(rejections).toEqual([]);
});

test('effects are carried out in the order the machine asked for them', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    debug() {},
    warn() {},
    error() {},
    info: (fields) => void ('log' in fields && lines.push(['log', fields.log])),
  };
  const { actor } = await start(
    { print: ({ params }) => void lines.push(params.line) },
    { logger },
  );
  actor.on('rang', () => lines.push('rang'));
  actor.subscribe(() => lines.push('snapshot'));
  await actor.send({ type: 'several' });
  // XState itself lets what is emitted wait for the actions.
  expect(lines).toEqual(['first', ['log', ['in between']], 'last', 'rang', 'snapshot']);
});

test('what throws while a turn is released keeps nothing else of the group back', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    debug() {},
    warn() {},
    error: (fields) => void lines.push(fields),
    info: (fields) => {
      if ('log' in fields) throw new Error('the disk of the log is full');
    },
  };
  const { actor } = await start(
    { print: ({ params }) => void lines.push(params.line) },
    { logger },
  );
  await Promise.all([actor.send({ type: 'several' }), actor.send({ type: 'several' })]);
  expect(lines.filter((line) => typeof line === 'string')).toEqual([
    'first',
    'last',
    'first',
    'last',
  ]);
  expect(lines).toContainEqual({
    address: 'shop/1@test',
    effect: 'log',
    error: 'the disk of the log is full',
  });
});

test('an action that nobody implements is told once', async () => {
  const warned: object[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    error() {},
    warn: (fields) => void warned.push(fields),
  };
  const { actor } = await start({}, { logger });
  await actor.send({ type: 'missing' });
  await actor.send({ type: 'missing' });
  expect(warned.filter((fields) => 'action' in fields)).toEqual([
    { kind: 'shop', action: 'nobody' },
  ]);
});

test('a performer that throws, at once or later, harms nothing', async () => {
  const errors: object[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (fields) => void errors.push(fields),
  };
  const { rt, actor } = await start(
    {
      charge: () => {
        throw null;
      },
      print: async () => {
        throw new Error('later');
      },
    },
    { logger },
  );
  await actor.send({ type: 'charge', amount: 1 });
  await actor.send({ type: 'several' });
  await rt.settle();
  await actor.send({ type: 'charged', number: 1 });
  expect(errors).toHaveLength(3);
  expect(rt.runtime.counts().performers).toBe(0);
});
