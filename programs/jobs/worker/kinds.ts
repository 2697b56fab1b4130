/**
 * Kinds of a worker's runtime: the performers of what its machines ask for, and the senders that they hear.
 */

import { placeOf } from '../../../machines/jobs/addresses.ts';
import { attemptMachine } from '../../../machines/jobs/attempt.ts';
import {
  cancelOrdered,
  dispatchRequested,
  heartbeatAcked,
  leaderAnnounced,
  registerAnswered,
} from '../../../machines/jobs/messages/worker.ts';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import type { Performer, StandardSchema } from '../../../runtime/actor.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { Extensions } from './extension.ts';
import type { Runs } from './runs.ts';

export type WorkerKinds = {
  readonly worker: typeof workerMachine;
  readonly attempt: typeof attemptMachine;
};

export interface WorkerParts {
  readonly runs: Runs;
  readonly extensions: Extensions;
  readonly note: Performer;
  /** True when what lives there may give orders. */
  isDatacenter(place: string): boolean;
}

/** Registers them. */
export function hostWorker(
  runtime: Runtime,
  { runs, extensions, note, isDatacenter }: WorkerParts,
): Runtime<WorkerKinds> {
  return runtime
    .register('attempt', attemptMachine, {
      perform: runs.performers,
      admit: () => 'an attempt hears its worker only',
      // A stop that comes when it has ended stops nothing.
      livesOnce: true,
      forgetsInput: true,
    })
    .register('worker', workerMachine, {
      newWork: ['dispatch.requested'],
      perform: {
        runHandler: ({ params }) => runs.begin(params),
        note: note as () => unknown,
        composeRegistration: ({ send }) =>
          send({ type: 'registration.composed', progress: runs.progress() }),
        composeHeartbeat: ({ params: range, send }) =>
          send({ type: 'heartbeat.composed', range, progress: runs.progress(range) }),
        learnDeadline: ({ params }) => extensions.learnDeadline(params.deadlineInMs),
        answerUnlessOver: ({ params }) => runs.answer(params),
        dropReports: ({ params }) => runs.drop(params),
        confirmStopped: ({ params }) => runs.report(params),
      },
      validate: {
        'register.answered': schema(registerAnswered),
        'heartbeat.acked': schema(heartbeatAcked),
        'leader.announced': schema(leaderAnnounced),
        'dispatch.requested': schema(dispatchRequested),
        'cancel.ordered': schema(cancelOrdered),
      },
      admit: ({ from, event }) => {
        if (!isDatacenter(placeOf(from ?? ''))) return 'its datacenter alone gives it orders';
        if (event.type === 'dispatch.requested') runs.freeCores();
        return undefined;
      },
    });
}

/** zod says of the same thing that it may be there and undefined. */
const schema = (validator: { readonly '~standard': { validate(value: unknown): unknown } }) =>
  validator as StandardSchema;
