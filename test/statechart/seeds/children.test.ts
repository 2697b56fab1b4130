/**
 * Generated parents whose regions invoke children that end at once: machines that are final at spawn or one
 * event later, promises, observables that end early, callbacks that talk as they begin. Several share an id, some
 * have system ids; states are left by history, entered again, gone to by routes; wildcards take what is left.
 * The same under XState and under the runtime, also with a crash after every step.
 *
 * What comes from a child that acts by itself is a turn of its own here and happens within the step there: so
 * events are counted, and move nothing but the region that the child belongs to.
 *
 * Runs 150 cases; CHILDREN_CASES and CHILDREN_SEED change that.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AnyStateMachine,
  assign,
  createMachine,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  sendParent,
  sendTo,
} from 'xstate';
import { type Step, underRuntime, underXState } from '../beside-xstate.ts';
import { type Any, plain } from '../reference-cases.ts';

const CASES = Number(process.env.CHILDREN_CASES ?? 150);
const SEED = Number(process.env.CHILDREN_SEED ?? 20_261_119);

interface Region {
  readonly source: keyof typeof sources;
  readonly isShared: boolean;
  readonly hasSystemId: boolean;
  readonly hasOnError: boolean;
  readonly hasOnSnapshot: boolean;
  readonly onDone: 'stays' | 'goes' | 'inner' | 'none';
  readonly history: 'shallow' | 'deep';
  readonly isBusyAtOnce: boolean;
  readonly items: number;
}

const quick = createMachine({
  context: ({ input }: Any) => ({ n: input.items }),
  initial: 'last',
  states: { last: { type: 'final', entry: sendParent({ type: 'SAID' }) } },
  output: ({ context }: Any) => context.n,
} as never);

const failing = createMachine({
  context: { n: 0 },
  entry: assign(() => {
    throw new Error('at birth');
  }),
} as never);

const lasting = plain({
  context: ({ input }: Any) => ({ n: input.items }),
  initial: 'waiting',
  states: {
    waiting: {
      on: { TELL: { target: 'last', actions: sendParent({ type: 'SAID' }) } },
      after: { 15: 'last' },
    },
    last: { type: 'final' },
  },
  output: ({ context }: Any) => context.n,
});

const sources = {
  quick,
  failing,
  lasting,
  promise: fromPromise(async ({ input }: Any) => input.items),
  refusal: fromPromise(async ({ input }: Any) => {
    throw `no ${input.items}`;
  }),
  observable: fromObservable(({ input }: Any) => ({
    subscribe(observer: Any) {
      for (let item = 1; item <= input.items; item += 1) observer.next(item);
      observer.complete();
      return { unsubscribe() {} };
    },
  })),
  broken: fromObservable(() => ({
    subscribe(observer: Any) {
      observer.next(1);
      observer.error('broken');
      return { unsubscribe() {} };
    },
  })),
  callback: fromCallback(({ sendBack, receive }: Any) => {
    receive(({ type }: Any) => sendBack({ type: `HEARD.${type}` }));
  }),
  reducer: fromTransition(
    (state: Any) => ({ n: state.n + 1 }),
    ({ input }: Any) => ({ n: input.items }),
  ),
};

const region: fc.Arbitrary<Region> = fc.record({
  source: fc.constantFrom(...(Object.keys(sources) as Array<keyof typeof sources>)),
  isShared: fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
  hasSystemId: fc.boolean(),
  hasOnError: fc.integer({ min: 0, max: 3 }).map((die) => die > 0),
  hasOnSnapshot: fc.boolean(),
  onDone: fc.constantFrom('stays', 'goes', 'inner', 'none'),
  history: fc.constantFrom('shallow', 'deep'),
  isBusyAtOnce: fc.boolean(),
  items: fc.nat(3),
});

const count = (by: number): Any => assign({ n: ({ context }: Any) => context.n + by });

function regionOf(spec: Region, index: number): object {
  const { source, isShared, hasOnSnapshot, hasSystemId, history } = spec;
  const id = isShared ? 'shared' : `c${index}`;
  // Which of two that share an id ends first may differ, so none of them moves a region.
  const onDone = isShared ? 'stays' : spec.onDone;
  const hasOnError = spec.hasOnError && !isShared;
  const heard = assign({
    n: ({ context, event }: Any) =>
      context.n + 1_000 + (Number.isInteger(event.output) ? event.output : 7),
  } as never);
  const onward = { stays: {}, none: {}, goes: { target: 'over' }, inner: { target: 'busy' } };
  return {
    initial: spec.isBusyAtOnce ? 'busy' : 'idle',
    states: {
      idle: { on: { [`GO.${index}`]: 'busy' } },
      busy: {
        id: `busy${index}`,
        route: {},
        initial: 'first',
        states: {
          first: { on: { NEXT: 'second' } },
          second: { id: `second${index}`, route: {} },
          last: { type: 'history', history },
        },
        invoke: {
          src: source,
          id,
          input: { items: spec.items },
          ...(hasSystemId ? { systemId: `key${index}` } : {}),
          ...(onDone === 'none' ? {} : { onDone: { ...onward[onDone], actions: heard } }),
          ...(hasOnError ? { onError: { target: 'failed', actions: heard } } : {}),
          ...(hasOnSnapshot ? { onSnapshot: { actions: count(1) } } : {}),
        },
        on: { HOLD: 'held', 'AGAIN.*': { target: 'busy', reenter: true } },
      },
      held: { on: { BACK: `busy.last` } },
      over: {},
      failed: {},
    },
  };
}

function build({ regions }: { readonly regions: readonly Region[] }): AnyStateMachine {
  const tell = (args: Any): Any =>
    args.system.get('key0') ?? args.self.getSnapshot().children.c1 ?? args.self;
  return plain(
    {
      id: 'm',
      context: { n: 0 },
      type: 'parallel',
      states: Object.fromEntries(
        regions.map((each, index) => [`r${index}`, regionOf(each, index)]),
      ),
      on: {
        SAID: { actions: count(10) },
        'HEARD.*': { actions: count(100) },
        TELL: { actions: sendTo(tell, { type: 'TELL', ttl: 1 } as never), guard: isFresh },
        '*': { actions: count(10_000) },
      },
    },
    sources,
  );
}

/** To oneself it is sent once. */
function isFresh({ event }: Any): boolean {
  return event.ttl === undefined;
}

