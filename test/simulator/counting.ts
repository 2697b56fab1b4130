/** A simulation for tests: numbers are told to counters in two places. */

import { assign, setup } from 'xstate';
import { invariant, type SimulateOptions, simulate } from '../../simulator/index.ts';

/** Counts what it is told, and has it written down outside, then rests. */
const counter = setup({
  types: {
    context: {} as { count: number },
    events: {} as { type: 'number.told'; number: number } | { type: 'counter.end' },
  },
  actions: { writeDown: (_, _params: { number: number }) => {} },
  delays: { rest: 3_000 },
}).createMachine({
  context: { count: 0 },
  initial: 'resting',
  on: {
    'number.told': {
      target: '.resting',
      actions: [
        assign({ count: ({ context }) => context.count + 1 }),
        { type: 'writeDown', params: ({ event }) => ({ number: event.number }) },
      ],
    },
    'counter.end': '.ended',
  },
  states: { resting: { after: { rest: 'waiting' } }, waiting: {}, ended: { type: 'final' } },
});

export const kinds = { counter };
export const TOLD = 6;

/** Numbers are told one after the other; what is done to them is up to the test. */
export function counting(more: Partial<SimulateOptions<typeof kinds>> = {}) {
  return simulate({
    kinds,
    places: { left: { nodes: 2 }, right: { nodes: 2 } },
    workload: ({ chance, at, actor, spawn }) => {
      at(0, 'begin', () => Promise.all([spawn('counter/1@left'), spawn('counter/2@left')]));
      for (let number = 1; number <= TOLD; number++)
        at(chance.whole(1_000, 20_000), 'tell', () =>
          Promise.all(
            [actor('counter/1'), actor('counter/2')].map((told) =>
              told.send({ type: 'number.told', number }),
            ),
          ),
        );
      at('21s', 'end', () => actor('counter/1').send({ type: 'counter.end' }));
    },
    until: '1m',
    seeds: 8,
    ...more,
  });
}

export const neverThree = invariant<typeof kinds>('nobody counts to three', (run) => ({
  turn: (record) => {
    for (const { context, address } of run.actors('counter'))
      run.check(context.count < 3, `${address} counts to ${context.count}`, record);
  },
}));
