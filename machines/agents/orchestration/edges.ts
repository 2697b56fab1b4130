/**
 * Edges of an orchestration's chart that recur, and its notes. The chart is in orchestration.ts.
 */

import { notingFor } from '../notes.ts';
import type { OrchestrationContext, OrchestrationEvent } from './context.ts';

export type Args = { readonly context: OrchestrationContext; readonly event: OrchestrationEvent };

export const noting = notingFor<OrchestrationContext, OrchestrationEvent>(() => ({}));

export const granting = { guard: 'canGrant', actions: 'grant' } as const;

/** How each state in which anything runs is left from outside. */
export const leaving = {
  'run.interrupt': '#orchestration.draining',
  'run.kill': {
    target: '#orchestration.draining',
    actions: ['killAll', noting('grace_skipped')],
  },
  'leadership.acquired': '#orchestration.recovering',
} as const;

/** Reasons to pause: somebody has asked for it, the session is nearly over, the budget of the run is used up. */
export const pauses = [
  { guard: 'isToPause', target: '#orchestration.pausing' },
  {
    guard: 'isSessionLow',
    target: '#orchestration.pausing',
    actions: ['disarmSession', { type: 'keepPause', params: 'threshold' }],
  },
  {
    guard: 'isOverBudget',
    target: '#orchestration.pausing',
    actions: { type: 'keepPause', params: 'budget' },
  },
] as const;