/** What has to come up in the states of some case, so that the comparison is worth something. */
const SIGNS = [/"over"/, /"failed"/, /"held"/, /"second"/, /"shared"/];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GO.0', 'GO.1', 'GO.2', 'TELL', 'NEXT', 'HOLD', 'BACK') },
  { weight: 1, arbitrary: fc.constantFrom('AGAIN.a', 'HEARD.x', 'GO.9') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('#busy0', '#second1', '#busy2', '#none').map((to) => ({
      type: 'xstate.route',
      to,
    })),
  },
);

const generated = fc.record({
  regions: fc.array(region, { minLength: 1, maxLength: 3 }),
  script: fc.array(step, { minLength: 1, maxLength: 6 }),
});

test('generated children are what they are under XState', { timeout: 7_200_000 }, async () => {
  const seen: Record<string, boolean> = {};
  await fc.assert(
    fc.asyncProperty(generated, async ({ regions, script }) => {
      const make = (): AnyStateMachine => build({ regions });
      const expected = await underXState(make, script);
      expect(await underRuntime(make, script)).toEqual(expected);
      expect(await underRuntime(make, script, { crashes: true })).toEqual(expected);
      const shown = JSON.stringify(expected.states);
      for (const sign of SIGNS) if (sign.test(shown)) seen[sign.source] = true;
      for (const { source } of regions) seen[source] = true;
    }),
    { numRuns: CASES, seed: SEED },
  );
  const wanted = [...Object.keys(sources), ...SIGNS.map(({ source }) => source)];
  expect(wanted.filter((name) => !seen[name])).toEqual([]);
});
