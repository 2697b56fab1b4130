/**
 * The guards and actions of generated machines. A machine counts (`n`), keeps a hash of
 * the events it has taken in their order (`h`) and a reference to a spawned child.
 *
 * Events between machines end after a while, by a `ttl` on them: XState alone would
 * follow two machines that answer each other for ever.
 */

import {
  assign,
  cancel,
  emit,
  enqueueActions,
  log,
  not,
  raise,
  sendTo,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { eventType, mixed } from './acting.ts';
import type { ActionSpec, GuardSpec } from './generate.ts';

export type Loose = Record<string, unknown>;
export interface Context {
  readonly n: number;
  readonly h: number;
  readonly w: number;
  readonly d: number;
  readonly a: unknown;
  readonly spawned?: { getSnapshot(): { context?: { n?: number }; status: string } };
}
export interface Args {
  readonly context: Context;
  readonly event: { readonly type: string; readonly ttl?: number; readonly output?: unknown };
  readonly self: { getSnapshot(): { children?: Record<string, unknown> } | undefined };
  readonly system: { get(id: string): unknown };
}

/** Everything about one machine that its parts need to know while they are built. */
export interface Plan {
  readonly name: string;
  readonly targets: string[];
  readonly sources: string[];
  readonly isRoot: boolean;
  readonly invoked: string[];
}

export type Spawn = (source: string, options: Loose) => unknown;

export const hashEvent = assign({
  h: ({ context, event }: Args) => mixed(context.h, event.type),
  a: ({ context, event }: Args) => (event.output === undefined ? context.a : event.output),
} as never);

export function guardOf(spec: GuardSpec, plan: Plan): unknown {
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

export function noteOf(text: string): Loose {
  return { type: 'note', params: ({ context }: Args) => ({ text, n: context.n }) };
}

/** How often an event may still be answered by another one; events of XState begin low, so that loops end. */
function lifeOf(event: Args['event']): number {
  if (event.ttl !== undefined) return event.ttl;
  if (!event.type.startsWith('xstate.')) return 2;
  return event.type === 'xstate.init' || event.type.startsWith('xstate.after.') ? 1 : 0;
}

export function actionsOf(specs: readonly ActionSpec[], plan: Plan): unknown[] {
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
      const spawn = spawnChild(spawnable as never, options as never);
      // Without a stop two run under one id.
      return which % 4 === 3 ? [spawn] : [stopChild(spawnId), spawn];
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
