/** Car alarm: arms itself after doors are locked, warns, sounds, and gives up. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  delays: { arming: 20_000, flashing: 30_000, sounding: 270_000 },
}).createMachine({
  id: 'carAlarm',
  initial: 'openUnlocked',
  states: {
    openUnlocked: { on: { close: 'closedUnlocked', lock: 'openLocked' } },
    closedUnlocked: { on: { open: 'openUnlocked', lock: 'closedLocked' } },
    openLocked: { on: { unlock: 'openUnlocked', close: 'closedLocked' } },
    closedLocked: {
      on: { unlock: 'closedUnlocked', open: 'openLocked' },
      after: { arming: 'armed' },
    },
    armed: { on: { unlock: 'closedUnlocked', open: 'alarm' } },
    alarm: {
      tags: 'alarm',
      initial: 'both',
      on: { unlock: 'openUnlocked' },
      states: {
        both: { tags: 'sound', after: { flashing: 'flash' } },
        flash: { after: { sounding: '#carAlarm.silentOpen' } },
      },
    },
    silentOpen: { on: { unlock: 'openUnlocked', close: 'armed' } },
  },
});

export const entry: CorpusEntry = { machine };
