/** Questions of people that are answered by nobody, or falsely. */

import type { Plant } from './plant.ts';

export const answerPlants: readonly Plant[] = [
  {
    id: 'P130',
    area: 'runtime',
    says: 'A job can not be viewed before its workflows are spawned, and who asks then is answered by nobody.',
    edits: [
      {
        file: 'programs/jobs/manager/views.ts',
        find: '  const context = workflow?.context;',
        replace:
          "  if (workflow === undefined) throw new Error('There is no such workflow.');\n  const context = workflow?.context;",
      },
      {
        file: 'runtime/effects/questions.ts',
        find: '    if (!isHandedOver) this.#tell(actor, replyTo, unanswered(actor, thrown));',
        replace: '    if (!isHandedOver) void unanswered(actor, thrown);',
      },
    ],
  },
  {
    id: 'P131',
    area: 'runtime',
    says: 'Anybody who asks for workflows without progress is taken to have said seconds, not milliseconds.',
    edits: [
      {
        file: 'programs/jobs/manager/views.ts',
        find: 'if (sinceProgressMs > thresholdMs)',
        replace: 'if (sinceProgressMs > thresholdMs * 1_000)',
      },
    ],
  },
  {
    id: 'P132',
    area: 'runtime',
    says: 'A list leaves out jobs whose time is over soonest: it takes what is due sooner for what is due later.',
    edits: [
      {
        file: 'programs/jobs/jobs-service/job-filter.ts',
        find: 'view.dueInMs < deadlineBeforeMs',
        replace: 'view.dueInMs > deadlineBeforeMs',
      },
    ],
  },
];
