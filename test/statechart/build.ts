/**
 * Turns the plain data of generate.ts into XState machines.
 *
 * A machine counts (`n`), keeps a hash of the events it has taken in their order (`h`)
 * and a few references to children. What it does is written down by a `Probe` when
 * XState runs it; under a `Tree` nothing of it runs and the effects are written down.
 *
 * Kept out: events between machines without end, by a `ttl` on events and by fuel in
 * the context. XState alone would follow them for ever.
 */

import {
  type AnyActorLogic,
  type AnyStateMachine,
  and,
  assign,
  cancel,
  emit,
  enqueueActions,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  log,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import type {
  ActionSpec,
  CaseSpec,
  GuardSpec,
  InvokeSpec,
  MachineSpec,
  StateSpec,
  TransitionSpec,
} from './generate.ts';

/** A promise, callback or observable that runs under XState, to be settled by the script. */
export interface Running {
  readonly label: string;
  settle(how: number, value: unknown): void;
}

/** Where what happens under XState is written down. */
export interface Probe {
  readonly trace: string[];
  readonly running: Running[];
}

type Loose = Record<string, unknown>;
interface Context {
  readonly n: number;
  readonly h: number;
  readonly w: number;
  readonly d: number;
  readonly a: unknown;
  readonly spawned?: { getSnapshot(): { context?: { n?: number }; status: string } };
}
interface Args {
  readonly context: Context;
  readonly event: { readonly type: string; readonly ttl?: number; readonly output?: unknown };
  readonly self: { getSnapshot(): { children?: Record<string, unknown> } | undefined };
  readonly system: { get(id: string): unknown };
}

const EVENTS = ['E0', 'E1', 'E2', 'E3', 'G.a', 'G.b'];
const HANDLED = [...EVENTS, 'E0', 'E1', 'E2', 'E3', 'G.*', '*', 'R0', 'R1', 'P0'];
const FUEL = 3;
const MICROSTEPS_MAX = 50;

export function eventType(which: number): string {
  return EVENTS[which % EVENTS.length] as string;
}

export function buildCase(spec: CaseSpec, probe: Probe): AnyStateMachine {
  const acting = actingChildren(probe);
  const leaf = buildMachine(spec.machines[2], 'leaf', { ...acting }, probe);
  const middle = buildMachine(spec.machines[1], 'middle', { leaf, ...acting }, probe);
  return buildMachine(spec.machines[0], 'root', { middle, leaf, ...acting }, probe);
}

/** What fromPromise, fromCallback and the like make, with every settlement in the hands of the script. */
function actingChildren(probe: Probe): Record<string, AnyActorLogic> {
  function start(label: string, input: unknown, settle: Running['settle']): () => void {
    probe.trace.push(`start ${label} ${JSON.stringify(input)}`);
    const running: Running = {
      label,
      settle(how, value) {
        if (label !== 'callback' && how % 3 !== 0) remove();
        settle(how, value);
      },
    };
    const remove = () => {
      const index = probe.running.indexOf(running);
      if (index !== -1) probe.running.splice(index, 1);
      return index !== -1;
    };
    probe.running.push(running);
    return () => {
      if (remove()) probe.trace.push(`stop ${label}`);
    };
  }

  const promise = fromPromise(({ input, signal }) => {
    const promised = new Promise(() => {});
    let settled: Array<(value: unknown) => void> = [];
    // XState calls `then` on the promise itself; taking it over makes settling synchronous.
    promised.then = ((...handlers: never[]) => {
      settled = handlers;
    }) as never;
    const stop = start('promise', input, (how, value) => {
      if (how % 3 !== 0) settled[how % 3 === 1 ? 0 : 1]?.(value);
    });
    signal.addEventListener('abort', stop);
    return promised;
  });

  const callback = fromCallback(({ input, sendBack, receive }) => {
    receive((event) => probe.trace.push(`tell callback ${event.type}`));
    return start('callback', input, (how) => sendBack({ type: eventType(how) }));
  });

  const observable = fromObservable(({ input }) => ({
    subscribe(observer: never) {
      const { next, error, complete } = observer as Record<string, (value?: unknown) => void>;
      const settle: Running['settle'] = (how, value) => {
        if (how % 3 === 0) next?.(value);
        else if (how % 3 === 1) complete?.();
        else error?.(value);
      };
      return { unsubscribe: start('observable', input, settle) };
    },
  }));

  const reducer = fromTransition(
    (state: { n: number; h: number }, event: { type: string }) => ({
      n: state.n + 1,
      h: mixed(state.h, event.type),
    }),
    ({ input }) => ({ n: (input as { n?: number } | undefined)?.n ?? 0, h: 1 }),
  );
  return { promise, callback, observable, reducer } as Record<string, AnyActorLogic>;
}

function mixed(hash: number, text: string): number {
  let next = hash;
  for (let index = 0; index < text.length; index += 1) {
    next = (next * 31 + text.charCodeAt(index)) % 99_991;
  }
  return next;
}

/** Everything about one machine that its parts need to know while they are built. */
interface Plan {
  readonly name: string;
  readonly targets: string[];
  readonly sources: string[];
  readonly isRoot: boolean;
  readonly invoked: string[];
}

function buildMachine(
  spec: MachineSpec,
  name: string,
  actors: Record<string, AnyActorLogic>,
  probe: Probe,
): AnyStateMachine {
  const isRoot = name === 'root';
  const sources = Object.keys(actors);
  const plan: Plan = { name, targets: [], sources, isRoot, invoked: [] };
  collectTargets(spec.root, name, plan, true);
  const config = {
    ...buildState(spec.root, name, plan, true),
    id: name,
    options: { maxIterations: MICROSTEPS_MAX },
    context: ({ input, spawn }: { input: { n?: number } | undefined; spawn: Spawn }) => ({
      n: input?.n ?? 0,
      h: 7,
      w: 0,
      d: 0,
      a: null,
      ...(spec.spawnsAtBirth && sources.includes('leaf')
        ? { spawned: spawn('leaf', { id: 'spawned', input: { n: 1 } }) }
        : {}),
    }),
    output: ({ context, event }: Args) => ({ n: context.n, h: context.h, with: event.output }),
  };
  return setup({
    actors: actors as never,
    actions: {
      note: (_, params) => {
        probe.trace.push(`note ${JSON.stringify(params)}`);
      },
    },
    delays: { short: ({ context }) => 3 + ((context as Context).n % 5), long: 25 },
  }).createMachine(config as never) as unknown as AnyStateMachine;
}

type Spawn = (source: string, options: Loose) => unknown;

function pathId(path: string): string {
  return path.replaceAll('.', '_');
}

function collectTargets(spec: StateSpec, path: string, plan: Plan, isTop: boolean): void {
  if (!isTop) plan.targets.push(pathId(path));
  for (const [index, child] of spec.children.entries()) {
    collectTargets(child, `${path}.s${index}`, plan, false);
  }
  if (hasHistory(spec)) plan.targets.push(`${pathId(path)}_h`);
}

function hasHistory(spec: StateSpec): boolean {
  return spec.history !== undefined && spec.children.length > 0;
}

function buildState(spec: StateSpec, path: string, plan: Plan, isTop: boolean): Loose {
  // A final region would end at once; a final top state is left to the other kinds' children.
  const keys = spec.children.map((_, index) => `s${index}`);
  const states: Loose = {};
  for (const [index, child] of spec.children.entries()) {
    states[`s${index}`] = buildState(child, `${path}.s${index}`, plan, false);
  }
  if (hasHistory(spec)) {
    const fallback = spec.historyDefault;
    states.h = {
      type: 'history',
      id: `${pathId(path)}_h`,
      history: spec.history,
      ...(fallback === undefined ? {} : { target: keys[fallback % keys.length] }),
    };
  }
  const own: Loose = {
    ...(isTop ? {} : { id: pathId(path) }),
    entry: [noteOf(`enter ${path}`), ...actionsOf(spec.entry, plan)],
    exit: [noteOf(`leave ${path}`), ...actionsOf(spec.exit, plan)],
  };
  if (spec.kind === 'final') {
    return { ...own, type: 'final', output: ({ context }: Args) => context.n };
  }
  if (spec.kind === 'parallel') Object.assign(own, { type: 'parallel', states });
  if (spec.kind === 'compound') {
    Object.assign(own, { initial: keys[spec.initial % keys.length], states });
  }
  const invoked = plan.sources.length === 0 ? [] : spec.invoke;
  const invoke = invoked.map((each, index) => invokeOf(each, index, path, plan));
  if (spec.invoke[0]?.hasSystemId && invoke[0] !== undefined) {
    // Asked for before the child is born.
    (own.entry as unknown[]).push(sendTo(invoke[0].id as string, { type: 'E1', ttl: 1 } as never));
  }
  return {
    ...own,
    ...reactionsOf(spec, path, plan, isTop),
    ...(invoke.length > 0 ? { invoke } : {}),
  };
}

function reactionsOf(spec: StateSpec, path: string, plan: Plan, isTop: boolean): Loose {
  const on: Record<string, Loose[]> = {};
  for (const { event, to } of spec.on) {
    const type = HANDLED[event % HANDLED.length] as string;
    on[type] ??= [];
    const transition = transitionOf(to, plan, path);
    on[type].push(type === '*' ? fuelled(transition, 'd', isFromOutside) : transition);
  }
  if (isTop && spec.initial > 0) on['xstate.error.actor.*'] = [{ actions: [hashEvent] }];
  const after: Record<string, Loose[]> = {};
  for (const { delay, to } of spec.after) {
    const key = delay > 34 ? 'short' : delay > 28 ? 'long' : String(delay + 1);
    after[key] ??= [];
    after[key].push(transitionOf(to, plan, path));
  }
  const reactions: Loose = { on, after };
  if (spec.always !== undefined) {
    reactions.always = fuelled(transitionOf(spec.always, plan, path), 'w');
  }
  if (spec.onDone !== undefined && !isTop) {
    reactions.onDone = fuelled(transitionOf(spec.onDone, plan, path), 'd');
  }
  return reactions;
}

/** Taken a few times only, so that a state which comes back to itself does so for a while. */
function fuelled(
  transition: Loose,
  tank: 'w' | 'd',
  isFree: (args: Args) => boolean = () => false,
): Loose {
  const hasFuel = (args: Args) => isFree(args) || args.context[tank] < FUEL;
  const guard =
    transition.guard === undefined ? hasFuel : and([hasFuel, transition.guard] as never);
  const burn = assign({ [tank]: ({ context }: Args) => context[tank] + 1 } as never);
  return { ...transition, guard, actions: [burn, ...(transition.actions as [])] };
}

function isFromOutside({ event }: Args): boolean {
  return !event.type.startsWith('xstate.');
}

function invokeOf(spec: InvokeSpec, index: number, path: string, plan: Plan): Loose {
  const id = `${path}.i${index}`;
  const { onDone, onError, onSnapshot } = spec;
  plan.invoked.push(id);
  return {
    id,
    src: plan.sources[spec.source % plan.sources.length],
    input: ({ context }: Args) => ({ n: context.n }),
    ...(spec.hasSystemId && spec.source % 8 === 5 && plan.isRoot
      ? { systemId: `key.${plan.invoked.length % 3}.${id}` }
      : {}),
    ...(onDone && { onDone: fuelled(transitionOf(onDone, plan, path), 'd') }),
    ...(onError && { onError: fuelled(transitionOf(onError, plan, path), 'd') }),
    ...(onSnapshot && {
      onSnapshot: { ...transitionOf(onSnapshot, plan, path), target: undefined },
    }),
  };
}

function transitionOf(spec: TransitionSpec, plan: Plan, path: string): Loose {
  const { targets } = plan;
  const chosen = spec.target === undefined ? undefined : targets[spec.target % targets.length];
  const target = chosen?.endsWith('_h') ? fromOutside(chosen, pathId(path)) : chosen;
  const reenter = spec.reenter && !target?.endsWith('_h');
  return {
    ...(target && { target: `#${target}`, reenter }),
    ...(spec.guard === undefined ? {} : { guard: guardOf(spec.guard, plan) }),
    actions: [hashEvent, ...actionsOf(spec.actions, plan)],
  };
}

/** Taken from inside, a history state breaks XState's own book-keeping: states are entered twice or never left. */
function fromOutside(history: string, source: string): string | undefined {
  const owner = history.slice(0, -2);
  if (!source.startsWith(`${owner}_`)) return history;
  return owner.includes('_') ? owner : undefined;
}

const hashEvent = assign({
  h: ({ context, event }: Args) => mixed(context.h, event.type),
  a: ({ context, event }: Args) => (event.output === undefined ? context.a : event.output),
} as never);

function guardOf(spec: GuardSpec, plan: Plan): unknown {
  const { modulus, rest } = spec;
  const counts = ({ context }: Args) => context.n % modulus === rest % modulus;
  switch (spec.kind) {
    case 'count':
      return counts;
    case 'not':
      return not(counts as never);
    case 'event':
      return ({ event }: Args) => mixed(1, event.type) % modulus !== rest % modulus;
    case 'child':
      return ({ context }: Args) => {
        const child = context.spawned?.getSnapshot();
        return child?.status === 'active' && (child.context?.n ?? 0) % modulus === rest % modulus;
      };
    case 'in':
      return stateIn(`#${plan.targets[rest % plan.targets.length]}`);
    case 'throws':
      return ({ context }: Args) => {
        if (context.n % modulus === rest % modulus) throw new Error('guard threw');
        return true;
      };
  }
}

function noteOf(text: string): Loose {
  return { type: 'note', params: ({ context }: Args) => ({ text, n: context.n }) };
}

/** How often an event may still be answered by another one; events of XState begin low, so that loops end. */
function lifeOf(event: Args['event']): number {
  if (event.ttl !== undefined) return event.ttl;
  if (!event.type.startsWith('xstate.')) return 2;
  return event.type === 'xstate.init' || event.type.startsWith('xstate.after.') ? 1 : 0;
}

function actionsOf(specs: readonly ActionSpec[], plan: Plan): unknown[] {
  return specs.flatMap((spec) => actionOf(spec, plan));
}

function actionOf(spec: ActionSpec, plan: Plan): unknown[] {
  const { which, delayMs: delay } = spec;
  const type = which === 7 ? 'R0' : eventType(which);
  const timer = `t${which % 3}`;
  const spawnable = plan.sources[which % plan.sources.length] as string;
  const spawnId = `c${which % 2}`;
  const lively = (act: (args: Args & { enqueue: Enqueue }, ttl: number) => void) =>
    enqueueActions(((args: Args & { enqueue: Enqueue }) => {
      const ttl = lifeOf(args.event);
      if (ttl > 0) act(args, ttl - 1);
    }) as never);
  const childOf = ({ self }: Args) => {
    const children = Object.values(self.getSnapshot()?.children ?? {});
    return children[which % Math.max(children.length, 1)];
  };
  switch (spec.kind) {
    case 'note':
      return [noteOf(`${plan.name} ${which}`)];
    case 'increment':
      return [assign({ n: ({ context }: Args) => context.n + 1 } as never)];
    case 'hash':
      return [hashEvent];
    case 'emit':
      return [emit((({ context }: Args) => ({ type: `out.${which}`, n: context.n })) as never)];
    case 'log':
      return [log((({ context }: Args) => `${plan.name} ${context.n}`) as never, `label ${which}`)];
    case 'raise':
      return [lively(({ enqueue }, ttl) => enqueue.raise({ type: `R${which % 3}`, ttl }))];
    case 'raisePlain':
      // With a wildcard it goes round for ever, which must not be all that happens.
      return which > 0 ? [] : [raise({ type: `P${which % 2}` })];
    case 'raiseLater':
      return [lively(({ enqueue }, ttl) => enqueue.raise({ type, ttl }, { delay: delay + 1 }))];
    case 'raiseLaterById':
      return [
        cancel(timer),
        raise({ type }, { id: timer, delay: which % 2 ? 'short' : delay + 1 } as never),
      ];
    case 'cancel':
      return [cancel(timer)];
    case 'spawnChild': {
      if (plan.sources.length === 0) return [];
      const options = { id: spawnId, input: { n: which }, syncSnapshot: which > 4 };
      return [stopChild(spawnId), spawnChild(spawnable as never, options as never)];
    }
    case 'spawnInContext': {
      if (!plan.sources.includes('leaf')) return [];
      const spawned = ({ spawn }: { spawn: Spawn }) =>
        spawn('leaf', { id: 'spawned', input: { n: which } });
      return [stopChild('spawned'), assign({ spawned } as never)];
    }
    case 'stopChild':
      return [stopChild(spawnId)];
    case 'stopSpawned':
      // A reference that outlives its child is lost at a restore, in XState as well.
      return [stopChild('spawned'), assign({ spawned: undefined } as never)];
    case 'sendToChild':
      return [
        lively((args, ttl) => {
          const child = childOf(args);
          if (child !== undefined) args.enqueue.sendTo(child, { type, ttl });
        }),
      ];
    case 'sendToInvoked':
      // Throws when that child is not there.
      return [
        lively(({ enqueue, self }, ttl) => {
          const id = plan.invoked.find((invoked) => self.getSnapshot()?.children?.[invoked]);
          const children = self.getSnapshot()?.children ?? {};
          if (id !== undefined) enqueue.sendTo(which === 0 ? id : children[id], { type, ttl });
        }),
      ];
    case 'sendToChildLater':
      return [
        cancel(`to ${timer}`),
        lively((args, ttl) => {
          const child = childOf(args);
          const options = { id: `to ${timer}`, delay: delay + 1 };
          if (child !== undefined) args.enqueue.sendTo(child, { type, ttl }, options);
        }),
      ];
    case 'sendToSelf':
      return [lively(({ enqueue, self }, ttl) => enqueue.sendTo(self, { type, ttl }))];
    case 'sendToKeyed':
      return [
        lively(({ enqueue, system, self }, ttl) => {
          const key = `key.${which % 3}.root.s${which % 2}.i0`;
          enqueue.sendTo(system.get(key) ?? self, { type, ttl });
        }),
      ];
    case 'sendParent':
      if (plan.isRoot) return [];
      return [lively(({ enqueue }, ttl) => enqueue.sendParent({ type, ttl }))];
    case 'sendParentLater':
      if (plan.isRoot) return [];
      return [
        lively(({ enqueue }, ttl) => enqueue.sendParent({ type, ttl }, { delay: delay + 1 })),
      ];
    case 'enqueue':
      return [
        enqueueActions((({
          enqueue,
          check,
        }: {
          enqueue: Enqueue;
          check: (guard: unknown) => boolean;
        }) => {
          enqueue.assign({ n: ({ context }: Args) => context.n + 1 });
          if (check(({ context }: Args) => context.n % 2 === which % 2)) {
            enqueue({ type: 'note', params: { text: `enqueued ${which}` } });
            enqueue.emit({ type: `out.enqueued.${which}` });
          }
          enqueue.cancel(timer);
          enqueue.raise({ type }, { id: timer, delay: delay + 1 });
        }) as never),
        cancel(`self ${timer}`),
        sendTo((({ self }: Args) => self) as never, { type: 'later', ttl: 0 } as never, {
          id: `self ${timer}`,
          delay: delay + 5,
        }),
      ];
  }
}

type Enqueue = ((action: unknown) => void) &
  Record<
    'assign' | 'cancel' | 'emit' | 'raise' | 'sendParent' | 'sendTo',
    (...args: unknown[]) => void
  >;
