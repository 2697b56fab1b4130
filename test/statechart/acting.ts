/**
 * Promises, callbacks, observables and a reducer for generated machines, with every
 * settlement in the hands of the script. Under a `Tree` none of them runs.
 */

import {
  type AnyActorLogic,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
} from 'xstate';

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

const EVENTS = ['E0', 'E1', 'E2', 'E3', 'G.a', 'G.b'];

export function eventType(which: number): string {
  return EVENTS[which % EVENTS.length] as string;
}

/** What fromPromise, fromCallback and the like make, with every settlement in the hands of the script. */
export function actingChildren(probe: Probe): Record<string, AnyActorLogic> {
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

/** The states of the first two levels of the root; the last one is none. */
export function routeTo(which: number): string {
  const [outer, inner] = [which % 3, Math.floor(which / 3) % 4];
  return which === 20 ? '#none' : `#root_s${outer}${inner < 2 ? `_s${inner}` : ''}`;
}

export function mixed(hash: number, text: string): number {
  let next = hash;
  for (let index = 0; index < text.length; index += 1) {
    next = (next * 31 + text.charCodeAt(index)) % 99_991;
  }
  return next;
}
