/** Lift: doors and car between three floors. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { floor: number; goal: number } },
  delays: { travel: 4_000, dwell: 6_000 },
  guards: {
    isOther: ({ context, event }) =>
      event.floor !== context.floor && event.floor >= 0 && event.floor < 3,
    isThere: ({ context }) => context.floor === context.goal,
  },
  actions: {
    choose: assign({ goal: ({ event }) => event.floor }),
    move: assign({
      floor: ({ context }) => context.floor + Math.sign(context.goal - context.floor),
    }),
  },
}).createMachine({
  id: 'lift',
  context: { floor: 0, goal: 0 },
  initial: 'waiting',
  states: {
    waiting: {
      on: { call: { guard: 'isOther', target: 'moving', actions: 'choose' }, open: 'doors' },
    },
    moving: {
      tags: 'moving',
      always: { guard: 'isThere', target: 'doors' },
      after: { travel: { target: 'moving', reenter: true, actions: 'move' } },
      on: { stop: 'stopped' },
    },
    stopped: { tags: 'alarm', on: { release: 'moving' } },
    doors: {
      tags: 'open',
      on: { open: { target: 'doors', reenter: true }, close: 'waiting' },
      after: { dwell: 'waiting' },
    },
  },
});

export const entry: CorpusEntry = {
  machine,
  samples: { events: { call: [{ floor: 0 }, { floor: 1 }, { floor: 2 }, { floor: 3 }] } },
};
