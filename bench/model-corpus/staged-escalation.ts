/** Escalation in stages, with a raised event that is delayed. */

import { raise, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { first: 5_000, second: 15_000 } }).createMachine({
  id: 'escalation',
  initial: 'open',
  entry: raise({ type: 'escalate' }, { delay: 60_000, id: 'last' }),
  on: { escalate: '.chief' },
  states: {
    open: { on: { take: 'taken' }, after: { first: 'team' } },
    team: { tags: 'team', on: { take: 'taken' }, after: { second: 'manager' } },
    manager: { tags: 'manager', on: { take: 'taken' } },
    taken: { on: { drop: 'open', close: 'closed' } },
    chief: { tags: 'chief', on: { close: 'closed' } },
    closed: { type: 'final' },
  },
});

export const entry: CorpusEntry = { machine };
