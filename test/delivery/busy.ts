/** A machine that has something done by a child of any sort, and a promise under the test's control. */

import { type AnyActorLogic, assign, fromPromise, sendTo, setup } from 'xstate';
import type { Store } from '../../runtime/ports/store.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';

/** A promise under the test's control, and everything that was ever started. */
export class Work {
  readonly runs: Array<{
    readonly input: unknown;
    readonly signal: AbortSignal;
    resolve(output: unknown): void;
    reject(error: unknown): void;
  }> = [];

  readonly logic = fromPromise(
    ({ input, signal }) =>
      new Promise((resolve, reject) => this.runs.push({ input, signal, resolve, reject })),
  );

  get last() {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('nothing was started');
    return run;
  }
}

export function busy(logic: AnyActorLogic, hasOnError = true) {
  return setup({
    types: { context: {} as { got: unknown[]; seen: unknown } },
    actors: { work: logic },
  }).createMachine({
    id: 'busy',
    context: { got: [], seen: null },
    initial: 'idle',
    on: {
      tell: { actions: sendTo('work', ({ event }) => event) },
      ...(hasOnError
        ? {
            '*': { actions: assign({ got: ({ context, event }) => [...context.got, event.type] }) },
          }
        : {}),
    },
    states: {
      idle: { on: { go: 'working' } },
      working: {
        invoke: {
          id: 'work',
          src: 'work',
          input: { box: 7 },
          onDone: {
            target: 'done',
            actions: assign({ seen: ({ event }) => event.output }),
          },
          ...(hasOnError
            ? {
                onError: {
                  target: 'failed',
                  actions: assign({ seen: ({ event }) => event.error }),
                },
              }
            : {}),
          onSnapshot: {
            actions: assign({
              seen: ({ context, event }) =>
                (event as unknown as { snapshot: { context?: unknown } }).snapshot.context ??
                context.seen,
            }),
          },
        },
        on: { leave: 'idle', end: 'ended' },
      },
      done: {},
      failed: {},
      ended: { type: 'final' },
    },
  });
}

export async function start(machine: ReturnType<typeof busy>, store: Store = memoryStore()) {
  const rt = await testRuntime({ kinds: { busy: machine }, store, limits: { liveActorsMax: 2 } });
  const actor = await rt.spawn('busy/1');
  const send = (type: string) => actor.send({ type } as never);
  return { rt, actor, send, state: () => actor.getSnapshot().value };
}
