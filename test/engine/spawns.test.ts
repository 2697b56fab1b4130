/** Spawns that fail leave nothing behind, not even where somebody lived before. */

import { expect, test } from 'vitest';
import { enqueueActions, raise, setup } from 'xstate';
import { spawnRoot, to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { codeOf, during } from './outcomes.ts';

const listMachine = setup({}).createMachine({ on: { x: {} } });

test('a birth that fails leaves nothing, at a new address and at an old one', async () => {
  const failing = setup({
    types: {
      context: {} as { how: string },
      input: {} as { how: string },
      events: {} as { type: 'end' },
    },
  }).createMachine({
    context: ({ input }) => {
      if (input.how === 'context') throw new Error('no context');
      return { how: input.how };
    },
    entry: [
      enqueueActions(({ context, enqueue }) => {
        if (context.how === 'entry') throw new Error('no entry');
        if (context.how === 'address') enqueue.sendTo(to('nowhere'), { type: 'x' });
        if (context.how === 'outbox')
          for (let each = 0; each < 11; each += 1) enqueue.sendTo(to('list/1'), { type: 'x' });
      }),
      spawnRoot('list/born'),
      raise({ type: 'end' }, { delay: 100 }),
    ],
    initial: 'going',
    states: { going: { on: { end: 'ended' } }, ended: { type: 'final' } },
  });
  const rt = await testRuntime({
    kinds: { failing, list: listMachine },
    limits: { outboxMax: 10 },
  });
  const ways = [
    ['context', 'BIRTH_FAILED'],
    ['entry', 'BIRTH_FAILED'],
    ['address', 'ADDRESS_MALFORMED'],
    ['outbox', 'OUTBOX_FULL'],
  ] as const;
  for (const [how, code] of ways)
    expect(await during(rt, codeOf(rt.runtime.spawn('failing/1', { input: { how } })))).toBe(code);
  expect(rt.runtime.query().actors).toEqual([]);
  expect(rt.runtime.counts()).toMatchObject({ live: 0, deadlines: 0 });
  expect(await codeOf(rt.actor('failing/1').send({ type: 'end' }))).toBe('ACTOR_UNKNOWN');

  await rt.spawn('failing/1', { input: { how: 'not' } });
  await rt.advance('1s');
  const ended = rt.store.load('failing/1@test');
  for (const [how, code] of ways)
    expect(await during(rt, codeOf(rt.runtime.spawn('failing/1', { input: { how } })))).toBe(code);
  expect(rt.store.load('failing/1@test')).toBe(ended);
  expect(await codeOf(rt.actor('failing/1').send({ type: 'end' }))).toBe('ACTOR_ENDED');
  await rt.spawn('failing/1', { input: { how: 'not' } });
  expect(rt.actor('failing/1').getSnapshot().status).toBe('active');
});
