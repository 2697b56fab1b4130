/**
 * Generated trees whose machines and callbacks hold references to each other in every way (contexts,
 * input, `system.get`, `self`, the parent, children of a snapshot), send by them in actions and by
 * `sendTo`, and follow routes: the same under XState and under the runtime, also with a crash after
 * every step.
 *
 * What a machine takes is only counted, because a `send` in an action is a turn of its own here and
 * happens within the action there: the order may differ, and what was sent to whom may not.
 *
 * Runs 150 cases; REFERENCE_CASES and REFERENCE_SEED change that.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnyStateMachine, assign, enqueueActions, fromCallback, raise } from 'xstate';
import { type Step, underRuntime, underXState } from '../beside-xstate.ts';
import { type Any, plain } from '../reference-cases.ts';

const CASES = Number(process.env.REFERENCE_CASES ?? 150);
const SEED = Number(process.env.REFERENCE_SEED ?? 20_261_119);
const HOPS_MAX = 2;

interface Send {
  readonly how: number;
  readonly whom: number;
  readonly event: number;
}

interface Member {
  readonly isCallback: boolean;
  readonly hasSystemId: boolean;
  readonly isInvoked: boolean;
  /** What it sends when it takes an event of each type. */
  readonly sends: readonly (readonly Send[])[];
  readonly below: readonly Member[];
}

const send: fc.Arbitrary<Send> = fc.record({
  how: fc.nat(9),
  whom: fc.nat(5),
  event: fc.nat(1),
});

function member(depth: number): fc.Arbitrary<Member> {
  const none = fc.constant<Member[]>([]);
  return fc.record({
    isCallback: fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
    hasSystemId: fc.boolean(),
    isInvoked: fc.boolean(),
    sends: fc.array(fc.array(send, { maxLength: 2 }), { minLength: 2, maxLength: 2 }),
    below: depth === 0 ? none : fc.array(member(depth - 1), { maxLength: 3 }),
  });
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('E0', 'E1') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('#r0', '#r1', '#none').map((to) => ({ type: 'xstate.route', to })),
  },
);

const count = { sends: 0 };

function build(spec: Member, path: string): AnyStateMachine {
  const actors = spec.below.map((child, index) => [
    `k${index}`,
    child.isCallback ? acting(child) : build(child, `${path}.${index}`),
  ]);
  const systemIdOf = (index: number): object =>
    spec.below[index]?.hasSystemId === true ? { systemId: `${path}.${index}` } : {};
  const spawned = spec.below.flatMap((child, index) => (child.isInvoked ? [] : [index]));
  const invoked = spec.below.flatMap((child, index) => (child.isInvoked ? [index] : []));
  return plain(
    {
      context: ({ input, self, spawn }: Any) => {
        const refs: unknown[] = [self, ...(input?.refs ?? [])];
        for (const index of spawned)
          refs.push(
            spawn(`k${index}`, {
              id: `c${index}`,
              ...systemIdOf(index),
              input: { refs: [...refs].slice(0, 4) },
            }),
          );
        return { n: 0, refs };
      },
      invoke: invoked.map((index) => ({
        src: `k${index}`,
        id: `c${index}`,
        ...systemIdOf(index),
        input: ({ self, context }: Any) => ({ refs: [self, ...context.refs.slice(0, 3)] }),
      })),
      type: 'parallel',
      states: {
        place: {
          initial: 'r0',
          states: { r0: { id: 'r0', route: {} }, r1: { id: 'r1', route: {} } },
        },
      },
      on: {
        E0: { actions: [added(1), ...(spec.sends[0] ?? []).map((each) => actionOf(each, path))] },
        E1: { actions: [added(100), ...(spec.sends[1] ?? []).map((each) => actionOf(each, path))] },
      },
    },
    Object.fromEntries(actors),
  );
}

function added(by: number): unknown {
  return assign({ n: ({ context }: Any) => context.n + by });
}

/** Tells the actor that its input names, whatever it is told. */
function acting(spec: Member): unknown {
  return fromCallback(({ input, self, system, receive, sendBack }: Any) => {
    receive((event: Any) => {
      for (const each of spec.sends[0] ?? []) {
        const next = nextOf(event, each);
        if (next === undefined) continue;
        if (each.how < 4) input.refs[each.whom % input.refs.length].send(next);
        else if (each.how < 6) sendBack(next);
        else if (each.how < 8) self._parent.send(next);
        else system.get(keyOf('root', each.whom))?.send(next);
      }
    });
  });
}

function keyOf(path: string, whom: number): string {
  return whom < 3 ? `root.${whom}` : `${path}.${whom - 3}`;
}

/** An event goes on for a few hops only. */
function nextOf(event: Any, { event: which }: Send): Any {
  const hops = event.hops ?? 0;
  if (hops >= HOPS_MAX) return undefined;
  count.sends += 1;
  return { type: `E${which}`, hops: hops + 1 };
}

function actionOf(each: Send, path: string): unknown {
  const { how, whom } = each;
  const inline = (whomOf: (args: Any) => Any) => (args: Any) => {
    const next = nextOf(args.event, each);
    if (next !== undefined) whomOf(args)?.send(next);
  };
  const queued = (whomOf: (args: Any) => Any) =>
    enqueueActions((args: Any) => {
      const target = whomOf(args);
      const next = target === undefined ? undefined : nextOf(args.event, each);
      if (next !== undefined) args.enqueue.sendTo(target, next);
    });
  const kept = ({ context }: Any) => context.refs[whom % context.refs.length];
  const called = ({ system }: Any) => system.get(keyOf(path, whom));
  const shown = ({ self }: Any) => {
    const children = Object.values(self.getSnapshot().children);
    return children[whom % Math.max(children.length, 1)];
  };
  const ways = [
    inline(kept),
    inline(called),
    inline(shown),
    inline(({ self }) => self),
    inline(({ self }) => self._parent),
    queued(kept),
    queued(called),
    queued(({ self }) => self),
    inline(({ self }) => self.system.get(keyOf(path, whom))),
    raise({ type: `E${each.event}`, hops: HOPS_MAX } as never, { delay: 1 + whom * 3 }),
  ];
  return ways[how];
}

const generated = fc.record({
  root: member(2),
  script: fc.array(step, { minLength: 1, maxLength: 5 }),
});

test('generated references reach whom they reach under XState', {
  timeout: 7_200_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(generated, async ({ root, script }) => {
      const make = (): AnyStateMachine => build(root, 'root');
      const warned: string[] = [];
      const expected = await underXState(make, script);
      expect(await underRuntime(make, script, { warned })).toEqual(expected);
      expect(await underRuntime(make, script, { crashes: true, warned })).toEqual(expected);
      expect(warned).toEqual([]);
    }),
    { numRuns: CASES, seed: SEED },
  );
  expect(count.sends).toBeGreaterThan(CASES);
});
