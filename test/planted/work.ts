/** Planted bugs of work that waits: left where it is, overtaken, or given cores that are not there. */

import type { Plant } from './plant.ts';

const PLACEMENT = 'machines/jobs/worker-pool/placement.ts';
const SEARCHING = 'machines/jobs/worker-pool/searching.ts';

export const workPlants: readonly Plant[] = [
  {
    id: 'P160',
    area: 'work',
    says: 'Workflows are placed by what a worker has, not by what is free of it.',
    edits: [
      {
        file: PLACEMENT,
        find: 'isLargeEnough(worker, lane) && coresTotal - coresReserved >= lane.cores',
        replace: 'isLargeEnough(worker, lane) && coresTotal - 0 * coresReserved >= lane.cores',
      },
    ],
  },
  {
    id: 'P161',
    area: 'work',
    says: 'The pool forgets that more wait behind those that it was told of.',
    edits: [
      {
        file: SEARCHING,
        find: 'const isWhole = event.isAll && !isOutrun;',
        replace: 'const isWhole = !isOutrun;',
      },
    ],
    plan: 'written-WP-8.json',
  },
  {
    id: 'P162',
    area: 'work',
    says: 'Handlers of a worker that registers are not looked up: anybody who waited before it is not found.',
    edits: [
      {
        file: 'machines/jobs/worker-pool/steps.ts',
        find: 'unexplored: [...new Set([...unexplored, ...added])],',
        replace: 'unexplored,',
      },
    ],
    suite: 'test/jobs/machines/worker-pool-queue.test.ts',
  },
  {
    id: 'P163',
    area: 'work',
    says: 'An answer of a datacenter that comes after the end of its job is tried again and given up.',
    edits: [
      {
        file: 'programs/jobs/gate.ts',
        find: "thrown.code === 'ACTOR_ENDED')) throw thrown;",
        replace: "thrown.code === 'ACTOR_UNKNOWN')) throw thrown;",
      },
    ],
    suite: 'test/jobs/gate/late-answers.test.ts',
  },
  {
    id: 'P201',
    area: 'work',
    says: 'A gate counts out a datacenter that has too much to do, and ends a job that it has accepted.',
    edits: [
      {
        file: 'machines/jobs/gate-job/context.ts',
        find: 'Math.min(again + limitMs, submittedAt + terms.timeoutMs)',
        replace: '0 * again * submittedAt * terms.timeoutMs',
      },
    ],
    suite: 'test/jobs/gate/overload.test.ts',
  },
  {
    id: 'P270',
    area: 'work',
    says: 'A worker that loses the connection to a manager that stands by takes its own manager for lost, and registers again.',
    edits: [
      {
        file: 'programs/jobs/worker.ts',
        find: 'if ([undefined, peer].includes(hostOf(datacenter))) void',
        replace: 'void',
      },
    ],
    plan: '310172-RT-4.json',
  },
  {
    id: 'P323',
    area: 'work',
    says: 'A search of the pool takes a workflow whose turn is durable and not shown yet for the attempt before, and passes it by.',
    edits: [
      {
        file: 'programs/jobs/manager/waiting.ts',
        find: 'if (!isFirst && isAhead(node, row)) return { found, upTo, isAll: false };',
        replace: '',
      },
    ],
    plan: '2013620-WP-8.json',
  },
  {
    id: 'P325',
    area: 'work',
    says: 'A worker refuses work for cores that its datacenter has granted again, until it hears that the result was taken.',
    edits: [
      {
        file: 'programs/jobs/worker/kinds.ts',
        find: "if (event.type === 'dispatch.requested') runs.freeCores();",
        replace: '',
      },
    ],
    suite: 'test/jobs/worker/runs.test.ts',
  },
  {
    id: 'P326',
    area: 'work',
    says: 'A leader that takes a job over begins it, although its gate may have given it up while the leader before stood still.',
    edits: [
      {
        file: 'machines/jobs/job/setup.ts',
        find: "event.type === 'leadership.acquired' && event.fence > context.term && !isLocal(context),",
        replace: "event.type === 'leadership.acquired' && context.term < 0,",
      },
    ],
    plan: '2019773-OUT-4.json',
  },
  {
    id: 'P328',
    area: 'work',
    says: 'A worker that registers again, while the disk of its datacenter stands still, fills the outbox of the pool.',
    edits: [
      {
        file: 'machines/jobs/worker-pool.ts',
        find: "{ guard: 'isToldAlready' },",
        replace: '',
      },
    ],
    plan: '2023803-RT-4.json',
  },
  {
    id: 'P331',
    area: 'work',
    says: 'One that begins to wait during a search, in the midst of those that are found, is taken for one of them.',
    edits: [
      {
        file: 'machines/jobs/worker-pool/searching.ts',
        find: 'const isCut = knowsBefore !== null && knowsBefore <= event.upTo;',
        replace: 'const isCut = knowsBefore !== null && knowsBefore < search.after;',
      },
    ],
    suite: 'test/jobs/machines/worker-pool-queue.test.ts',
  },
];
