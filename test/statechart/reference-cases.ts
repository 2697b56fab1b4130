/** Machines that send by references which XState hands to actions, promises and callbacks. */

import {
  type AnyStateMachine,
  assign,
  fromCallback,
  fromPromise,
  sendParent,
  sendTo,
  setup,
} from 'xstate';
import type { Make, Step } from './beside-xstate.ts';

// biome-ignore lint/suspicious/noExplicitAny: contexts and events of small machines, written inline.
export type Any = any;

export const counted = assign({ n: ({ context }: Any) => context.n + 1 }) as never;
export const add = (n: number): Any => assign({ n: ({ context }: Any) => context.n + n });
export const noted = (log: string[], text: string) => () => void log.push(text);

export function plain(config: object, actors: object = {}): AnyStateMachine {
  return setup({ actors: actors as never }).createMachine(config as never) as never;
}

export const took =
  (log: string[]) =>
  ({ event }: Any): void =>
    void log.push(`took ${event.type}`);

/** A child that works for 20 ms once it is told to GO, and then says so to its parent. */
export function worker(log: string[]): AnyStateMachine {
  return plain({
    initial: 'idle',
    context: { n: 0 },
    states: {
      idle: { on: { GO: { target: 'busy', actions: [counted, noted(log, 'worker went')] } } },
      busy: { after: { 20: 'over' } },
      over: { entry: sendParent({ type: 'WORKER_OVER' }) },
    },
  });
}

function socket(log: string[]): unknown {
  return fromCallback(({ receive }) => {
    receive((event) => log.push(`socket got ${event.type}`));
  });
}

export interface Case {
  readonly make: Make;
  readonly steps: readonly Step[];
  /** A child that runs begins again after a crash, so its log is another. */
  readonly hasActing?: boolean;
  /** Its callback says something when it begins, and so says it again after a crash. */
  readonly isGreeting?: boolean;
}

/** Of code that is given a reference. */
export const givenReferences: Readonly<Record<string, Case>> = {
  'a reference in the context, in an inline action': {
    hasActing: true,
    make: (log) =>
      plain(
        {
          context: ({ spawn }: Any) => ({
            worker: spawn('worker', { id: 'worker' }),
            socket: spawn('socket', { id: 'socket' }),
          }),
          initial: 'waiting',
          states: {
            waiting: {
              on: {
                POKE: {
                  actions: ({ context }: Any) => {
                    context.worker.send({ type: 'GO' });
                    context.socket.send({ type: 'HELLO' });
                  },
                },
                WORKER_OVER: 'finished',
              },
            },
            finished: {},
          },
        },
        { worker: worker(log), socket: socket(log) },
      ),
    steps: ['POKE', 60],
  },
  'system.get, in an inline action and by self.system': {
    make: (log) =>
      plain(
        {
          context: { n: 0 },
          invoke: [
            { src: 'worker', id: 'one', systemId: 'first' },
            { src: 'worker', id: 'two', systemId: 'second' },
          ],
          on: {
            FIRST: { actions: ({ system }: Any) => system.get('first').send({ type: 'GO' }) },
            SECOND: { actions: ({ self }: Any) => self.system.get('second').send({ type: 'GO' }) },
            WORKER_OVER: { actions: counted },
          },
        },
        { worker: worker(log) },
      ),
    steps: ['FIRST', 5, 'SECOND', 60],
  },
  'children of the snapshot of self': {
    make: (log) =>
      plain(
        {
          context: { n: 0 },
          invoke: { src: 'worker', id: 'worker' },
          on: {
            GO: {
              actions: ({ self }: Any) => self.getSnapshot().children.worker.send({ type: 'GO' }),
            },
            WORKER_OVER: { actions: counted },
          },
        },
        { worker: worker(log) },
      ),
    steps: ['GO', 60],
  },
  'self of a child, which is not its root': {
    make: (log) =>
      plain(
        {
          context: { who: 'root', n: 0 },
          invoke: { src: 'kid', id: 'kid' },
          on: { PING: { actions: [counted, noted(log, 'root took PING')] } },
        },
        {
          kid: plain({
            context: { who: 'kid', n: 0 },
            entry: ({ self }: Any) => {
              log.push(`I am ${self.getSnapshot().context.who}, ${self.id}`);
              self.send({ type: 'PING' });
            },
            on: { PING: { actions: [counted, noted(log, 'kid took PING')] } },
          }),
        },
      ),
    steps: [1],
  },
  'the parent, from an inline action of a grandchild and on': {
    make: () =>
      plain(
        {
          context: { n: 0 },
          invoke: { src: 'middle', id: 'middle' },
          on: { UP: { actions: counted }, GO: { actions: sendTo('middle', { type: 'GO' }) } },
        },
        {
          middle: plain(
            {
              context: { n: 0 },
              invoke: { src: 'leaf', id: 'leaf' },
              on: {
                GO: { actions: sendTo('leaf', { type: 'GO' }) },
                UP: {
                  actions: [counted, ({ self }: Any) => self._parent.send({ type: 'UP' })],
                },
              },
            },
            {
              leaf: plain({
                on: { GO: { actions: ({ self }: Any) => self._parent.send({ type: 'UP' }) } },
              }),
            },
          ),
        },
      ),
    steps: ['GO', 'GO'],
  },
  'self and system of a callback, and its self in an event': {
    hasActing: true,
    isGreeting: true,
    make: (log) =>
      plain(
        {
          context: { n: 0 },
          invoke: [
            { src: 'other', id: 'other', systemId: 'other' },
            { src: 'acting', id: 'worker-7', systemId: 'acting' },
          ],
          on: {
            HELLO: { actions: sendTo(({ event }: Any) => event.from, { type: 'WELCOME' }) },
            HEARD: { actions: counted },
          },
        },
        {
          other: plain({ context: { n: 0 }, on: { FROM_CALLBACK: { actions: counted } } }),
          acting: fromCallback(({ self, system, sendBack, receive }) => {
            log.push(`id ${self.id}, other ${system.get('other')?.getSnapshot().status}`);
            log.push(`${system.get('acting')?.id}, all ${Object.keys(system.getAll())}`);
            receive((event) => {
              log.push(`got ${event.type}`);
              sendBack({ type: 'HEARD' });
            });
            system.get('other')?.send({ type: 'FROM_CALLBACK' });
            sendBack({ type: 'HELLO', from: self });
          }),
        },
      ),
    steps: [1],
  },
  'self and system of a promise': {
    make: (log) =>
      plain(
        {
          context: { n: 0, output: null },
          invoke: [
            { src: 'other', id: 'other', systemId: 'other' },
            {
              src: 'acting',
              id: 'promise-7',
              onDone: { actions: assign({ output: ({ event }: Any) => event.output }) },
            },
          ],
          on: { UP: { actions: counted } },
        },
        {
          other: plain({ context: { n: 0 }, on: { FROM_PROMISE: { actions: counted } } }),
          acting: fromPromise(async ({ self, system }) => {
            log.push(`id ${self.id}`);
            system.get('other')?.send({ type: 'FROM_PROMISE' });
            self._parent?.send({ type: 'UP' });
            return self.id;
          }),
        },
      ),
    steps: [1],
  },
};
