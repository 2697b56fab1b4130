/**
 * Random statecharts for the differential test: what is drawn, as plain data.
 *
 * Everything is a small record of numbers, so that fast-check can shrink it; numbers
 * that point somewhere (a target, an event, a child) are taken modulo what there is by
 * build.ts, so that every record is a machine that starts.
 */

import fc from 'fast-check';

export interface ActionSpec {
  readonly kind: (typeof ACTION_KINDS)[number];
  readonly which: number;
  readonly delayMs: number;
}

export interface TransitionSpec {
  readonly target: number | undefined;
  readonly reenter: boolean;
  readonly guard: GuardSpec | undefined;
  readonly actions: readonly ActionSpec[];
}

export interface GuardSpec {
  readonly kind: (typeof GUARD_KINDS)[number];
  readonly modulus: number;
  readonly rest: number;
}

export interface InvokeSpec {
  readonly source: number;
  readonly onDone: TransitionSpec | undefined;
  readonly onError: TransitionSpec | undefined;
  readonly onSnapshot: TransitionSpec | undefined;
  readonly hasSystemId: boolean;
  /** Under an id that others invoke under too. */
  readonly isShared: boolean;
}

export interface StateSpec {
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final';
  readonly children: readonly StateSpec[];
  readonly initial: number;
  /** May be gone to by `xstate.route`. */
  readonly isRoute: boolean;
  readonly history: 'shallow' | 'deep' | undefined;
  readonly historyDefault: number | undefined;
  readonly entry: readonly ActionSpec[];
  readonly exit: readonly ActionSpec[];
  readonly on: ReadonlyArray<{ readonly event: number; readonly to: TransitionSpec }>;
  readonly always: TransitionSpec | undefined;
  readonly after: ReadonlyArray<{ readonly delay: number; readonly to: TransitionSpec }>;
  readonly onDone: TransitionSpec | undefined;
  readonly invoke: readonly InvokeSpec[];
}

export interface MachineSpec {
  readonly root: StateSpec;
  readonly spawnsAtOnce: boolean;
}

/** One root, two kinds of child machines below it; the second is a leaf. */
export interface CaseSpec {
  readonly machines: readonly [MachineSpec, MachineSpec, MachineSpec];
  readonly script: readonly StepSpec[];
  /** Nothing is invoked or spawned: the root is stepped and stored in the shortest way. */
  readonly isChildless: boolean;
}

export type StepSpec =
  | { readonly type: 'event'; readonly which: number }
  | { readonly type: 'route'; readonly which: number }
  | { readonly type: 'advance'; readonly byMs: number }
  | { readonly type: 'settle'; readonly which: number; readonly how: number }
  | { readonly type: 'restore' };

const ACTION_KINDS = [
  'note',
  'increment',
  'hash',
  'emit',
  'log',
  'raise',
  'raisePlain',
  'raiseLater',
  'raiseLaterById',
  'cancel',
  'spawnChild',
  'spawnInContext',
  'stopChild',
  'stopSpawned',
  'sendToChild',
  'sendToInvoked',
  'sendToChildLater',
  'sendToSelf',
  'sendToKeyed',
  'sendParent',
  'sendParentLater',
  'enqueue',
] as const;

const GUARD_KINDS = ['count', 'not', 'event', 'child', 'in', 'throws'] as const;

const action: fc.Arbitrary<ActionSpec> = fc.record({
  kind: fc.constantFrom(...ACTION_KINDS),
  which: fc.nat(7),
  delayMs: fc.nat(30),
});

const guard: fc.Arbitrary<GuardSpec> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant('count' as const) },
    { weight: 6, arbitrary: fc.constantFrom(...GUARD_KINDS) },
  ),
  modulus: fc.integer({ min: 2, max: 4 }),
  rest: fc.nat(3),
});

const transition: fc.Arbitrary<TransitionSpec> = fc.record({
  target: fc.option(fc.nat(40), { nil: undefined, freq: 4 }),
  reenter: fc.boolean(),
  guard: fc.option(guard, { nil: undefined, freq: 2 }),
  actions: fc.array(action, { maxLength: 3 }),
});

const sometimes = fc.option(transition, { nil: undefined, freq: 2 });

const invoke: fc.Arbitrary<InvokeSpec> = fc.record({
  source: fc.nat(20),
  onDone: fc.option(transition, { nil: undefined, freq: 4 }),
  onError: fc.option(transition, { nil: undefined, freq: 6 }),
  onSnapshot: sometimes,
  hasSystemId: fc.boolean(),
  isShared: fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
});

function stateBelow(depth: number): fc.Arbitrary<StateSpec> {
  const leaf = [
    { weight: 6, arbitrary: fc.constant('atomic' as const) },
    { weight: 2, arbitrary: fc.constant('final' as const) },
  ];
  const inner = [
    { weight: 4, arbitrary: fc.constant('compound' as const) },
    { weight: 2, arbitrary: fc.constant('parallel' as const) },
  ];
  const kind = fc.oneof(...leaf, ...(depth > 0 ? inner : []));
  return kind.chain((chosen) => state(chosen, depth - 1));
}

function state(kind: StateSpec['kind'], depth: number): fc.Arbitrary<StateSpec> {
  const isInner = kind === 'compound' || kind === 'parallel';
  const none = fc.constant([]);
  return fc.record({
    kind: fc.constant(kind),
    children: isInner ? fc.array(stateBelow(depth), { minLength: 1, maxLength: 3 }) : none,
    initial: fc.nat(2),
    isRoute: fc.integer({ min: 0, max: 2 }).map((die) => die === 0),
    history: fc.constantFrom(undefined, 'shallow' as const, 'deep' as const),
    historyDefault: fc.option(fc.nat(3), { nil: undefined }),
    entry: fc.array(action, { maxLength: 3 }),
    exit: fc.array(action, { maxLength: 2 }),
    on: fc.array(fc.record({ event: fc.nat(20), to: transition }), { maxLength: 5 }),
    always: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: transition },
    ),
    after: fc.array(fc.record({ delay: fc.nat(40), to: transition }), { maxLength: 2 }),
    onDone: isInner ? sometimes : fc.constant(undefined),
    invoke: fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.tuple(invoke) },
      { weight: 1, arbitrary: fc.tuple(invoke, invoke) },
    ),
  });
}

const machine: fc.Arbitrary<MachineSpec> = fc.record({
  root: fc
    .oneof(
      { weight: 4, arbitrary: fc.constant('compound' as const) },
      { weight: 1, arbitrary: fc.constant('parallel' as const) },
    )
    .chain((kind) => state(kind, 2)),
  spawnsAtOnce: fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
});

const step: fc.Arbitrary<StepSpec> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('event' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('route' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('advance' as const),
      byMs: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('settle' as const),
      which: fc.nat(5),
      how: fc.nat(5),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ type: 'restore' as const }) },
);

export const generatedCase: fc.Arbitrary<CaseSpec> = fc.record({
  machines: fc.tuple(machine, machine, machine),
  isChildless: fc.boolean(),
  script: fc.array(step, { minLength: 4, maxLength: 12, size: 'max' }),
});
