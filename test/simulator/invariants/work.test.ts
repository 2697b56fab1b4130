/** Cores are given to as much work as they can do, and to no more. */

import { describe } from 'vitest';
import {
  grantsNoMoreThanThereIs,
  leavesNoWorkerIdle,
} from '../../../simulator/jobs/invariants/work.ts';
import { actor } from './builders.ts';
import { Tale } from './tale.ts';
import { type Told, testVerdicts } from './verdicts.ts';

const POOL = 'worker-pool/main@A';
const HEALTH = 'worker-health/W@A';
const WORKFLOW = 'workflow/j1/w1@A';
const QUEUED = '{"PENDING":"queued"}';

const registered = { type: 'worker.registered', workerId: 'W', page: 1 };
const told = (registration = 1, coresTotal = 4) => ({
  type: 'registration.told',
  registration,
  bootEpoch: 7,
  coresTotal,
  handlers: ['sleep'],
  term: 1,
  attempts: [],
});
const heard = {
  type: 'worker.changed',
  workerId: 'W',
  registration: 1,
  state: 'healthy',
  heard: true,
  term: 1,
};
const granted = (cores: number, registration = 1, attemptId = 'w1#1') => ({
  type: 'slot.granted',
  attemptId,
  workerId: 'W',
  registration,
  bootEpoch: 7,
  cores,
  term: 1,
});
const released = (cores: number, registration = 1) => ({
  type: 'slot.released',
  workerId: 'W',
  registration,
  cores,
});

/** A pool with a worker of four cores that was heard. */
function pool(): Tale<object> {
  const tale = new Tale<object>(POOL, {}, 'serving').at(0, 'A.manager-1', actor(POOL, 'born'));
  tale.turn(1, { type: 'escapement.spawn' });
  tale.turn(2, registered).says(HEALTH, told());
  return tale.turn(3, heard);
}

/** One that grants a core, and is followed again after a turn that nobody saw. */
const unseen = () =>
  asks(pool(), 5)
    .says(WORKFLOW, granted(1))
    .turn(8, heard, {}, { isUnseen: true })
    .turn(10, registered);

const asks = (tale: Tale<object>, atMs: number) => tale.turn(atMs, { type: 'slot.requested' });

describe('cores', () => {
  testVerdicts(grantsNoMoreThanThereIs, {
    good: {
      'all of them are granted': () => asks(pool(), 5).says(WORKFLOW, granted(4)),
      'they are granted again when they were given back': () =>
        asks(asks(pool(), 5).says(WORKFLOW, granted(4)).turn(6, released(3)), 7).says(
          WORKFLOW,
          granted(3),
        ),
      'a grant that was refused is given back': () =>
        asks(
          asks(pool(), 5)
            .says(WORKFLOW, granted(4))
            .turn(6, { type: 'message.refused', event: granted(4) }),
          7,
        ).says(WORKFLOW, granted(4)),
      'of a registration that is told again nobody knows, where a turn was not seen': () =>
        unseen().says(HEALTH, told()).turn(12, released(1)),
      'another registration has its own': () =>
        asks(
          asks(pool(), 5).says(WORKFLOW, granted(4)).turn(6, registered).says(HEALTH, told(2)),
          7,
        )
          .says(WORKFLOW, granted(4, 2))
          .turn(8, released(4, 1)),
    },
    bad: {
      'more than there are': () =>
        asks(pool(), 5).says(WORKFLOW, granted(3)).says(WORKFLOW, granted(2)),
      'more than there are, one after the other': () =>
        asks(asks(pool(), 5).says(WORKFLOW, granted(4)), 6).says(WORKFLOW, granted(1)),
      'more, of a registration that is told again after a turn that was not seen': () =>
        unseen()
          .says(HEALTH, told())
          .turn(12, registered)
          .says(HEALTH, told(2))
          .turn(13, released(1, 2)),
      'more is given back than was granted': () =>
        asks(pool(), 5).says(WORKFLOW, granted(2)).turn(6, released(3)),
    },
  });
});

describe('who waits', () => {
  const asked = (more: object = {}) => ({
    type: 'slot.requested',
    jobId: 'j1',
    attemptId: 'w1#1',
    cores: 2,
    handler: 'sleep',
    avoid: [],
    avoidWorkers: [],
    acceptedAt: 1,
    index: 0,
    ...more,
  });
  const workflow = (atMs: number, more: object = {}) =>
    new Tale<object>(WORKFLOW, {}, QUEUED)
      .turn(atMs, { type: 'workflow.ready' })
      .says(POOL, asked(more));
  const takes = (tale: Tale<object>, atMs: number) =>
    tale.turn(atMs, granted(2), {}, { state: 'DISPATCHED' });
  /** Tales of one run, in the order of their times. */
  const both = (...tales: ReadonlyArray<Pick<Told, 'records'>>): Told => ({
    records: tales
      .flatMap(({ records }) => records)
      .sort((one, other) => one.atMs - other.atMs)
      .map((record, index) => ({ ...record, index })),
    endsAtMs: 120_000,
  });
  const facts = { healedAtMs: 0 };
  const LONG = 90_000;
  testVerdicts(leavesNoWorkerIdle, {
    good: {
      'is granted cores at once': {
        facts,
        told: () => both(pool(), takes(workflow(20_000), 20_005)),
      },
      'waits while all cores are granted': {
        facts,
        told: () =>
          both(
            asks(pool(), 5)
              .says(WORKFLOW, granted(3, 1, 'x'))
              .turn(LONG, released(3)),
            takes(workflow(20_000), LONG + 10),
          ),
      },
      'waits for a worker that has its handler': {
        facts,
        told: () => both(pool(), takes(workflow(20_000, { handler: 'other' }), LONG)),
      },
      'waits for a worker that is heard': {
        facts,
        told: () =>
          both(
            pool().turn(10, { type: 'leadership.acquired', fence: 2 }),
            takes(workflow(20_000), LONG),
          ),
      },
      'waits for one that it does not avoid': {
        facts,
        told: () => {
          const two = pool().turn(4, { ...registered, workerId: 'X' });
          two.says('worker-health/X@A', told(2));
          return both(two, takes(workflow(20_000, { avoidWorkers: ['W'] }), LONG));
        },
      },
      'stops waiting': {
        facts,
        told: () =>
          both(
            pool(),
            workflow(20_000)
              .turn(20_100, { type: 'workflow.cancel' }, {}, { state: 'CANCELLED' })
              .says(POOL, { type: 'slot.withdrawn', jobId: 'j1', attemptId: 'w1#1' }),
          ),
      },
    },
    bad: {
      'has to wait beside a free worker': {
        facts,
        told: () => both(pool(), takes(workflow(20_000), LONG)),
      },
      'waits beside a free worker for ever': {
        facts,
        told: () => both(pool(), workflow(20_000)),
        endedAtMs: 120_000,
      },
      'waits although cores were given back': {
        facts,
        told: () =>
          both(
            asks(pool(), 5)
              .says(WORKFLOW, granted(3, 1, 'x'))
              .turn(30_000, released(3)),
            takes(workflow(20_000), LONG),
          ),
      },
      'waits although all that there are would be avoided': {
        facts,
        told: () => both(pool(), takes(workflow(20_000, { avoidWorkers: ['W'] }), LONG)),
      },
    },
  });
});
