/**
 * Checkpoints of an attempt: the regions of its chart that ask for them and wait for the answers.
 *
 *   interval     off, ticking ◀──▶ frozen       ticking ─after checkpointInterval─▶ one more is due
 *   checkpoint   idle ──due, collected──▶ requested ──answered──▶ idle
 *                requested ─after checkpointWait─▶ a miss: idle, requested again, or stalled
 *                idle, requested ──it waits for somebody──▶ suspended
 */

import type { EventOf } from './context.ts';
import * as notes from './notes.ts';

const stalled = {
  type: 'decide',
  params: { outcome: 'stalled', reason: 'agent_stalled', stopReason: 'stalled' },
} as const;

const ask = (reason: 'interval' | 'retry') =>
  ({ type: 'ask', params: { reason, windowEndsAt: null } }) as const;

const askCollected = {
  type: 'ask',
  params: ({ event }: { event: EventOf<'checkpoint.collect'> }) => ({
    reason: event.reason,
    windowEndsAt: event.windowEndsAt,
  }),
} as const;

/** A checkpoint line where nothing was asked, or not by this answer. */
const takeUnasked = [
  { guard: 'isLate', actions: ['keepCheckpoint', 'keepAction', notes.late] },
  {
    guard: 'isUnsolicited',
    actions: ['keepCheckpoint', 'keepAction', 'forgetMisses', notes.received],
  },
  { actions: ['keepCheckpoint', 'keepAction', notes.received] },
] as const;

export const interval = {
  initial: 'choosing',
  states: {
    choosing: {
      always: [{ guard: 'hasCheckpoints', target: 'ticking' }, { target: 'off' }],
    },
    off: {},
    ticking: {
      on: { 'clock.stop': 'frozen' },
      after: {
        checkpointInterval: [
          { guard: 'isClockDue' },
          // A miss of the same moment comes first: the tick is armed again, behind it.
          { guard: 'isWaitDue', target: 'ticking', reenter: true },
          { target: 'ticking', reenter: true, actions: ['countTick', 'sayDue'] },
        ],
      },
    },
    frozen: { on: { 'clock.continue': 'ticking' } },
  },
} as const;

export const checkpoint = {
  initial: 'idle',
  states: {
    idle: {
      on: {
        'checkpoint.due': { target: 'requested', actions: ask('interval') },
        'checkpoint.collect': [
          { guard: 'hasCheckpoints', target: 'requested', actions: askCollected },
          { actions: 'tellCollected' },
        ],
        'checkpoint.reported': takeUnasked,
        'clock.stop': 'suspended',
      },
    },
    requested: {
      on: {
        'checkpoint.collect': {
          target: 'requested',
          reenter: true,
          actions: 'joinRequest',
        },
        'checkpoint.reported': [
          {
            guard: 'answersRequest',
            target: 'answered',
            actions: ['keepCheckpoint', 'keepAction', notes.received],
          },
          ...takeUnasked,
        ],
        'clock.stop': 'withdrawn',
      },
      after: {
        checkpointWait: [
          // The agent's own deadline is taken next.
          { guard: 'isClockDue', target: 'withdrawn' },
          {
            guard: 'stallsNow',
            target: '#agent.terminating.stopping',
            actions: ['countMiss', notes.missed, notes.stalled, stalled, 'tellCollected'],
          },
          { target: 'missed' },
        ],
      },
    },
    answered: {
      always: [
        {
          guard: 'isCollected',
          target: 'idle',
          actions: ['forgetMisses', 'tellCollected'],
        },
        { target: 'idle', actions: 'forgetMisses' },
      ],
    },
    missed: {
      always: [
        {
          guard: 'isCollected',
          target: 'unanswered',
          actions: ['countMiss', notes.missed, 'tellCollected'],
        },
        { target: 'unanswered', actions: ['countMiss', notes.missed] },
      ],
    },
    unanswered: {
      always: [
        { guard: 'asksAgain', target: 'requested', actions: ask('retry') },
        { target: 'idle' },
      ],
    },
    withdrawn: {
      always: [
        {
          guard: 'isCollected',
          target: 'suspended',
          actions: ['forgetRequest', 'tellCollected'],
        },
        { target: 'suspended', actions: 'forgetRequest' },
      ],
    },
    suspended: {
      on: {
        'checkpoint.reported': takeUnasked,
        'checkpoint.collect': { actions: 'tellCollected' },
        'clock.continue': 'idle',
      },
    },
  },
} as const;
