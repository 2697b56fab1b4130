/**
 * Likenesses to XState of machines that have children or references; the others are in
 * xstate-likenesses.ts.
 */

import {
  assign,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  sendParent,
  sendTo,
  spawnChild,
  stopChild,
} from 'xstate';
import {
  type Any,
  add,
  type Case,
  counted,
  givenReferences,
  plain,
  took,
  worker,
} from './reference-cases.ts';
import { keptReferences } from './reference-cases-kept.ts';

const result = assign({ result: ({ event }: Any) => event.output ?? event.error ?? 'none' }) as Any;
const invoking = (src: unknown, invoke: object = {}, more: object = {}) =>
  plain(
    {
      context: { n: 0, result: null },
      initial: 'idle',
      states: {
        idle: { on: { GO: 'busy' } },
        busy: {
          invoke: {
            src: 'child',
            id: 'child',
            input: ({ context }: Any) => ({ n: context.n }),
            onDone: { target: 'over', actions: result },
            onError: { target: 'failed', actions: result },
            ...invoke,
          },
          on: { LEAVE: 'idle', TELL: { actions: sendTo('child', { type: 'TELL' }) } },
        },
        over: {},
        failed: {},
      },
      on: { HEARD: { actions: counted } },
      ...more,
    },
    { child: src },
  );

const counter = plain({
  context: ({ input }: Any) => ({ n: input?.n ?? 0 }),
  on: { TELL: { actions: [counted, sendParent({ type: 'HEARD' })] } },
});

export const childLikenesses: Readonly<Record<string, Case>> = {
  'machines as children, `sendTo`, `sendParent`': {
    make: () => invoking(counter),
    steps: ['GO', 'TELL', 'TELL', 'LEAVE', 'GO', 'TELL'],
  },
  '`spawn` and `spawnChild`, `stopChild`': {
    make: (log) =>
      plain(
        {
          context: ({ spawn }: Any) => ({ n: 0, kid: spawn('worker', { id: 'first' }) }),
          on: {
            MORE: { actions: spawnChild('worker' as never, { id: 'second' } as never) },
            GO: { actions: [sendTo('first', { type: 'GO' }), sendTo('second', { type: 'GO' })] },
            STOP: { actions: stopChild('second') },
            WORKER_OVER: { actions: [counted, took(log)] },
          },
        },
        { worker: worker(log) },
      ),
    steps: ['MORE', 'GO', 10, 'STOP', 30],
  },
  '`fromTransition`': {
    make: () =>
      invoking(
        fromTransition(
          (state: Any, event: Any) => ({ n: state.n + 1, last: event.type }),
          ({ input }: Any) => ({ n: input.n }),
        ),
      ),
    steps: ['GO', 'TELL', 'TELL'],
  },
  '`fromPromise` with `onDone` and `onError`': {
    hasActing: true,
    make: () =>
      invoking(
        fromPromise(async ({ input }: Any) => {
          if (input.n > 0) throw 'no';
          return 'yes';
        }),
        { onDone: { target: 'idle', actions: [result, counted] } },
      ),
    steps: ['GO', 'GO'],
  },
  '`fromCallback` with `sendBack` and `receive`': {
    hasActing: true,
    make: (log) =>
      invoking(
        fromCallback(({ sendBack, receive }) => {
          receive(({ type }) => {
            log.push(`callback got ${type}`);
            sendBack({ type: 'HEARD' });
          });
        }),
      ),
    steps: ['GO', 'TELL', 'TELL', 'LEAVE'],
  },
  '`fromObservable`, and one that ends early': {
    hasActing: true,
    make: () =>
      invoking(
        fromObservable(() => ({
          subscribe(observer: Any) {
            observer.next(1);
            observer.complete();
            return { unsubscribe() {} };
          },
        })) as never,
        { onSnapshot: { actions: counted } },
      ),
    steps: ['GO', 1],
  },
  '`onSnapshot` and `syncSnapshot`': {
    make: () => invoking(counter, { onSnapshot: { actions: add(100) } }),
    steps: ['GO', 'TELL', 'TELL'],
  },
  '`systemId` and `system.get`, of children too': given(
    'system.get, in an inline action and by self.system',
  ),
  'references in contexts, input, actions and events': kept(
    'a sibling, the parent and itself in the context of a child',
  ),
  'one id for two children': kept('two regions that invoke under one id, of which one is left'),
  '`route` and `xstate.route`': kept('a route, to the root and to a child'),
  '`tags`, `meta`, `can`, `matches`': {
    make: (log) =>
      plain({
        initial: 'a',
        states: {
          a: { tags: 'early', meta: { m: 1 }, on: { GO: 'b' } },
          b: {
            tags: 'late',
            on: {
              LOOK: {
                actions: ({ self }: Any) => {
                  const snapshot = self.getSnapshot();
                  log.push(JSON.stringify([...snapshot.tags, snapshot.getMeta()]));
                  log.push(`${snapshot.can({ type: 'LOOK' })} ${snapshot.matches('b')}`);
                },
              },
            },
          },
        },
      }),
    steps: ['GO', 'LOOK'],
  },
};

function given(name: string): Case {
  return givenReferences[name] as Case;
}

function kept(name: string): Case {
  return keptReferences[name] as Case;
}
