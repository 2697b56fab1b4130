/**
 * Edges of the chart in workflow.ts that stand in more than one of its states, and what each logs; a limit begins
 * again.
 */

import type { LogEventName } from '../log-events.ts';
import type { WorkflowState } from '../words.ts';
import { attemptOf, type WorkflowContext, type WorkflowEvent } from './context.ts';

type Args = { readonly context: WorkflowContext; readonly event: WorkflowEvent };

export const noted = (name: LogEventName, fields: (args: Args) => object = () => ({})) =>
  ({
    type: 'note',
    params: (args: Args) => ({
      event: name,
      at: args.event.at,
      jobId: args.context.jobId,
      datacenter: args.context.datacenter,
      workflowId: args.context.workflowId,
      attemptId: attemptOf(args.context),
      ...fields(args),
    }),
  }) as const;

export const moved = (from: WorkflowState, to: WorkflowState) =>
  noted('workflow.transition', ({ context }) => ({ from, to, cause: context.cause }));
export const refused = {
  actions: noted('workflow.transition.refused', ({ event }) => ({ got: event.type })),
};
export const told = (state: WorkflowState, final = false) =>
  ({ type: 'tellJob', params: { state, final } }) as const;
export const stale = {
  actions: noted('workflow.attempt.stale', ({ event }) => ({ message: event.type })),
};
export const unexpected = [{ guard: 'isCurrent', ...refused }, stale] as const;

/** The limit of the state begins again, now. */
export const reenter = (state: string) =>
  ({ 'clock.wentBack': { target: state, reenter: true } }) as const;
