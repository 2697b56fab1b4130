/**
 * Setup of the statechart of the worker pool: its actions, guards and delays, by name. The chart is in
 * worker-pool.ts.
 */

import { assign, enqueueActions, setup } from 'xstate';
import { hint, type Spawned, spawnRoot, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import { workerAddress, workerHealthAddress, workflowAddress, workflowIdOf } from '../addresses.ts';
import type { LogEvent } from '../log-events.ts';
import type { RegistrationTold, SlotGranted } from '../messages/local.ts';
import type { RegisterAnswered } from '../messages/worker.ts';
import type { WorkerPoolContext, WorkerPoolEvent, WorkerPoolInput } from './context.ts';
import { withoutEmpty } from './lanes.ts';
import type { Placement, PooledWorker, Workers } from './placement.ts';
import { nextSearch, type Search } from './searching.ts';
import { isToldAlready, offeredHandlers, overdrawn, settled, withWorker } from './steps.ts';

const isAnswer = ({ search }: WorkerPoolContext, event: WorkerPoolEvent): boolean =>
  (event.type === 'lanes.found' || event.type === 'waiting.found') &&
  event.search === search?.number;

const grants = (context: WorkerPoolContext, placements: readonly Placement[], workers: Workers) =>
  placements.map(({ request: { jobId, attemptId }, cores, workerId }) => {
    const { registration, bootEpoch } = workers[workerId] as Workers[string];
    const { datacenter, term } = context;
    const granted: SlotGranted = {
      type: 'slot.granted',
      ...{ attemptId, workerId, registration, bootEpoch, cores, term },
    };
    return { to: workflowAddress(jobId, workflowIdOf(attemptId), datacenter), granted };
  });

const { keep, doing } = givenEvents<WorkerPoolContext, WorkerPoolEvent>();

export const workerPoolSetup = setup({
  types: {
    context: {} as WorkerPoolContext,
    events: {} as WorkerPoolEvent,
    input: {} as Spawned<WorkerPoolInput>,
  },
  actions: {
    note: (_, _params: LogEvent) => {},
    /** Done by the program: looks into the store's index, and answers with `lanes.found` or `waiting.found`. */
    findWaiting: (_, _params: Search) => {},
    placeWhatFits: enqueueActions(({ context, event, enqueue }) => {
      const { placements = [], ...next } = settled(context, event);
      enqueue.assign({ ...next, lanes: withoutEmpty(next.lanes ?? context.lanes) });
      const { workers = context.workers } = next;
      for (const { to: workflow, granted } of grants(context, placements, workers))
        enqueue.sendTo(to(workflow), granted);
    }),
    beginSearch: assign(({ context }) => {
      const sought = nextSearch(context);
      const number = context.searches + 1;
      const search = sought && { ...sought, number, isOutrun: false, withdrawn: [] };
      return { search: search ?? null, searches: number };
    }),
    register: doing('worker.registered', ({ context, event, enqueue }) => {
      const { workerId, bootEpoch, coresTotal, handlers } = event;
      const known = context.workers[workerId];
      if (known !== undefined && known.bootEpoch > bootEpoch) {
        const refusal: RegisterAnswered = {
          type: 'register.answered',
          workerId,
          bootEpoch,
          accepted: false,
          reason: 'duplicateNode',
          term: context.term,
          deadlineInMs: 0,
          stopAttempts: [],
        };
        enqueue.sendTo(hint(workerAddress(workerId, bootEpoch)), refusal);
        return;
      }
      const isAgain = known?.bootEpoch === bootEpoch;
      const registration = isAgain ? known.registration : context.registrations + 1;
      // One that comes again keeps what it had, but may have begun to stop: then it has no handlers any more.
      const worker: PooledWorker = isAgain
        ? { ...known, handlers, isTold: true }
        : {
            ...{ registration, bootEpoch, coresTotal, handlers },
            ...{ coresReserved: 0, state: 'healthy', heard: false, isTold: true },
          };
      enqueue.assign({
        ...withWorker(context, workerId, worker),
        registrations: Math.max(registration, context.registrations),
      });
      const { datacenter, term, rules } = context;
      const health = workerHealthAddress(workerId, datacenter);
      enqueue(spawnRoot(health, () => ({ workerId, datacenter, rules })));
      const told: RegistrationTold = {
        type: 'registration.told',
        registration,
        bootEpoch,
        coresTotal,
        handlers,
        term,
        attempts: event.attempts.map(({ jobId, attemptId }) => `${jobId}/${attemptId}`),
      };
      enqueue.sendTo(to(health), told);
    }),
    takeOver: keep('leadership.acquired', ({ context, event }) => {
      const unheard = Object.entries(context.workers).map(
        ([workerId, worker]) => [workerId, { ...worker, heard: false, isTold: false }] as const,
      );
      const workers = Object.fromEntries(unheard);
      return { term: event.fence, workers, search: null, unexplored: offeredHandlers(workers) };
    }),
    keepLimits: keep('limits.told', ({ event }) => ({ queueMax: event.queueMax })),
  },
  guards: {
    isToldAlready: ({ context, event }) =>
      event.type === 'worker.registered' && isToldAlready(context, event),
    isFirstPart: ({ event }) => event.type === 'worker.registered' && event.page === 1,
    isAnswer: ({ context, event }) => isAnswer(context, event),
    isMiscounted: ({ context, event }) => overdrawn(context, event) !== undefined,
    hasToSearch: ({ context }) => nextSearch(context) !== undefined,
  },
  delays: {
    /** An answer takes some milliseconds; one that was lost is asked for again. */
    searchLimit: 1_000,
  },
});
