/** A machine that invokes another one, which waits and answers. */

import { sendTo, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const child = setup({ delays: { thinking: 1_000 } }).createMachine({
  id: 'child',
  initial: 'thinking',
  states: {
    thinking: { after: { thinking: 'ready' }, on: { hurry: 'ready' } },
    ready: { type: 'final' },
  },
});
const machine = setup({ actors: { child }, delays: { limit: 3_000 } }).createMachine({
  id: 'parent',
  initial: 'idle',
  states: {
    idle: { on: { ask: 'waiting' } },
    waiting: {
      tags: 'busy',
      invoke: { id: 'child', src: 'child', onDone: 'answered' },
      on: { hurry: { actions: sendTo('child', { type: 'hurry' }) }, cancel: 'idle' },
      after: { limit: 'idle' },
    },
    answered: { tags: 'answered', on: { ask: 'waiting' } },
  },
});

export const entry: CorpusEntry = { machine };
