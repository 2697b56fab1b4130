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
  createMachine,
  sendTo,
  setup,
} from 'xstate';
import { actingChildren, type Probe } from './acting.ts';
import {
  type Args,
  actionsOf,
  type Context,
  guardOf,
  hashEvent,
  type Loose,
  noteOf,
  type Plan,
  type Spawn,
} from './build-actions.ts';
import type { CaseSpec, InvokeSpec, MachineSpec, StateSpec, TransitionSpec } from './generate.ts';

const HANDLED = [
  'E0',
  'E1',
  'E2',
  'E3',
  'G.a',
  'G.b',
  'E0',
  'E1',
  'E2',
  'E3',
  'G.*',
  '*',
  'R0',
  'R1',
  'P0',
];
const FUEL = 3;
const MICROSTEPS_MAX = 50;

export function buildCase(spec: CaseSpec, probe: Probe): AnyStateMachine {
  const acting = actingChildren(probe);
  const leaf = buildMachine(spec.machines[2], 'leaf', { ...acting }, probe);
  const middle = buildMachine(spec.machines[1], 'middle', { leaf, ...acting, quick }, probe);
  const below = spec.isChildless ? {} : { middle, leaf, ...acting, quick };
  return buildMachine(spec.machines[0], 'root', below, probe);
}

/** Ends in its first step, so that what it tells its parent comes before the parent's step is over. */
const quick = createMachine({
  context: ({ input }) => input as { n: number },
  initial: 'first',
  states: { first: { always: 'last' }, last: { type: 'final' } },
  output: ({ context }) => context.n,
});

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
      ...(spec.spawnsAtOnce && sources.includes('leaf')
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
    ...(spec.isRoute && !isTop ? { route: {} } : {}),
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
    // Asked for before the child is spawned.
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
  const id = spec.isShared ? `${plan.name}.shared` : `${path}.i${index}`;
  const { onDone, onError, onSnapshot } = spec;
  plan.invoked.push(id);
  return {
    id,
    src: plan.sources[spec.source % plan.sources.length],
    input: ({ context }: Args) => ({ n: context.n }),
    ...(spec.hasSystemId && spec.source % 4 === 1
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
