/** Login: locked for a while after three wrong passwords. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { wrong: number } },
  delays: { lockout: 900_000, idle: 1_800_000 },
  guards: { isThird: ({ context }) => context.wrong === 2 },
  actions: {
    count: assign({ wrong: ({ context }) => context.wrong + 1 }),
    forgive: assign({ wrong: 0 }),
  },
}).createMachine({
  id: 'login',
  context: { wrong: 0 },
  initial: 'out',
  states: {
    out: {
      on: {
        'password.right': { target: 'in', actions: 'forgive' },
        'password.wrong': [{ guard: 'isThird', target: 'locked' }, { actions: 'count' }],
      },
    },
    locked: {
      tags: 'locked',
      after: { lockout: { target: 'out', actions: 'forgive' } },
      on: { 'admin.unlock': { target: 'out', actions: 'forgive' } },
    },
    in: {
      tags: 'in',
      on: { logout: 'out', act: { target: 'in', reenter: true } },
      after: { idle: 'out' },
    },
  },
});

export const entry: CorpusEntry = { machine };
