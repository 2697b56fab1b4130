/**
 * Edges of an attempt's chart that recur: what it is ended for, and what it may not do while it waits. The chart
 * is in agent.ts.
 */

import type { ExpertFailure } from '../words.ts';
import type { EventOf } from './context.ts';
import * as notes from './notes.ts';

export const timeout = (reason: 'agent_timeout' | 'idle' | 'budget') =>
  ({
    type: 'decide',
    params: {
      outcome: 'timedOut',
      reason,
      stopReason: reason === 'agent_timeout' ? 'timedOut' : reason,
    },
  }) as const;

const broken = {
  type: 'decide',
  params: { outcome: 'failed', reason: 'protocol', stopReason: 'limit' },
} as const;

export const exited = {
  type: 'decide',
  params: ({ event }: { event: EventOf<'process.exited'> }) => ({
    outcome: 'failed' as const,
    reason: 'exit',
    stopReason: 'limit' as const,
    error:
      event.signal === null
        ? `it exited with code ${event.exitCode} and no result`
        : `it was ended by ${event.signal}`,
  }),
} as const;

export const overLimit = {
  type: 'decide',
  params: ({ event }: { event: EventOf<'limit.exceeded'> }) => ({
    outcome: 'failed' as const,
    reason: event.limit,
    stopReason: 'limit' as const,
  }),
} as const;

export const stopped = {
  type: 'decide',
  params: ({ event }: { event: EventOf<'attempt.stop'> }) => ({
    outcome: 'killed' as const,
    reason: event.reason,
    stopReason: event.reason,
  }),
} as const;

/** Nothing was heard of its start: whatever there is of it is killed. */
export const notStarted = {
  type: 'decide',
  params: { outcome: 'failed', reason: 'spawn', error: 'nothing was heard of its start' },
} as const;

export const killed = {
  type: 'decide',
  params: { outcome: 'killed', reason: 'shutdown', stopReason: 'shutdown' },
} as const;

export const outOfQuota = {
  type: 'decide',
  params: { outcome: 'killed', reason: 'quota', stopReason: 'quota' },
} as const;

export const restarted = {
  type: 'decide',
  params: { outcome: 'killed', reason: 'runtimeRestart', stopReason: 'runtimeRestart' },
} as const;

const tooManyMalformed = {
  guard: 'isOneTooMany',
  target: '#agent.terminating.stopping',
  actions: ['countMalformed', notes.malformed, broken],
} as const;

export const malformed = [
  tooManyMalformed,
  { actions: ['countMalformed', notes.malformed] },
] as const;

/** A request with an id that was used before. */
export const repeated = { guard: 'isRepeated', actions: notes.discarded('repeated') } as const;

export const refusing = (reason: ExpertFailure) =>
  ['keepSeen', { type: 'refuseExpert', params: reason }, notes.refused(reason)] as const;

export const waiting = {
  'delegation.requested': [repeated, { actions: refusing('busy') }],
  'question.asked': [repeated, ...malformed],
} as const;
