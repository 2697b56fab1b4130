/**
 * Setup of the datacenter chart: its actions and guards, by name. The chart is in datacenter.ts.
 */

import { assign, setup } from 'xstate';
import type { Args, DatacenterContext, DatacenterEvent, GateLimits } from './context.ts';
import * as decision from './decision.ts';
import * as words from './steps.ts';

export const datacenterSetup = setup({
  types: {
    context: {} as DatacenterContext,
    events: {} as DatacenterEvent,
    input: {} as { readonly limits: GateLimits },
  },
  actions: {
    take: assign((args: Args) => words.taken(args)),
    join: assign((args: Args) => words.joined(args)),
    find: assign((args: Args) => words.found(args)),
    /** It has no job, and may have one later. */
    keepFull: assign(({ event }: Args) =>
      event.type === 'submission.deferred' ? { fullUntil: event.at + event.retryAfterMs } : {},
    ),
    keepTold: assign(({ event }: Args) =>
      event.type === 'decision.told' ? { told: event.told } : {},
    ),
    forgetTold: assign({ told: null }),
    see: assign(({ event }: Args) => ({
      lastSeenAt: event.at,
      askedAt: null,
      isQuestioned: false,
    })),
    loseTouch: assign(({ event }: Args) => ({
      contactSince: event.at,
      metAt: null,
      question: null,
    })),
    /** It is there: a question that may be lost is asked again. */
    meet: assign(({ context: { metAt, question }, event }: Args) => ({
      metAt: metAt ?? event.at,
      question: question?.nonce === '' ? null : question,
    })),
    askAgain: assign({ question: null }),
    catchUp: assign((args: Args) => words.caughtUp(args)),
    keepQuestion: assign(({ event }: Args) =>
      event.type === 'datacenter.asked'
        ? { question: { nonce: event.nonce, at: event.at }, isQuestioned: true }
        : {},
    ),
    noteSilent: assign(({ event }: Args) => ({ askedAt: event.at })),
  },
  guards: {
    isInTime: ({ context, event }: Args) =>
      event.type === 'submission.answered' &&
      event.accepted &&
      event.at <= context.limits.dispatchDueAt,
    /** Of a job that has ended there its jobs service is asked. */
    isTakenBefore: ({ event }: Args) =>
      event.type === 'submission.answered' && !event.created && event.hasEnded !== true,
    mayHaveIt: ({ event }: Args) => words.mayHaveIt(event),
    isEnd: ({ event }: Args) => words.isEnd(event),
    isTimeout: (args: Args) => words.isTimeout(args),
    isTakenBack: (args: Args) => words.isTakenBack(args),
    isStale: (args: Args) => words.isStale(args),
    isNeverTaken: ({ context, event }: Args) =>
      event.type === 'status.found' && event.found === null && decision.isNeverTaken(context),
    /**
     * It had waited to be sent, comes when one is missing before it, or speaks against the job and was held up on
     * its way: it says how things were.
     */
    isHistory: (args: Args) =>
      args.event.ageMs !== undefined ||
      args.event.at - args.context.lastSeenAt > args.context.limits.missedAfterMs ||
      (words.isAgainst(args) && words.isHeldUp(args)),
    /** It could have been silent before: nobody looked. */
    isSeenLate: ({ context, event }: Args) =>
      event.at > context.lastSeenAt + context.limits.silentAfterMs + words.LATE_MS,
    isAnswer: (args: Args) => words.isAnswer(args),
    /** It had waited, or the question had. */
    isReply: (args: Args) => words.isReply(args),
    hasMet: ({ context }: Args) => context.metAt !== null,
    isAck: ({ event }: Args) => decision.isAck(event),
    isObeyed: ({ event }: Args) => decision.isObeyed(event),
    isNobodyThere: (args: Args) => decision.isNobodyThere(args),
    isRefused: (args: Args) => decision.isRefused(args),
    isCorrected: (args: Args) => decision.isCorrected(args),
    isRefusedAgain: (args: Args) => decision.isRefusedAgain(args),
    isTaken: ({ event }: Args) => event.type === 'submission.answered' && event.accepted,
    hasFenceMoved: ({ context: { told, leaderFence } }: Args) =>
      told !== null && leaderFence > told.leaderFence,
  },
});
