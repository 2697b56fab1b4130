/** Words about the process of an attempt, and of its own: agents and experts hear the same. */

import type { SentEvent } from '../../../testing/model/step.ts';

const exited = { type: 'process.exited', exitCode: 0, signal: null, strayLines: 1 };

export const processEvents: readonly SentEvent[] = [
  { type: 'process.started', group: 7, startTicks: '9' },
  { type: 'process.refused', error: 'no such program', retryable: false },
  { ...exited, isEmpty: true, isClean: true },
  { ...exited, isEmpty: true, isClean: false },
  { ...exited, exitCode: 1, isEmpty: false, isClean: false },
  { type: 'group.emptied' },
  { type: 'cleanup.finished' },
  { type: 'line.malformed', why: 'no JSON' },
  { type: 'limit.exceeded', limit: 'outputLimit' },
  { type: 'result.reported', result: 42 },
  { type: 'failure.reported', error: 'it failed', retryable: true },
  { type: 'attempt.stop', reason: 'pause' },
  { type: 'attempt.kill' },
  { type: 'leadership.acquired', fence: 2, node: 'here' },
  { type: 'delegation.requested', requestId: 'q1', expert: 'lawyer', prompt: 'Is it?', data: null },
  {
    ...{ type: 'question.asked', requestId: 'h1', question: 'May I?' },
    ...{ options: ['yes', 'no'], context: null, allow: null },
  },
  {
    ...{ type: 'checkpoint.reported', requestId: null },
    checkpoint: {
      ...{ status: 'half', completed: ['a'], remaining: ['b'] },
      ...{ progressPercent: 50, data: null },
    },
  },
  { type: 'usage.reported', kind: 'agent', remainingPercent: null, amounts: { tokens: 11 } },
  { type: 'quota.exhausted', resetsInMs: 60_000 },
  { type: 'progress.made', message: 'on it', percent: 10 },
  { type: 'line.seen' },
  { type: 'message.refused' },
];
