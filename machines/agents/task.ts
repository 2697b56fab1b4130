/**
 * Task: a piece of work from its plan to its end, by as many attempts as it takes.
 *
 *   blocked ──task.unblocked──▶ available ──task.dispatched──▶ running ──attempt.done──▶ done ■
 *      │                           ▲   ▲                          │
 *      │ dependency.failed         │   └── timed out, stalled, ───┼──attempt.failed, the last──▶ failed ■
 *      ▼                           │       failed, killed         │
 *   unreachable ■                  │                              │ once too often; or who asked a human has died
 *                                  │                              ▼
 *                                  └──clarify, increase, an answer── awaitingHuman ──skip──▶ skipped ■
 *                                                                         └──split──▶ replaced ■
 *
 * It leaves `running` only when its attempt has ended; what any other attempt says changes nothing. A question to a
 * human has no limit. While its attempt lives it is open beside it, afterwards the task waits for the answer.
 */

import { bornTask } from './task/context.ts';
import { noting, taskSetup } from './task/setup.ts';
import type { TaskState } from './words.ts';

export type { TaskContext } from './task/context.ts';

const settled = <TState extends TaskState>(state: TState) =>
  ({ type: 'settle', params: state }) as const;

const because = (reason: string) => ({ type: 'keepReason', params: reason }) as const;

const available = noting('task_available', ({ context }) => ({ reason: context.reason }));

const repeated = noting('task_repeated_timeout', ({ context }) => ({
  count: context.timeoutCount,
  action: 'divine_intervention',
}));

const refused = noting('answer_refused', ({ event }) => ({
  level: 'warn',
  ...(event.type === 'human.answered' && {
    question_id: event.questionId,
    answer: event.said.key ?? event.said.answer,
  }),
}));

const escalation = ['escalate', repeated, settled('awaitingHuman')] as const;
const requeue = [available, settled('available')] as const;
const again = ['keepAnswer', because('human_answer'), ...requeue] as const;
const reset = ['forgetQuestion', 'forgetCounts', because('human_answer'), ...requeue] as const;

const discarded = { actions: 'noteStale' } as const;

export const taskMachine = taskSetup.createMachine({
  id: 'task',
  context: ({ input }) => bornTask(input),
  initial: 'blocked',
  on: {
    // What the state that a task is in does not expect.
    'task.unblocked': {},
    'dependency.failed': {},
    'task.dispatched': {},
    'task.changed': { actions: 'keepPlan' },
    'task.removed': {},
    'attempt.recall': {},
    'attempt.kill': {},
    'checkpoint.collect': { actions: 'tellCollected' },
    'human.answered': {},
    'attempt.done': discarded,
    'attempt.failed': discarded,
    'attempt.timedOut': discarded,
    'attempt.stalled': discarded,
    'attempt.killed': discarded,
    'question.asked': {},
    'expert.answered': { actions: 'keepExpertAnswer' },
    'message.refused': {},
  },
  states: {
    blocked: {
      on: {
        'task.unblocked': {
          target: 'available',
          actions: [because('unblocked'), available],
        },
        'dependency.failed': 'unreachable',
        'task.removed': 'removed',
      },
    },
    available: {
      on: {
        'task.dispatched': { target: 'running', actions: 'beginAttempt' },
        'task.removed': 'removed',
      },
    },
    running: {
      on: {
        'attempt.recall': { actions: 'toAttempt' },
        'attempt.kill': { actions: 'toAttempt' },
        'checkpoint.collect': { actions: 'toAttempt' },
        'question.asked': { guard: 'isOwnAttempt', actions: 'openQuestion' },
        'human.answered': { guard: 'hasAgentQuestion', actions: ['passAnswer', 'keepAnswer'] },
        'attempt.done': [
          { guard: 'isForeign', ...discarded },
          { target: 'done', actions: ['keepAttempt', 'keepResult'] },
        ],
        'attempt.timedOut': [
          { guard: 'isForeign', ...discarded },
          {
            guard: 'hasQuestion',
            target: 'awaitingHuman',
            actions: ['keepAttempt', 'countTimeout', settled('awaitingHuman')],
          },
          {
            guard: 'escalatesTimeout',
            target: 'awaitingHuman',
            actions: ['keepAttempt', 'countTimeout', ...escalation],
          },
          {
            target: 'available',
            actions: ['keepAttempt', 'countTimeout', because('agent_timeout'), ...requeue],
          },
        ],
        'attempt.stalled': [
          { guard: 'isForeign', ...discarded },
          {
            guard: 'isMereStall',
            target: 'available',
            actions: ['keepAttempt', 'countStall', because('agent_stalled'), ...requeue],
          },
          {
            guard: 'escalatesTimeout',
            target: 'awaitingHuman',
            actions: ['keepAttempt', 'countStall', 'countTimeout', ...escalation],
          },
          {
            target: 'available',
            actions: [
              'keepAttempt',
              'countStall',
              'countTimeout',
              because('agent_stalled'),
              ...requeue,
            ],
          },
        ],
        'attempt.failed': [
          { guard: 'isForeign', ...discarded },
          {
            guard: 'failsForGood',
            target: 'failed',
            actions: ['keepAttempt', 'countFailure'],
          },
          {
            guard: 'hasQuestion',
            target: 'awaitingHuman',
            actions: ['keepAttempt', 'countFailure', settled('awaitingHuman')],
          },
          {
            target: 'available',
            actions: ['keepAttempt', 'countFailure', because('agent_failed'), ...requeue],
          },
        ],
        'attempt.killed': [
          { guard: 'isForeign', ...discarded },
          {
            guard: 'hasQuestion',
            target: 'awaitingHuman',
            actions: ['keepAttempt', settled('awaitingHuman')],
          },
          {
            target: 'available',
            actions: ['keepAttempt', because('agent_killed'), ...requeue],
          },
        ],
      },
    },
    awaitingHuman: {
      on: {
        'human.answered': [
          { guard: 'hasAgentQuestion', target: 'available', actions: [...again] },
          {
            guard: 'isSplit',
            target: 'replaced',
            actions: ['forgetQuestion', 'keepParts'],
          },
          {
            guard: 'isClarification',
            target: 'available',
            actions: ['keepClarification', ...reset],
          },
          { guard: 'isIncrease', target: 'available', actions: ['keepLimit', ...reset] },
          { guard: 'isSkip', target: 'skipped', actions: 'forgetQuestion' },
          // The plan has changed since it was given, say: it is asked again.
          { actions: [refused, 'escalate'] },
        ],
      },
    },
    done: {
      type: 'final',
      entry: ['withdrawQuestion', 'stopOrphans', noting('task_done'), settled('done')],
    },
    failed: {
      type: 'final',
      entry: [
        'withdrawQuestion',
        'stopOrphans',
        noting('task_failed', ({ event }) => ({
          reason: 'reason' in event ? event.reason : null,
          error: 'error' in event ? event.error : null,
        })),
        settled('failed'),
      ],
    },
    unreachable: {
      type: 'final',
      entry: [
        noting('task_unreachable', ({ event }) => ({
          dependency: 'dependency' in event ? event.dependency : null,
        })),
        settled('unreachable'),
      ],
    },
    skipped: {
      type: 'final',
      entry: ['stopOrphans', noting('task_skipped'), settled('skipped')],
    },
    replaced: {
      type: 'final',
      entry: ['stopOrphans', noting('task_replaced'), settled('replaced')],
    },
    removed: { type: 'final' },
  },
});
