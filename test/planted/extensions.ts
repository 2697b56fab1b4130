/** Planted bugs of extensions: grants that are too long, too many, or counted wrong. */

import type { Plant } from './plant.ts';

const GRANTS = 'machines/jobs/worker-health/grants.ts';
const SETUP = 'machines/jobs/worker-health/setup.ts';
const STEPS = 'machines/jobs/job/steps.ts';

export const extensionPlants: readonly Plant[] = [
  {
    id: 'P35',
    area: 'extensions',
    says: 'A progress that is no number is taken for one: the wire has null for NaN, and null becomes 0.',
    edits: [
      {
        file: GRANTS,
        find: "typeof progress !== 'number' || !(progress >= 0 && progress <= 1)",
        replace: '!(Number(progress) >= 0 && Number(progress) <= 1)',
      },
      {
        file: GRANTS,
        find: 'progress: currentProgress as number, completedItems',
        replace: 'progress: Number(currentProgress), completedItems',
      },
    ],
  },
  {
    id: 'P36',
    area: 'extensions',
    says: 'The first extension is half of the base already.',
    edits: [{ file: GRANTS, find: '2 ** grants', replace: '2 ** (grants + 1)' }],
  },
  {
    id: 'P37',
    area: 'extensions',
    says: 'There is no greatest number of extensions.',
    edits: [
      {
        file: SETUP,
        find: 'grantsLeft(context, event.operationId) <= 0',
        replace: 'grantsLeft(context, event.operationId) <= -1_000',
      },
    ],
  },
  {
    id: 'P38',
    area: 'extensions',
    says: 'A heartbeat with progress forgets the extensions that its attempt was granted.',
    edits: [
      {
        file: 'machines/jobs/worker-health/context.ts',
        find: '{ ...operation, progress, ...items }',
        replace: '{ ...operation, grants: 0, progress, ...items }',
      },
    ],
  },
  {
    id: 'P40',
    area: 'extensions',
    says: 'A job keeps the extensions of a worker that is dead.',
    edits: [
      {
        file: STEPS,
        find: 'const { [workerId]: lost, ...creditByWorker } = context.creditByWorker;',
        replace: 'const { creditByWorker } = context;\n  const lost = creditByWorker[workerId];',
      },
    ],
  },
  {
    id: 'P42',
    area: 'extensions',
    says: 'A request for an extension that comes again counts as another one.',
    edits: [
      {
        file: GRANTS,
        find: 'answers.some((answer) => answer.requestId === requestId)',
        replace: 'answers.some((answer) => answer.requestId === requestId && !answer.granted)',
      },
      {
        file: GRANTS,
        find: 'pending.some(({ answer }) => answer.requestId === requestId)',
        replace: 'pending.some(({ answer }) => answer.requestId === requestId && !answer.granted)',
      },
    ],
  },
  {
    id: 'P210',
    area: 'extensions',
    says: 'An attempt that its manager gives up alone is a sign of life of the worker that had it.',
    edits: [
      {
        file: 'machines/jobs/worker-health/steps.ts',
        find: 'event.heard === true ? event.at : context.lastHeardAt',
        replace: 'event.at',
      },
      {
        file: GRANTS,
        find: 'Math.min(deadline, lastHeardAt',
        replace: 'Math.max(deadline, lastHeardAt',
      },
    ],
    plan: 'written-EX-10.json',
  },
];
