/**
 * Leadership of a place, as one of its nodes sees it: a lease that is asked for, kept and lost.
 *
 *   follower ──after pause, leaseStore.changed──▶ acquiring ──lease.granted (fence f)──▶ leading
 *      ▲  ◀─────lease.refused, leaseStore.failed, no answer────┘                            │
 *      └────────leaseOver, lease.expired, lease.refused────────────────────────────────────┘
 *   any of them ──lease.resign──▶ resigned
 *
 *   leading (parallel)
 *   ├─ holding    armed ──after leaseOver──▶ follower          each renewal arms it again
 *   └─ renewing   resting ──after renewPause──▶ asking ──lease.renewed──▶ resting
 *                    │                            └─leaseStore.failed─▶ retrying ──▶ asking
 *                    └─a greater fence is wanted──▶ raising ──lease.raised──▶ resting
 *
 * Guarantees: what it counts as its lease begins when a request was sent, not when it was
 * answered, and ends `leaseMarginMs` before the lease store's own count can; an answer that comes
 * later than that confirms nothing. It draws no chance: every answer brings a number of its own.
 */

import { assign, setup } from 'xstate';
import type { Spawned, Timed } from '../runtime/machine.ts';
import type { LeaseRules } from './lease-rules.ts';

/** An answer names the request it belongs to; `jitter` is a number from 0 to below 1. */
export type LeadershipEvent = Timed<
  | { type: 'lease.granted'; request: number; fence: number }
  | { type: 'lease.renewed'; request: number }
  | { type: 'lease.raised'; request: number; fence: number }
  | { type: 'lease.refused'; request: number; jitter: number }
  | { type: 'leaseStore.failed'; request: number; jitter: number }
  | { type: 'leaseStore.changed' }
  | { type: 'lease.expired' }
  | { type: 'fence.raise'; atLeast: number }
  | { type: 'lease.resign' }
>;

export interface LeadershipInput {
  readonly rules: LeaseRules;
}

interface LeadershipContext {
  readonly rules: LeaseRules;
  /** Number of the last request, and when it was sent. */
  readonly request: number;
  readonly askedAt: number;
  /** Time at which the request was sent by which the lease is known to be ours. */
  readonly confirmedAt: number;
  readonly fence: number;
  /** Fence that the lease has to be raised to. */
  readonly wantedFence: number;
  /** Until the lease store is asked again. */
  readonly pauseMs: number;
  /** The lease store has changed since it was asked. */
  readonly hasChanged: boolean;
}

/** A failed renewal is tried again after a quarter to a half of the usual pause. */
const RETRY_SHARE = 4;

/** The last moment at which a lease is ours that was confirmed by a request of that time. */
const endOf = ({ leaseMs, leaseMarginMs }: LeaseRules, confirmedAt: number): number =>
  confirmedAt + leaseMs - leaseMarginMs;

/** Between this long and half of it: a follower asks about as often as a leader renews. */
const followerPauseMs = ({ leaseRenewMs, leaseJitterMs }: LeaseRules, jitter: number): number =>
  Math.ceil(leaseRenewMs - Math.min(leaseJitterMs, leaseRenewMs / 2) * jitter);

const isAnswer = (context: LeadershipContext, event: LeadershipEvent): boolean =>
  'request' in event && event.request === context.request;

const leadership = setup({
  types: {
    context: {} as LeadershipContext,
    events: {} as LeadershipEvent,
    input: {} as Spawned<LeadershipInput>,
  },
  actions: {
    // Done by the program: each asks the lease store, and sends the answer back with its number.
    acquireLease: (_, _params: { request: number; leaseMs: number }) => {},
    renewLease: (_, _params: { request: number; fence: number; leaseMs: number }) => {},
    raiseLease: (_, _params: { request: number; fence: number; atLeast: number }) => {},
    releaseLease: (_, _params: { fence: number }) => {},
    // For managers that want to lead. `until` is the last moment at which the lease is ours.
    announceFollowing: () => {},
    announceLeading: (_, _params: { fence: number; until: number }) => {},
    announceRenewed: (_, _params: { until: number }) => {},
    announceRaised: (_, _params: { fence: number }) => {},
    announceLost: () => {},
    // Done by the machine.
    numberRequest: assign({
      request: ({ context }) => context.request + 1,
      askedAt: ({ event }) => event.at,
      hasChanged: false,
    }),
    confirm: assign({ confirmedAt: ({ context }) => context.askedAt }),
    adoptFence: assign((_, { fence }: { fence: number }) => ({ fence })),
    wantFence: assign(({ context }, { atLeast }: { atLeast: number }) => ({
      wantedFence: Math.max(context.wantedFence, atLeast),
    })),
    noteChange: assign({ hasChanged: true }),
    pauseAsFollower: assign(({ context }, { jitter }: { jitter: number }) => ({
      pauseMs: followerPauseMs(context.rules, jitter),
    })),
    pauseBeforeRetry: assign(({ context }, { jitter }: { jitter: number }) => ({
      pauseMs: Math.ceil((context.rules.leaseRenewMs * (1 + jitter)) / RETRY_SHARE),
    })),
  },
  guards: {
    isAnswer: ({ context, event }) => isAnswer(context, event),
    /** The lease may be somebody else's by now when the answer was longer under way than it holds. */
    isGrantInTime: ({ context, event }) =>
      isAnswer(context, event) && event.at <= endOf(context.rules, context.askedAt),
    isRenewalInTime: ({ context, event }) =>
      isAnswer(context, event) && event.at <= endOf(context.rules, context.confirmedAt),
    isFenceWanted: ({ context }) => context.wantedFence > context.fence,
    hasChanged: ({ context }) => context.hasChanged,
  },
  delays: {
    pause: ({ context }) => context.pauseMs,
    answerLimit: ({ context }) => context.rules.leaseMs - context.rules.leaseMarginMs,
    leaseOver: ({ context, event }) => endOf(context.rules, context.confirmedAt) + 1 - event.at,
    renewPause: ({ context, event }) =>
      Math.max(0, context.askedAt + context.rules.leaseRenewMs - event.at),
  },
});

