/** Planted bugs of what is left over, and of the runtime below all machines. */

import type { Plant } from './plant.ts';

export const cleanupPlants: readonly Plant[] = [
  {
    id: 'P43',
    area: 'cleanup',
    says: 'A timer that is cancelled, or armed again, stays where it is.',
    edits: [
      {
        file: 'runtime/actor/timer-table.ts',
        find: 'if (row.id === id && row.session === session) {',
        replace: 'if (row.id === id && row.session !== session) {',
      },
    ],
  },
  {
    id: 'P44',
    area: 'cleanup',
    says: 'A job that was cancelled is kept track of for ever.',
    edits: [
      {
        file: 'machines/jobs/job.ts',
        find: "cancelled: outcome('cancelled'),",
        replace: 'cancelled: {},',
      },
    ],
  },
  {
    id: 'P46',
    area: 'runtime',
    says: 'What an actor has taken is forgotten when it is read from its record.',
    edits: [
      {
        file: 'runtime/actor/record.ts',
        find: 'inbox: Inbox.restore(stored.inbox),',
        replace: 'inbox: new Inbox(),',
      },
    ],
  },
  {
    id: 'P48',
    area: 'cleanup',
    says: 'An attempt that is told to stop takes note of it, and its run goes on.',
    edits: [
      {
        file: 'machines/jobs/attempt.ts',
        find: "      entry: 'abortHandler',\n",
        replace: '',
      },
    ],
  },
  {
    id: 'P49',
    area: 'runtime',
    says: 'What an observer throws, here one that watches an actor, is told in the log and goes on to whatever called it.',
    edits: [
      {
        file: 'runtime/effects/observers.ts',
        find: "'an observer threw');\n",
        replace: "'an observer threw');\n      throw thrown;\n",
      },
    ],
  },
  {
    id: 'P81',
    area: 'runtime',
    says: 'What a handler throws ends the worker that called it.',
    edits: [
      {
        file: 'programs/jobs/worker/run.ts',
        find: '      return failed(thrown);\n',
        replace: '      throw thrown;\n',
      },
      {
        file: 'programs/jobs/worker/run.ts',
        find: 'import { failed, succeeded }',
        replace: 'import { succeeded }',
      },
    ],
  },
];
