/** An actor that begins again by supervision: what its first life left behind, and what its second sends. */

import { expect, test } from 'vitest';
import { assign, fromPromise, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { listener } from './talkers.ts';

async function start() {
  const runs: Array<(output: unknown) => void> = [];
  const charged: string[] = [];
  const restless = setup({
    types: { context: {} as { result: unknown } },
    actors: { work: fromPromise(() => new Promise((resolve) => runs.push(resolve))) },
    actions: { charge: () => {} },
  }).createMachine({
    context: { result: null },
    entry: [
      sendTo(() => to('listener/l'), { type: 'heard', from: 'restless', number: 1 }),
      'charge',
    ],
    invoke: {
      src: 'work',
      onDone: { actions: assign({ result: ({ event }) => event.output }) },
    },
    on: {
      fail: {
        actions: assign(() => {
          throw new Error('enough');
        }),
      },
    },
  });
  const store = memoryStore();
  const commit = store.commit.bind(store);
  const held: Array<() => void> = [];
  const hold: { isOn: boolean } = { isOn: false };
  store.commit = (group, settle) => {
    if (hold.isOn) held.push(() => commit(group, settle));
    else commit(group, settle);
  };
  const rt = await testRuntime({
    kinds: { restless, listener },
    store,
    options: {
      restless: {
        supervise: { onFailure: 'restart' },
        perform: {
          charge: { durable: true, run: ({ effectId }) => void charged.push(effectId) },
        },
      },
    },
  });
  await rt.spawn('listener/l');
  const actor = await rt.spawn('restless/1');
  await rt.settle();
  const release = async () => {
    hold.isOn = false;
    for (const go of held.splice(0)) go();
    await rt.settle();
  };
  return { rt, actor, runs, charged, hold, release };
}

test('what a child of the first life gives reaches no child of the second', async () => {
  const { rt, actor, runs, hold, release } = await start();
  hold.isOn = true;
  void actor.send({ type: 'fail' }).catch(() => {});
  await rt.settle();
  runs[0]?.('from the first life');
  await release();
  expect(runs).toHaveLength(2);
  expect(actor.getSnapshot().context.result).toBeNull();
  runs[1]?.('from the second');
  await rt.settle();
  expect(actor.getSnapshot().context.result).toBe('from the second');
});

test('what the second life sends and asks for at its birth is carried out like that of the first', async () => {
  const { rt, actor, charged } = await start();
  await expect(actor.send({ type: 'fail' })).rejects.toMatchObject({ code: 'TURN_FAILED' });
  await rt.settle();
  expect(rt.actor('listener/l').getSnapshot().context.heard).toEqual({ restless: [1, 1] });
  expect(charged).toHaveLength(2);
  expect(new Set(charged).size).toBe(2);
  expect(rt.store.load('restless/1@test')).not.toMatch(/"outbox"|"effects"/);
});
