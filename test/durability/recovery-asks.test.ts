/** Calls that wait for an answer while a node on LMDB dies: each ends, and in the way it says. */

import { expect, test } from 'vitest';
import { NO_FAULTS } from '../delivery/lossy-network.ts';
import { listener, speaker } from '../delivery/talkers.ts';
import { codeOf } from '../engine/outcomes.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

const KINDS = { speaker, listener };
const TARGET = 'listener/l@there';

async function start() {
  const nodes = new RecoveryNodes();
  const asker = await nodes.start({ kinds: KINDS, node: 'here' });
  const answerer = await nodes.start({ kinds: KINDS, node: 'there' });
  await nodes.during(answerer.rt.spawn('listener/l'));
  await nodes.during(answerer.rt.actor('listener/l').send({ type: 'heard', from: 'x', number: 1 }));
  return { nodes, asker, answerer };
}

test('anybody who asks or sends on the node that dies is told at once', async () => {
  const { nodes, answerer } = await start();
  answerer.dieLater({ heardMax: 0, lastWords: 'written' });
  const one = answerer.rt.runtime.actor('listener/l');
  const calls = [
    codeOf(one.ask({ type: 'count' })),
    codeOf(one.send({ type: 'heard', from: 'x', number: 2 })),
    codeOf(answerer.rt.runtime.spawn('listener/new')),
  ];
  await nodes.settle();
  await answerer.die();
  for (const code of await Promise.all(calls))
    expect(['RUNTIME_STOPPED', 'NOT_HOSTED']).toContain(code);
  expect(await codeOf(one.ask({ type: 'count' }))).toBe('RUNTIME_STOPPED');
  expect(await codeOf(one.send({ type: 'end' }))).toBe('RUNTIME_STOPPED');
});

test('a question to a node that dies before it took it is answered when it is back', async () => {
  const { nodes, asker, answerer } = await start();
  answerer.dieLater({ heardMax: 0, lastWords: 'lost' });
  const asked = asker.rt.actor(TARGET).ask({ type: 'count' }, { timeoutMs: 60_000 });
  await nodes.settle();
  await answerer.restart();
  await nodes.advance('10s');
  expect(await asked).toBe(1);
});

test('a question whose answer died with its node is lost at once, and was taken once', async () => {
  const { nodes, asker, answerer } = await start();
  answerer.dieLater({ heardMax: 0, lastWords: 'written' });
  const asked = codeOf(asker.rt.actor(TARGET).ask({ type: 'count' }, { timeoutMs: 60_000 }));
  await nodes.settle();
  await answerer.restart();
  await nodes.advance('1s');
  expect(await asked).toBe('ASK_LOST');
  expect(asker.runtime.counts()).toMatchObject({ asks: 0, underWay: 0 });
  const counts = answerer.runtime.history('listener/l').filter(({ event }) => event === 'count');
  expect(counts).toHaveLength(1);
});

test('a question that nobody will answer is refused, and leaves nothing when its node ends', async () => {
  const { nodes, asker, answerer } = await start();
  const event = { type: 'heard', from: 'x', number: 2 } as const;
  const asked = [answerer.rt.actor('listener/l'), asker.rt.actor(TARGET)].map((one) =>
    codeOf(one.ask(event, { timeoutMs: 60_000 })),
  );
  await nodes.settle();
  expect(answerer.rt.actor('listener/l').getSnapshot().context.heard).toEqual({ x: [1, 2, 2] });
  await Promise.all([asker.die(), answerer.die()]);
  expect(await Promise.all(asked)).toEqual(['ASK_UNANSWERED', 'ASK_UNANSWERED']);
});

test('a question whose asker dies is answered to nobody, also not to the next one of its node', async () => {
  const { nodes, asker, answerer } = await start();
  // The question arrives at once, and whatever comes after it later.
  nodes.network.filter = () => {
    nodes.network.faults = { lost: 0, doubled: 0, delayMaxMs: 20_000 };
    return true;
  };
  const asked = codeOf(asker.rt.actor(TARGET).ask({ type: 'count' }));
  await nodes.settle();
  expect(answerer.runtime.history('listener/l').at(-1)?.event).toBe('count');
  await asker.die();
  expect(await asked).toBe('RUNTIME_STOPPED');
  // The answer arrives at a process that has a question of its own, to which there is none.
  nodes.network.filter = () => true;
  nodes.network.faults = NO_FAULTS;
  await asker.comeBack();
  const event = { type: 'heard', from: 'x', number: 2 } as const;
  const again = codeOf(asker.rt.actor(TARGET).ask(event, { timeoutMs: 60_000 }));
  await nodes.advance('60s');
  expect(await again).toBe('ASK_UNANSWERED');
  expect(await nodes.during(asker.rt.actor(TARGET).ask({ type: 'count' }))).toBe(2);
});

test('a send to a node that died after its commit resolves when it is back; it was taken once', async () => {
  const { nodes, asker, answerer } = await start();
  answerer.dieLater({ heardMax: 0, lastWords: 'written' });
  const sent = codeOf(asker.rt.actor(TARGET).send({ type: 'heard', from: 'x', number: 2 }));
  await nodes.advance('10s');
  await answerer.restart();
  await nodes.advance('1m');
  expect(await sent).toBe('taken');
  expect(answerer.rt.actor('listener/l').getSnapshot().context.heard).toEqual({ x: [1, 2] });
});

test('a send with an id that is repeated after the death is taken once', async () => {
  const { nodes, answerer } = await start();
  for (const lastWords of ['written', 'lost'] as const) {
    const event = { type: 'heard', from: lastWords, number: 1 } as const;
    answerer.dieLater({ heardMax: 0, lastWords });
    const sent = codeOf(answerer.rt.actor('listener/l').send(event, { id: lastWords }));
    await nodes.settle();
    await answerer.restart();
    expect(await sent).toBe('NOT_HOSTED');
    await nodes.during(answerer.rt.actor('listener/l').send(event, { id: lastWords }));
    await nodes.during(answerer.rt.actor('listener/l').send(event, { id: lastWords }));
  }
  const { heard } = answerer.rt.actor('listener/l').getSnapshot().context;
  expect(heard).toEqual({ x: [1], written: [1], lost: [1] });
});
