/**
 * Jobs service: the actor that clients ask, one in each datacenter and at each gate.
 *
 *   open ◀─┐
 *     └────┘ any question: its performer answers
 *
 * The jobs service decides nothing and remembers nothing. Each question is handed to the performer of its
 * name, which looks into committed records or asks an actor, and answers the sender. What only asks
 * is no turn of the jobs service (`READS`); what is to be done is.
 */

import { setup } from 'xstate';
import type { Timed } from '../../runtime/machine.ts';
import type {
  ClientCancelRequested,
  ClientExtendRequested,
  JobAsked,
  JobSubmitted,
  JobsAsked,
  JobWatched,
  SinceProgressAsked,
  StuckAsked,
  WorkersAsked,
} from './messages/client.ts';

export type JobsServiceEvent = Timed<
  | JobSubmitted
  | JobAsked
  | JobsAsked
  | JobWatched
  | ClientCancelRequested
  | ClientExtendRequested
  | StuckAsked
  | SinceProgressAsked
  | WorkersAsked
>;

const asked = { params: ({ event }: { event: unknown }) => event as never };

export const jobsServiceMachine = setup({
  types: { events: {} as JobsServiceEvent },
  actions: {
    // Done by the program at whose place the jobs service stands.
    submitJob: (_, _question: JobSubmitted) => {},
    viewJob: (_, _question: JobAsked) => {},
    listJobs: (_, _question: JobsAsked) => {},
    watchJob: (_, _question: JobWatched) => {},
    cancelJob: (_, _question: ClientCancelRequested) => {},
    extendJob: (_, _question: ClientExtendRequested) => {},
    listStuck: (_, _question: StuckAsked) => {},
    tellSinceProgress: (_, _question: SinceProgressAsked) => {},
    listWorkers: (_, _question: WorkersAsked) => {},
  },
}).createMachine({
  id: 'desk',
  initial: 'open',
  states: {
    open: {
      on: {
        'job.submitted': { actions: { type: 'submitJob', ...asked } },
        'job.asked': { actions: { type: 'viewJob', ...asked } },
        'jobs.asked': { actions: { type: 'listJobs', ...asked } },
        'job.watched': { actions: { type: 'watchJob', ...asked } },
        'jobCancel.requested': { actions: { type: 'cancelJob', ...asked } },
        'jobExtend.requested': { actions: { type: 'extendJob', ...asked } },
        'stuckWorkflows.asked': { actions: { type: 'listStuck', ...asked } },
        'sinceProgress.asked': { actions: { type: 'tellSinceProgress', ...asked } },
        'workers.asked': { actions: { type: 'listWorkers', ...asked } },
      },
    },
  },
});

/** Questions that only ask: they go straight to their performers, see `KindOptions.questions`. */
export const READS = {
  'job.submitted': 'submitJob',
  'job.asked': 'viewJob',
  'jobs.asked': 'listJobs',
  'job.watched': 'watchJob',
  'stuckWorkflows.asked': 'listStuck',
  'sinceProgress.asked': 'tellSinceProgress',
  'workers.asked': 'listWorkers',
} as const;
