/**
 * Failed item: an item of a workflow that came to no good end, until a retry is done or a person drops it.
 *
 *   empty ──failures.recorded──▶ listed ──record.resolved, record.purged──▶ removed ■
 *                                  └──failures.recorded: the history goes on──┘
 *
 * One actor for each item of a workflow, whatever the run: nothing is forgotten, and what fails again is added.
 */

import { setup } from 'xstate';
import type { Timed } from '../../runtime/machine.ts';
import { givenEvents } from '../given.ts';
import type { FailureEntry, TimeoutRecord } from './words.ts';

export interface FailedItemInput {
  readonly workflow: string;
  readonly itemId: string;
}

export interface FailedItemContext extends FailedItemInput {
  /** The run it failed in last, and its place there: where its data and what it printed are. */
  readonly runId: string | null;
  readonly itemIndex: number;
  readonly agentId: string | null;
  readonly history: readonly FailureEntry[];
  readonly timeout: TimeoutRecord | null;
}

export type FailedItemEvent = Timed<
  | {
      readonly type: 'failures.recorded';
      readonly runId: string;
      readonly itemIndex: number;
      readonly agentId: string;
      readonly failures: readonly FailureEntry[];
      readonly timeout: TimeoutRecord | null;
    }
  | { readonly type: 'record.resolved' }
  | { readonly type: 'record.purged' }
>;

const { keep } = givenEvents<FailedItemContext, FailedItemEvent>();

export const failedItemMachine = setup({
  types: {
    context: {} as FailedItemContext,
    events: {} as FailedItemEvent,
    input: {} as FailedItemInput,
  },
  actions: {
    keepFailures: keep('failures.recorded', ({ context, event }) => {
      const { runId, itemIndex, agentId, failures, timeout } = event;
      return { runId, itemIndex, agentId, timeout, history: [...context.history, ...failures] };
    }),
  },
}).createMachine({
  id: 'failedItem',
  context: ({ input: { workflow, itemId } }) => ({
    workflow,
    itemId,
    runId: null,
    itemIndex: 0,
    agentId: null,
    history: [],
    timeout: null,
  }),
  initial: 'empty',
  states: {
    empty: {
      on: {
        'failures.recorded': { target: 'listed', actions: 'keepFailures' },
        'record.resolved': 'removed',
      },
    },
    listed: {
      on: {
        'failures.recorded': { actions: 'keepFailures' },
        'record.resolved': 'removed',
        'record.purged': 'removed',
      },
    },
    removed: { type: 'final' },
  },
});
