/**
 * Orders of the datacenter to a worker: the region `work` of worker.ts.
 *
 * Guarantees: each order is answered, a late leader's with the term of the newer leader, which
 * it does not know of. Without room, without a handler or while the worker stops, a dispatch is refused; one
 * that was taken before is answered as it was then. A worker that stops says so, by a registration
 * without handlers, so that it is not asked again.
 */

import type { DispatchRefusal, DispatchRequested } from '../messages/worker.ts';
import { judgeDispatch } from './attempts.ts';
import type { WorkerContext } from './context.ts';
import { answerTo, workerSetup } from './setup.ts';

/** Refusal of a dispatch that is not taken just now; null when it was taken before. */
function refusalOf(
  context: WorkerContext,
  asked: DispatchRequested,
  isStopping: boolean,
): DispatchRefusal | null {
  const verdict = judgeDispatch(context, asked);
  if (verdict === 'known') return null;
  if (isStopping && verdict !== 'staleTerm') return 'stopping';
  return verdict === 'new' ? null : verdict;
}

const refusing = workerSetup.createStateConfig({
  on: {
    'dispatch.requested': {
      actions: [
        { type: 'learnTerm', params: ({ event }) => event },
        {
          type: 'answerDispatch',
          params: ({ context, event }) => ({ ...event, refusal: refusalOf(context, event, true) }),
        },
        // The sender has not heard of it, or not yet.
        'announceLeaving',
      ],
    },
  },
  always: { guard: 'holdsNothing', target: '#worker.stopped' },
});

export const workRegion = workerSetup.createStateConfig({
  initial: 'open',
  on: {
    'register.answered': {
      guard: 'isWelcome',
      actions: [
        { type: 'learnDeadline', params: ({ event }) => event },
        'stopListed',
        { type: 'learnTerm', params: ({ event }) => event },
      ],
    },
    'heartbeat.acked': {
      actions: ['stopListed', { type: 'learnTerm', params: ({ event }) => event }],
    },
    'leader.announced': [
      {
        guard: 'isCurrent',
        actions: [
          { type: 'learnTerm', params: ({ event }) => event },
          'followAnnouncement',
          { type: 'answerAnnouncement', params: { accepted: true } },
        ],
      },
      { actions: { type: 'answerAnnouncement', params: { accepted: false } } },
    ],
    'cancel.ordered': [
      {
        guard: 'isUnseen',
        actions: [
          { type: 'learnTerm', params: ({ event }) => event },
          { type: 'rememberUnseen', params: ({ event }) => event },
          { type: 'answerCancel', params: ({ event }) => ({ ...event, accepted: true }) },
          {
            type: 'confirmStopped',
            params: ({ context: { workerId }, event: { jobId, attemptId } }) =>
              ({ type: 'attempt.stopped', workerId, jobId, attemptId, killed: false }) as const,
          },
        ],
      },
      {
        guard: 'isCurrent',
        actions: [
          { type: 'learnTerm', params: ({ event }) => event },
          'stopCancelled',
          { type: 'answerCancel', params: ({ event }) => ({ ...event, accepted: true }) },
        ],
      },
      {
        actions: {
          type: 'answerCancel',
          params: ({ event }) => ({ ...event, accepted: false }),
        },
      },
    ],
    'attempt.finished': { actions: { type: 'finishAttempt', params: ({ event }) => event } },
    'attempt.ended': { actions: { type: 'endAttempt', params: ({ event }) => event } },
    // A stop came too late: its attempt was over.
    'message.refused': {},
  },
  states: {
    open: {
      on: {
        'dispatch.requested': [
          {
            guard: 'isNew',
            actions: [
              'takeAttempt',
              {
                type: 'runHandler',
                params: ({ context: { datacenter, workerId }, event }) => {
                  const { jobId, attemptId, handler, payload } = event;
                  return { jobId, attemptId, datacenter, workerId, handler, payload };
                },
              },
              {
                type: 'answerUnlessOver',
                params: ({ context, event }) => answerTo(context, event),
              },
            ],
          },
          {
            actions: [
              { type: 'learnTerm', params: ({ event }) => event },
              {
                type: 'answerDispatch',
                params: ({ context, event }) => ({
                  ...event,
                  refusal: refusalOf(context, event, false),
                }),
              },
            ],
          },
        ],
        'register.answered': {
          guard: 'isTurnedAway',
          target: 'closing',
          actions: [{ type: 'setRefusal', params: ({ event }) => event }, 'dropAll'],
        },
        'worker.stop': {
          target: 'draining',
          actions: [{ type: 'closeDown', params: ({ event }) => event }, 'announceLeaving'],
        },
      },
    },
    draining: {
      ...refusing,
      after: { drainLimit: { target: 'closing', actions: 'leaveAll' } },
    },
    closing: { ...refusing, after: { closingLimit: '#worker.stopped' } },
  },
});
