/**
 * Delegation: one request of an agent to an expert, which is a process of its own with a limit of its own.
 *
 *   queued ──expert.granted──▶ starting ──process.started──▶ running ──result.reported──▶ terminating.exiting ──▶ …
 *      │                          │ refused                    │ after delegationLimit, failure, exit, a line that
 *      │ delegator.ended, stop    │ after startLimit           │ experts may not send, a quota, attempt.stop
 *      ▼                          ▼                            ▼
 *   unsuccessful ■             cleaning                     terminating.stopping ──▶ …
 *
 *                    … ──▶ ending ──▶ answered ■, unsuccessful ■       (process-end.ts has what lies between)
 *
 * The limit counts from the expert's start and not from queueing. An expert at work outlives an attempt that
 * died: its answer goes to the task. Its asker is told when nothing of the expert is left.
 */

import { bornDelegation } from './delegation/context.ts';
import { delegationSetup, noting } from './delegation/setup.ts';
import { endings, named } from './process-end.ts';
import type { ExpertFailure, StopReason } from './words.ts';

const failing = <TReason extends ExpertFailure>(reason: TReason) =>
  ({ type: 'keepReason', params: reason }) as const;

const stopping = (reason: StopReason) => ({ type: 'keepStopReason', params: reason }) as const;

const malformed = noting('malformed_line', ({ event }) => ({
  ...(event.type === 'line.malformed' && { why: event.why, line: event.line, text: event.text }),
}));

const discarded = noting('line_discarded', ({ event }) => ({ reason: 'late', line: event.type }));

const progress = noting('agent_progress', ({ event }) =>
  event.type === 'progress.made' ? { message: event.message, percent: event.percent } : {},
);

const notAllowed = {
  target: 'terminating.stopping',
  actions: [failing('notAllowed'), stopping('limit')],
} as const;

export const delegationMachine = delegationSetup.createMachine({
  id: 'delegation',
  context: ({ input }) => bornDelegation(input),
  initial: 'queued',
  on: {
    // What the state that a delegation is in does not expect.
    'process.started': {},
    'process.refused': {},
    'process.exited': {},
    'group.emptied': {},
    'cleanup.finished': {},
    'line.malformed': {},
    'limit.exceeded': {},
    'result.reported': {},
    'failure.reported': {},
    'attempt.stop': {},
    'attempt.kill': {},
    'leadership.acquired': {},
    'expert.granted': {},
    'delegator.ended': {},
    'delegation.requested': { actions: discarded },
    'question.asked': { actions: discarded },
    // Nobody asks an expert for checkpoints.
    'checkpoint.reported': {},
    'usage.reported': { actions: ['addUsage', 'tellUsage'] },
    'quota.exhausted': { actions: discarded },
    'progress.made': { actions: progress },
    'line.seen': {},
    'message.refused': {},
  },
  states: {
    queued: {
      entry: ['tellQueued', noting('delegation_queued')],
      on: {
        'expert.granted': 'starting',
        'delegator.ended': { target: 'unsuccessful', actions: failing('exit') },
        'attempt.stop': { target: 'unsuccessful', actions: failing('exit') },
        'leadership.acquired': { target: 'unsuccessful', actions: failing('exit') },
      },
    },
    starting: {
      entry: {
        type: 'startProcess',
        params: ({ context }) => ({ ...named({ context }), attempt: 1 }),
      },
      on: {
        'process.started': {
          target: 'running',
          actions: ['keepProcess', noting('delegation_started')],
        },
        'process.refused': { target: 'cleaning', actions: failing('failed') },
        'attempt.stop': {
          target: 'terminating.stopping',
          actions: [failing('exit'), 'keepStop'],
        },
        'attempt.kill': { target: 'terminating.killing', actions: failing('exit') },
        'leadership.acquired': { target: 'terminating.killing', actions: failing('exit') },
      },
      after: { startLimit: { target: 'terminating.killing', actions: failing('failed') } },
    },
    running: {
      tags: 'active',
      on: {
        'result.reported': { target: 'terminating.exiting', actions: 'keepAnswer' },
        'failure.reported': { target: 'terminating.exiting', actions: failing('failed') },
        'process.exited': [
          { guard: 'isClean', target: 'ending', actions: ['keepExit', failing('exit')] },
          { guard: 'isEmpty', target: 'cleaning', actions: ['keepExit', failing('exit')] },
          {
            target: 'terminating.stopping',
            actions: ['keepExit', failing('exit'), stopping('limit')],
          },
        ],
        'limit.exceeded': {
          target: 'terminating.stopping',
          actions: [failing('failed'), stopping('limit')],
        },
        'line.malformed': [
          {
            guard: 'isOneTooMany',
            target: 'terminating.stopping',
            actions: ['countMalformed', malformed, failing('failed'), stopping('limit')],
          },
          { actions: ['countMalformed', malformed] },
        ],
        'delegation.requested': notAllowed,
        'question.asked': notAllowed,
        // The run pauses, and with it the attempt that asked.
        'quota.exhausted': {
          target: 'terminating.stopping',
          actions: ['tellQuota', failing('failed'), stopping('quota')],
        },
        'attempt.stop': {
          target: 'terminating.stopping',
          actions: [failing('exit'), 'keepStop'],
        },
        'attempt.kill': { target: 'terminating.killing', actions: failing('exit') },
        'leadership.acquired': { target: 'terminating.killing', actions: failing('exit') },
      },
      after: {
        delegationLimit: {
          target: 'terminating.stopping',
          actions: [failing('timedOut'), stopping('timedOut')],
        },
      },
    },
    ...endings('delegation', 'ending'),
    ending: {
      always: [{ guard: 'isAnswered', target: 'answered' }, { target: 'unsuccessful' }],
    },
    answered: {
      type: 'final',
      entry: ['keepEnd', noting('delegation_answered'), 'tellAnswer'],
    },
    unsuccessful: {
      type: 'final',
      entry: [
        'keepEnd',
        noting('delegation_unsuccessful', ({ context }) => ({ reason: context.reason })),
        'tellAnswer',
      ],
    },
  },
});
