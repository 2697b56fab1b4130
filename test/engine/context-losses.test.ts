/** A context that JSON would change is reported while it still works: in tests always, else once per kind. */

import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, assign, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { testRuntime } from '../../simulator/testing.ts';

class Money {
  readonly cents = 42;
}

function keeper(initial: unknown, actors: object = {}, more: object = {}): AnyStateMachine {
  return setup({ actors: actors as never }).createMachine({
    context: { kept: initial } as never,
    on: {
      keep: { actions: assign({ kept: ({ event }: never) => (event as { what: unknown }).what }) },
    },
    ...more,
  } as never) as never;
}

function listener(): { readonly logger: Logger; readonly said: string[] } {
  const said: string[] = [];
  const write = (_: object, text: string): void => void said.push(text);
  return { logger: { debug() {}, info() {}, warn: write, error: write }, said };
}

describe('in a test', () => {
  test.each<[string, unknown, string]>([
    ['a Map', new Map([[1, 2]]), 'context.kept is a Map, which is read as {}'],
    ['a Set', { deep: [new Set()] }, 'context.kept.deep[0] is a Set, which is read as {}'],
    ['a Date', new Date(0), 'context.kept is a Date, which is read as text'],
    ['a class', { price: new Money() }, 'context.kept.price is an object of Money'],
    ['an error', new RangeError('no'), 'context.kept is an object of RangeError'],
    ['a function', { run: () => 1 }, 'context.kept.run is a function'],
    [
      'undefined in an array',
      [1, undefined],
      'context.kept[1] is undefined, which is read as null',
    ],
    // biome-ignore lint/suspicious/noSparseArray: what this is about.
    ['an array with holes', [1, , 2], 'context.kept is an array with holes'],
    ['no number', Number.NaN, 'context.kept is NaN, which is read as null'],
    ['toJSON', { toJSON: () => 1 }, 'context.kept is an object with toJSON'],
  ])('%s is reported at the birth and at every event', async (_, value, words) => {
    const { logger, said } = listener();
    const runtime = await testRuntime({ kinds: { keeper: keeper(value) }, logger });
    const actor = await runtime.spawn('keeper/1');
    await actor.send({ type: 'keep', what: value } as never);
    expect(said).toEqual([expect.stringContaining(words), expect.stringContaining(words)]);
    await runtime.stop();
  });

  test('a handle of another actor is reported, and one of the own tree is not', async () => {
    const { logger, said } = listener();
    const parent = keeper(
      null,
      { kid: keeper(1) },
      {
        context: ({ spawn, self }: never) => ({
          kid: (spawn as (src: string, options: object) => unknown)('kid', { id: 'kid' }),
          self,
        }),
      },
    );
    const runtime = await testRuntime({ kinds: { parent, keeper: keeper(1) }, logger });
    const actor = await runtime.spawn('parent/1');
    expect(said).toEqual([]);
    await actor.send({ type: 'keep', what: await runtime.spawn('keeper/2') } as never);
    expect(said).toEqual([expect.stringContaining('a reference to another actor')]);
    await runtime.stop();
  });

  test('a child machine is looked at too', async () => {
    const { logger, said } = listener();
    const parent = keeper(1, { kid: keeper(new Map()) }, { invoke: { src: 'kid', id: 'kid' } });
    const runtime = await testRuntime({ kinds: { parent }, logger });
    await runtime.spawn('parent/1');
    expect(said).toEqual([expect.stringContaining('context of child kid.kept is a Map')]);
    await runtime.stop();
  });

  test('what JSON keeps is no loss, and a field that is undefined neither', async () => {
    const { logger, said } = listener();
    const plain = { text: 'a', list: [1, { a: null }], none: undefined, bare: Object.create(null) };
    const runtime = await testRuntime({ kinds: { keeper: keeper(plain) }, logger });
    const actor = await runtime.spawn('keeper/1');
    await actor.send({ type: 'keep', what: plain } as never);
    expect(said).toEqual([]);
    await runtime.stop();
  });

  test('without a log a person is told as well', async () => {
    const warned: string[] = [];
    const hear = (warning: Error): void => void warned.push(warning.message);
    process.on('warning', hear);
    const runtime = await testRuntime({ kinds: { keeper: keeper(new Map()) } });
    await runtime.spawn('keeper/1');
    await runtime.stop();
    await expect.poll(() => warned).toEqual([expect.stringContaining('context.kept is a Map')]);
    process.off('warning', hear);
  });
});

test('a runtime reports it once per kind, also where it comes late', async () => {
  const { logger, said } = listener();
  const kinds = { early: keeper(new Date(0)), late: keeper(1) };
  const runtime = await createRuntime({ kinds, logger, telemetry: false });
  for (const key of [1, 2, 3]) {
    const actor = await runtime.spawn(`early/${key}`);
    await actor.send({ type: 'keep', what: new Map() } as never);
  }
  expect(said).toEqual([expect.stringContaining('kind "early"')]);
  const late = await runtime.spawn('late/1');
  for (let turn = 0; turn < 100; turn += 1) await late.send({ type: 'keep', what: turn } as never);
  for (let turn = 0; turn < 40; turn += 1)
    await late.send({ type: 'keep', what: [new Money()] } as never);
  expect(said.slice(1)).toEqual([expect.stringContaining('kind "late"')]);
  await runtime.stop();
});
