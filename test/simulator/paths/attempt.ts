/** The paths of an attempt: how its handler ends, who stops it and why, and whether that is in time. */

import { attemptMachine } from '../../../machines/jobs/attempt.ts';
import type { PathPlan } from '../../paths/plan.ts';

const succeeded = { ok: true, result: 'r', truncated: false, error: null, retryable: true };
const error = { code: 'X', detail: 'd' };

export const attemptPlan: PathPlan = {
  machine: attemptMachine,
  inputs: Object.fromEntries(
    ['cancelled', 'unwanted', 'leaving'].map((cause) => [
      cause,
      { jobId: 'j1', attemptId: 'w1#1', workerId: 'W', cause, cancelGraceMs: 10_000 },
    ]),
  ),
  events: () => [
    { type: 'handler.ended', ...succeeded },
    { type: 'handler.ended', ...succeeded, ok: false, result: null, error } as never,
    ...['cancelled', 'unwanted', 'leaving'].map((cause) => ({ type: 'attempt.stop', cause })),
    { type: 'handler.reported' },
  ],
  key: ({ stopCause }) => stopCause,
};
