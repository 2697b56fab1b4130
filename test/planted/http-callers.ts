/** Bugs in what callers over HTTP may do. */

import type { Plant } from './plant.ts';

export const httpCallerPlants: readonly Plant[] = [
  {
    id: 'P301',
    area: 'runtime',
    says: 'Of two clients that choose one Idempotency-Key the event of the second one is taken for a repetition.',
    edits: [
      {
        file: 'http/routes/actors.ts',
        find: '  const id = `${caller.name}:${idempotencyKey}`;',
        replace: '  const id = idempotencyKey;',
      },
    ],
    suite: 'test/http/actors.test.ts',
  },
  {
    id: 'P302',
    area: 'runtime',
    says: 'Over HTTP a submitter sends to kinds that are closed to clients.',
    edits: [
      {
        file: 'http/routes/actors.ts',
        find: "  if (caller.role === 'operator') return;",
        replace: "  if (caller.role !== 'reader') return;",
      },
    ],
    suite: 'test/http/actors.test.ts',
  },
];
