/**
 * Submission part: a part of a submission at a gate, kept until every datacenter has answered.
 *
 *   kept ──page.dropped | after abandonLimit──▶ dropped ■
 *
 * It lets a gate finish what it began after a crash, without the workflows in the job's own record.
 * A part that nobody drops belongs to a job that never came to be, and goes by itself.
 */

import { assign, setup } from 'xstate';
import type { WorkflowSpec } from './messages/client.ts';

export type SubmissionPartEvent = { readonly type: 'page.dropped' };

export interface SubmissionPartInput {
  readonly workflows: readonly WorkflowSpec[];
  /** Time for which a part is kept that nobody drops. */
  readonly keepMs: number;
}

export const submissionPartMachine = setup({
  types: {
    context: {} as SubmissionPartInput,
    events: {} as SubmissionPartEvent,
    input: {} as SubmissionPartInput,
  },
  actions: {
    // Ended actors stay to be looked up; the payloads need not.
    forgetWorkflows: assign({ workflows: [] }),
  },
  delays: { abandonLimit: ({ context }) => context.keepMs },
}).createMachine({
  id: 'submissionPage',
  context: ({ input }) => ({ workflows: input.workflows, keepMs: input.keepMs }),
  initial: 'kept',
  states: {
    kept: {
      on: { 'page.dropped': 'dropped' },
      after: { abandonLimit: 'dropped' },
    },
    dropped: { type: 'final', entry: 'forgetWorkflows' },
  },
});
