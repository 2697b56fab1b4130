/** Media player: deep and shallow history over pause and power. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { idleLimit: 600_000 } }).createMachine({
  id: 'player',
  initial: 'off',
  states: {
    off: { on: { power: 'on.back' } },
    on: {
      initial: 'radio',
      on: { power: 'off', mute: 'muted' },
      states: {
        radio: {
          initial: 'fm',
          on: { next: 'disc' },
          states: { fm: { on: { band: 'am' } }, am: { on: { band: 'fm' } } },
        },
        disc: {
          initial: 'stopped',
          on: { next: 'radio' },
          states: {
            stopped: { on: { play: 'playing' }, after: { idleLimit: '#player.off' } },
            playing: { tags: 'sound', on: { pause: 'paused', stop: 'stopped' } },
            paused: { on: { play: 'playing' } },
          },
        },
        back: { type: 'history', history: 'deep' },
        source: { type: 'history', history: 'shallow' },
      },
    },
    muted: { tags: 'muted', on: { mute: 'on.source', power: 'off' } },
  },
});

export const entry: CorpusEntry = { machine };
