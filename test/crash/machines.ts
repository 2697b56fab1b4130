/**
 * The machines of the crash rig: counters that are killed, and sinks that notice what was lost.
 *
 * Whatever a counter does leaves a trace at a sink: each add with its token and the number it
 * has in the counter, each visit, each tick of a deadline with the moments it was armed for, due
 * and taken. A message that is lost, repeated or early shows in these numbers.
 */

import { assign, type EventObject, sendTo, setup } from 'xstate';
import { type Spawned, spawnRoot, type Timed, to } from '../../runtime/machine.ts';

export const TICK_MS = 250;

/** What else an add does besides adding. */
export type Role = 'plain' | 'charging' | 'visiting' | 'ticking';

export interface CounterInput {
  readonly role: Role;
  /** Whole address. */
  readonly sink: string;
}

export interface CounterContext extends CounterInput {
  readonly count: number;
  readonly sum: number;
  readonly ticks: number;
  readonly armedAt: number;
}

export type Noted =
  | { type: 'sink.added'; token: string; counter: string; count: number; n: number }
  | { type: 'sink.charged'; token: string; effectId: string }
  | { type: 'sink.visited'; token: string }
  | TickNoted;

export interface TickNoted {
  type: 'sink.ticked';
  counter: string;
  number: number;
  armedAt: number;
  dueAt: number;
  /** Not `at`, which the runtime sets on every event. */
  firedAt: number;
}

type CounterEvent = Timed<{ type: 'counter.add'; n: number; token: string }>;

const isRole =
  (role: Role) =>
  ({ context }: { context: CounterContext }) =>
    context.role === role;

export const counterMachine = setup({
  types: {
    context: {} as CounterContext,
    events: {} as CounterEvent,
    input: {} as Spawned<CounterInput>,
  },
  actions: {
    charge: (_, _params: { token: string }) => {},
    count: assign({
      count: ({ context }) => context.count + 1,
      sum: ({ context, event }) => context.sum + event.n,
    }),
    tellSink: sendTo(
      ({ context }) => to<Noted>(context.sink),
      ({ context, event: { token, n }, self }) => ({
        type: 'sink.added',
        token,
        counter: self.id,
        count: context.count,
        n,
      }),
    ),
    tellTick: sendTo(
      ({ context }) => to<Noted>(context.sink),
      ({ context, event, self }): TickNoted => {
        const { dueAt = -1, at: firedAt } = event as Timed<EventObject>;
        const { armedAt, ticks } = context;
        const number = ticks + 1;
        return { type: 'sink.ticked', counter: self.id, number, armedAt, dueAt, firedAt };
      },
    ),
    countTick: assign({
      ticks: ({ context }) => context.ticks + 1,
      armedAt: ({ event }) => event.at,
    }),
  },
  guards: {
    isCharging: isRole('charging'),
    isVisiting: isRole('visiting'),
    isTicking: isRole('ticking'),
  },
  delays: { tick: TICK_MS },
}).createMachine({
  id: 'counter',
  context: ({ input }) => ({
    role: input.role,
    sink: input.sink,
    count: 0,
    sum: 0,
    ticks: 0,
    armedAt: input.at,
  }),
  initial: 'begun',
  states: {
    begun: { always: [{ guard: 'isTicking', target: 'ticking' }, { target: 'still' }] },
    still: {},
    ticking: {
      after: { tick: { target: 'ticking', reenter: true, actions: ['tellTick', 'countTick'] } },
    },
  },
  on: {
    'counter.add': [
      {
        guard: 'isCharging',
        actions: [
          'count',
          'tellSink',
          { type: 'charge', params: ({ event }) => ({ token: event.token }) },
        ],
      },
      {
        guard: 'isVisiting',
        actions: [
          'count',
          'tellSink',
          spawnRoot(
            ({ event }) => `visit/${event.token}`,
            ({ context, event }) => ({ sink: context.sink, token: event.token }),
          ),
        ],
      },
      { actions: ['count', 'tellSink'] },
    ],
  },
});

interface VisitInput {
  readonly sink: string;
  readonly token: string;
}

/** Is spawned, says so, and ends. */
export const visitMachine = setup({
  types: { context: {} as VisitInput, input: {} as VisitInput },
}).createMachine({
  id: 'visit',
  context: ({ input: { sink, token } }) => ({ sink, token }),
  entry: sendTo(
    ({ context }) => to<Noted>(context.sink),
    ({ context }) => ({ type: 'sink.visited', token: context.token }),
  ),
  initial: 'visiting',
  states: { visiting: { always: 'over' }, over: { type: 'final' } },
});

/** Takes a message once, and says so outside of the runtime by its performer `note`. */
export const sinkMachine = setup({
  types: { context: {} as { readonly taken: number }, events: {} as Noted },
  actions: {
    note: (_, _params: Noted) => {},
    take: assign({ taken: ({ context }) => context.taken + 1 }),
  },
}).createMachine({
  id: 'sink',
  context: { taken: 0 },
  on: {
    'sink.*': { actions: ['take', { type: 'note', params: ({ event }) => event }] },
  },
});