/** Without an answer there is no chance to use: the whole pause. */
const wholePause = { type: 'pauseAsFollower', params: { jitter: 0 } } as const;
const drawnPause = {
  type: 'pauseAsFollower',
  params: ({ event }: { event: { jitter: number } }) => ({ jitter: event.jitter }),
} as const;
const free = {
  type: 'releaseLease',
  params: ({ context }: { context: LeadershipContext }) => ({ fence: context.fence }),
} as const;

const follow = {
  guard: 'isAnswer',
  target: 'follower',
  actions: [drawnPause, 'announceFollowing'],
} as const;
const retry = {
  guard: 'isAnswer',
  target: 'retrying',
  actions: { ...drawnPause, type: 'pauseBeforeRetry' },
} as const;

const holding = leadership.createStateConfig({
  initial: 'armed',
  states: {
    armed: {
      on: { 'lease.renewed': { guard: 'isRenewalInTime', target: 'armed', reenter: true } },
      after: { leaseOver: { target: '#leadership.follower', actions: [wholePause, free] } },
    },
  },
});

const renewing = leadership.createStateConfig({
  initial: 'resting',
  states: {
    resting: {
      always: [
        { guard: 'isFenceWanted', target: 'raising' },
        { guard: 'hasChanged', target: 'asking' },
      ],
      after: { renewPause: 'asking' },
    },
    asking: {
      entry: [
        'numberRequest',
        {
          type: 'renewLease',
          params: ({ context: { request, fence, rules } }) => ({
            request,
            fence,
            leaseMs: rules.leaseMs,
          }),
        },
      ],
      on: {
        'lease.renewed': [
          {
            guard: 'isRenewalInTime',
            target: 'resting',
            actions: [
              'confirm',
              {
                type: 'announceRenewed',
                params: ({ context: { rules, confirmedAt } }) => ({
                  until: endOf(rules, confirmedAt),
                }),
              },
            ],
          },
          // The lease store holds it for us, and we have stopped already: nobody has to wait for it.
          { guard: 'isAnswer', target: '#leadership.follower', actions: [wholePause, free] },
        ],
        'leaseStore.failed': retry,
      },
    },
    retrying: { after: { pause: 'asking' } },
    raising: {
      entry: [
        'numberRequest',
        {
          type: 'raiseLease',
          params: ({ context: { request, fence, wantedFence } }) => ({
            request,
            fence,
            atLeast: wantedFence,
          }),
        },
      ],
      on: {
        'lease.raised': {
          guard: 'isAnswer',
          target: 'asking',
          actions: [
            { type: 'adoptFence', params: ({ event }) => event },
            { type: 'announceRaised', params: ({ event }) => ({ fence: event.fence }) },
          ],
        },
        'leaseStore.failed': retry,
      },
    },
  },
});

export const leadershipMachine = leadership.createMachine({
  id: 'leadership',
  context: ({ input }) => ({
    rules: input.rules,
    request: 0,
    askedAt: input.at,
    confirmedAt: input.at,
    fence: 0,
    wantedFence: 0,
    pauseMs: 0,
    hasChanged: false,
  }),
  initial: 'follower',
  on: {
    'leaseStore.changed': { actions: 'noteChange' },
    'lease.resign': '.resigned',
    // Granted when it was not waited for any more.
    'lease.granted': {
      actions: { type: 'releaseLease', params: ({ event }) => ({ fence: event.fence }) },
    },
  },
  states: {
    follower: {
      always: { guard: 'hasChanged', target: 'acquiring' },
      after: { pause: 'acquiring' },
    },
    acquiring: {
      entry: [
        'numberRequest',
        {
          type: 'acquireLease',
          params: ({ context: { request, rules } }) => ({ request, leaseMs: rules.leaseMs }),
        },
      ],
      on: {
        'lease.granted': {
          guard: 'isGrantInTime',
          target: 'leading',
          actions: ['confirm', { type: 'adoptFence', params: ({ event }) => event }],
        },
        'lease.refused': follow,
        'leaseStore.failed': follow,
      },
      after: { answerLimit: { target: 'follower', actions: [wholePause, 'announceFollowing'] } },
    },
    leading: {
      type: 'parallel',
      entry: {
        type: 'announceLeading',
        params: ({ context: { fence, rules, confirmedAt } }) => ({
          fence,
          until: endOf(rules, confirmedAt),
        }),
      },
      exit: 'announceLost',
      on: {
        'fence.raise': { actions: { type: 'wantFence', params: ({ event }) => event } },
        'lease.refused': { guard: 'isAnswer', target: 'follower', actions: drawnPause },
        // Somebody looked at the clock before the deadline was taken.
        'lease.expired': { target: 'follower', actions: [wholePause, free] },
        'lease.resign': { target: 'resigned', actions: free },
      },
      states: { holding, renewing },
    },
    // A follower that does not ask any more; a grant that is still under way is given back.
    resigned: {},
  },
});
