/** Planted bugs of extensions: grants that are too long, too many, or counted wrong. */

import type { Plant } from './plant.ts';

const GRANTS = 'machines/jobs/worker-health/grants.ts';
const STEPS = 'machines/jobs/job/steps.ts';

export const extensionPlants: readonly Plant[] = [
  {
    id: 'P35',
    area: 'extensions',
    says: 'A progress that is no number is taken for one: the wire has null for NaN, and null becomes 0.',
    edits: [
      {
        file: GRANTS,
        find: "if (typeof currentProgress !== 'number' || !(currentProgress >= 0 && currentProgress <= 1))",
        replace: 'if (!(Number(currentProgress) >= 0 && Number(currentProgress) <= 1))',
      },
      {
        file: GRANTS,
        find: '{ progress: currentProgress, completedItems }',
        replace: '{ progress: Number(currentProgress), completedItems }',
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
        file: GRANTS,
        find: "  if (grants >= rules.maxExtensions) return 'maxReached';\n",
        replace: '',
      },
      {
        file: GRANTS,
        find: '  { operations, rules, deadline }: WorkerHealthContext,\n  request',
        replace: '  { operations, deadline }: WorkerHealthContext,\n  request',
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
        find: 'operations[id] = {\n      ...operation,\n      progress,',
        replace: 'operations[id] = {\n      ...operation,\n      grants: 0,\n      progress,',
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
        file: 'machines/jobs/worker-health/extensions.ts',
        find: 'if (known !== undefined) {',
        replace: 'if (known?.granted === false) {',
      },
      {
        file: 'machines/jobs/worker-health/extensions.ts',
        find: 'if (waiting !== undefined) {',
        replace: 'if (waiting?.answer.granted === false) {',
      },
    ],
  },
];
