/**
 * Functions of `enqueueActions`: what they enqueue is gathered, and each action of it adapted.
 *
 * One `enqueue` serves all calls of a machine, since steps never interleave; XState makes a function and eight
 * closures for each.
 */

import * as XState from 'xstate';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { assign, cancel, emit, raise, sendParent, sendTo, spawnChild, stopChild } = XState;

/** What `enqueue` makes, by the name of its method. */
const MAKERS = { assign, cancel, emit, raise, sendTo, sendParent, spawnChild, stopChild } as const;

type Maker = (...made: never[]) => unknown;

export type Collect = (args: { readonly enqueue: object }, params: unknown) => void;

export interface Gathering {
  /** Returns the actions that the function enqueues, adapted. */
  readonly gather: (args: object, params: unknown) => unknown[];
  /** The function itself, for where XState resolves the action. */
  readonly collect: Collect;
}

export function enqueuing(
  adapt: (action: unknown) => unknown,
): (collect: Collect | undefined) => Gathering {
  /** The list that `enqueue` adds to while a function runs. */
  let enqueued: unknown[] | undefined;
  const add = (action: unknown): void => void enqueued?.push(adapt(action));
  const methods = Object.entries(MAKERS).map(
    ([name, make]) => [name, (...made: never[]) => add((make as Maker)(...made))] as const,
  );
  const enqueue = Object.assign((action: unknown) => add(action), Object.fromEntries(methods));
  return (collect) => {
    const gather: Gathering['gather'] = (args, params) => {
      const before = enqueued;
      const gathered: unknown[] = [];
      enqueued = gathered;
      try {
        collect?.({ ...args, enqueue }, params);
        return gathered;
      } finally {
        enqueued = before;
      }
    };
    const handOver: Collect = (args, params) => {
      const hear = args.enqueue as (action: unknown) => void;
      for (const action of gather(args, params)) hear(action);
    };
    return { gather, collect: handOver };
  };
}
