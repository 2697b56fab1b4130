/** Handles as XState's tools see them: snapshots, emitted events and the end. */

import { expect, test } from 'vitest';
import { assign, emit, setup, toPromise, waitFor } from 'xstate';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

const counter = setup({
  types: {
    context: {} as { count: number },
    events: {} as { type: 'inc' } | { type: 'end' } | { type: 'fail' } | { type: 'ring' },
    emitted: {} as { type: 'rang'; count: number },
    output: {} as number,
  },
}).createMachine({
  id: 'counter',
  context: { count: 0 },
  initial: 'counting',
  on: {
    inc: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    ring: { actions: emit(({ context }) => ({ type: 'rang', count: context.count })) },
    end: '.ended',
    fail: {
      actions: assign(() => {
        throw new Error('broken');
      }),
    },
  },
  states: { counting: {}, ended: { type: 'final' } },
  output: ({ context }) => context.count,
});

async function start(onFailure: 'skip' | 'stop' = 'skip') {
  const rt = await testRuntime({
    kinds: { counter },
    options: { counter: { supervise: { onFailure } } },
  });
  const actor = await rt.spawn('counter/1');
  const seen: unknown[] = [];
  const observer = {
    next: (snapshot: { context: { count: number } }) => seen.push(snapshot.context.count),
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  };
  return { rt, actor, seen, observer };
}

test('an observer sees each committed snapshot and the end', async () => {
  const { actor, seen, observer } = await start();
  actor.subscribe(observer);
  await actor.send({ type: 'inc' });
  await actor.send({ type: 'inc' });
  await actor.send({ type: 'end' });
  expect(seen).toEqual([1, 2, 2, 'complete']);
});

test('an observer of an actor that is stopped hears why', async () => {
  const { actor, seen, observer } = await start('stop');
  actor.subscribe(observer);
  await actor.send({ type: 'fail' }).catch(() => {});
  expect(seen.at(-1)).toMatchObject({ code: 'TURN_FAILED' });
  expect(seen).not.toContain('complete');
});

test('one who comes after the end hears of it at once', async () => {
  const { rt, actor, seen, observer } = await start();
  await actor.send({ type: 'end' });
  actor.subscribe(observer);
  expect(seen).toEqual(['complete']);
  expect(await toPromise(actor)).toBe(0);
  await rt.crash();
  expect(await toPromise(rt.actor('counter/1'))).toBe(0);
  const never = waitFor(actor, ({ context }) => context.count > 5);
  await expect(never).rejects.toThrow(/terminated/);
});

test('one who comes while the end is being told misses nothing of it', async () => {
  const { rt, actor, seen, observer } = await start();
  const other = await rt.spawn('counter/2');
  // Both turns are in one group: the other's effects leave before the end is visible.
  other.on('rang', () => actor.subscribe(observer));
  await Promise.all([other.send({ type: 'ring' }), actor.send({ type: 'end' })]);
  expect(seen).toEqual([0, 'complete']);
});

test('and of an actor that was stopped, with the reason', async () => {
  const { actor } = await start('stop');
  await actor.send({ type: 'fail' }).catch(() => {});
  await expect(toPromise(actor)).rejects.toMatchObject({ code: 'ACTOR_ENDED' });
});

test('XState’s waitFor and toPromise work on handles', async () => {
  const { actor } = await start();
  const two = waitFor(actor, ({ context }) => context.count === 2);
  const output = toPromise(actor);
  await actor.send({ type: 'inc' });
  await actor.send({ type: 'inc' });
  expect((await two).context.count).toBe(2);
  await actor.send({ type: 'end' });
  expect(await output).toBe(2);
});

test('emitted events reach those who listen for them, after the commit', async () => {
  const { actor } = await start();
  const heard: unknown[] = [];
  const listening = actor.on('rang', (event) => heard.push(event.count));
  actor.on('*', ({ type }) => heard.push(type));
  actor.on('other' as never, () => heard.push('never'));
  await actor.send({ type: 'ring' });
  listening.unsubscribe();
  await actor.send({ type: 'ring' });
  expect(heard).toEqual([0, 'rang', 'rang']);
});

test('unsubscribing inside a callback is heard at once; the others go on', async () => {
  const { actor, seen, observer } = await start();
  const once = actor.subscribe({
    next: () => {
      seen.push('once');
      once.unsubscribe();
      later.unsubscribe();
    },
    complete: () => seen.push('once complete'),
  });
  const later = actor.subscribe(() => seen.push('later'));
  actor.subscribe(observer);
  await actor.send({ type: 'end' });
  expect(seen).toEqual(['once', 0, 'complete']);
});

test('an observer that throws harms neither the others nor the actor', async () => {
  const { actor, seen, observer } = await start();
  actor.subscribe(() => {
    throw new Error('clumsy');
  });
  actor.on('rang', () => {
    throw null;
  });
  actor.subscribe(observer);
  await actor.send({ type: 'ring' });
  await actor.send({ type: 'inc' });
  expect(seen).toEqual([0, 1]);
});

test('an actor can be watched before it is born, and an address that is used again like a new one', async () => {
  const { rt } = await start();
  const seen: unknown[] = [];
  const next = rt.actor('counter/2');
  next.subscribe({
    next: ({ context }) => seen.push(context.count),
    complete: () => seen.push('complete'),
  });
  await rt.spawn('counter/2');
  await next.send({ type: 'end' });
  await rt.spawn('counter/2');
  next.subscribe(({ context }) => seen.push(`again ${context.count}`));
  await next.send({ type: 'inc' });
  expect(seen).toEqual([0, 0, 'complete', 'again 1']);
});

test('an actor of another node can be fetched and watched; its events are heard where it is', async () => {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const open = (node: string) =>
    testRuntime({ kinds: { counter }, node, clock, transport: () => network.join(node) });
  const [a, b] = [await open('a'), await open('b')];
  await b.spawn('counter/1');
  const far = a.actor('counter/1@b');
  for (const watch of [() => far.getSnapshot(), () => far.on('rang', () => {})])
    expect(watch).toThrow(expect.objectContaining({ code: 'NOT_HOSTED' }));
  const fetched = far.fetchSnapshot();
  await a.settle();
  expect(await fetched).toMatchObject({ context: { count: 0 } });
});
