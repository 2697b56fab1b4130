/**
 * References to actors of a tree, wherever a machine may hold them: what is sent by them is taken as
 * XState takes it, in turns that are stored, or is refused with an error that has a code.
 */

import { describe, expect, test } from 'vitest';
import { type AnyActorRef, assign } from 'xstate';
import { testRuntime } from '../../simulator/testing.ts';
import { underRuntime, underXState } from './beside-xstate.ts';
import { type Any, counted, givenReferences, plain, worker } from './reference-cases.ts';
import { keptReferences } from './reference-cases-kept.ts';

const cases = { ...givenReferences, ...keptReferences };

describe.each(Object.entries(cases))('%s', (_, { make, steps, hasActing, isGreeting }) => {
  test('is as under XState', async () => {
    const warned: string[] = [];
    const seen = await underRuntime(make, steps, { warned });
    expect(seen).toEqual(await underXState(make, steps));
    expect(warned.filter((text) => !text.includes('refused'))).toEqual([]);
  });

  test('is as under XState with a crash after every step', async () => {
    const { states, log } = await underRuntime(make, steps, { crashes: true });
    const expected = await underXState(make, steps);
    if (!hasActing) expect(log).toEqual(expected.log);
    expect(states).toEqual(isGreeting ? greetedAgain(expected.states) : expected.states);
  });
});

/** What is counted has risen by one with every crash; each came before a look. */
function greetedAgain(states: readonly unknown[]): unknown[] {
  return states.map((state, index) =>
    JSON.parse(JSON.stringify(state), (key, value) => (key === 'n' ? value + index + 1 : value)),
  );
}

describe('code that looked at a snapshot', () => {
  const kid = worker([]);
  const machine = plain(
    {
      context: { n: 0 },
      invoke: { src: 'kid', id: 'kid' },
      on: { WORKER_OVER: { actions: counted } },
    },
    { kid },
  );
  const stateOf = (actor: { getSnapshot(): Any }) =>
    actor.getSnapshot().children.kid.getSnapshot().value;

  test('sends to a child in a turn of its own, which outlives a crash', async () => {
    const runtime = await testRuntime({ kinds: { machine } });
    const actor = await runtime.spawn('machine/1');
    (actor.getSnapshot().children as Any).kid.send({ type: 'GO' });
    expect(stateOf(actor)).toBe('idle');
    await runtime.settle();
    await runtime.crash();
    expect(stateOf(actor)).toBe('busy');
    await runtime.advance(60);
    expect(stateOf(actor)).toBe('over');
    expect(actor.getSnapshot().context).toEqual({ n: 1 });
    await runtime.stop();
  });

  test('is refused what nobody may send, and after the runtime has ended', async () => {
    const runtime = await testRuntime({ kinds: { machine } });
    const actor = await runtime.spawn('machine/1');
    const child = (actor.getSnapshot().children as Any).kid as AnyActorRef;
    expect(() => child.send({ type: 'xstate.stop' })).toThrow(/EVENT_RESERVED|come from inside/);
    expect(() => child.send('GO' as never)).toThrow(/An event is an object/);
    await runtime.stop();
    expect(() => child.send({ type: 'GO' })).toThrow(/stopped/);
  });

  test('reaches a child through a reference from before a failed turn', async () => {
    const failing = plain(
      {
        context: { n: 0 },
        invoke: { src: 'kid', id: 'kid' },
        on: {
          FAIL: {
            actions: assign(() => {
              throw new Error('no');
            }),
          },
          WORKER_OVER: { actions: counted },
        },
      },
      { kid },
    );
    const runtime = await testRuntime({ kinds: { machine: failing } });
    const actor = await runtime.spawn('machine/1');
    const child = (actor.getSnapshot().children as Any).kid as AnyActorRef;
    await expect(actor.send({ type: 'FAIL' })).rejects.toMatchObject({ code: 'TURN_FAILED' });
    child.send({ type: 'GO' });
    await runtime.advance(60);
    expect(stateOf(actor)).toBe('over');
    await runtime.stop();
  });
});
