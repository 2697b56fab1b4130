/**
 * Quota: the part of an orchestration's chart in which nothing runs until a quota is there again, and one attempt
 * tries whether it is.
 *
 *   stopping ──nobody left──▶ waiting ─after quotaReset─▶ probing ──it ends otherwise, or asks a human──▶ running
 *      ▲                                                     │
 *      └────────────────the quota is used up─────────────────┘
 *
 * A pause or a drain leaves it at once. What it ends counts for nothing.
 */

import { granting, leaving, noting } from './edges.ts';

const available = noting('quota_available');

export const quota = {
  tags: 'active',
  initial: 'stopping',
  entry: noting('quota_exhausted', ({ context }) => ({
    level: 'warn',
    resets_at: context.quotaEndsAt,
  })),
  always: [
    { guard: 'isDone', target: '#orchestration.finished' },
    { guard: 'isToPause', target: '#orchestration.pausing' },
    { guard: 'isToDrain', target: '#orchestration.finishing' },
  ],
  on: leaving,
  states: {
    stopping: {
      entry: { type: 'stopAll', params: 'quota' },
      always: { guard: 'isQuiet', target: 'waiting' },
    },
    waiting: {
      on: { 'quota.exhausted': { target: 'waiting', reenter: true, actions: 'keepQuota' } },
      after: { quotaReset: 'probing' },
    },
    probing: {
      always: [
        { guard: 'canProbe', actions: 'dispatchOne' },
        granting,
        // Nothing to probe with: whatever becomes available later will show.
        { guard: 'isQuiet', target: '#orchestration.running' },
      ],
      on: {
        'quota.exhausted': {
          target: '#orchestration.quota',
          reenter: true,
          actions: 'keepQuota',
        },
        'task.settled': {
          guard: 'isProbeEnd',
          target: '#orchestration.running',
          actions: ['takeSettled', available],
        },
        'question.opened': {
          target: '#orchestration.running',
          actions: ['openQuestion', available],
        },
      },
    },
  },
} as const;
