/** Planted bugs of what is refused because too much waits, and of what goes when its time is over. */

import type { Plant } from './plant.ts';

const ACCEPTANCE = 'programs/jobs/manager/acceptance.ts';

/** The jobs service asks before it puts parts together, and acceptance asks again. */
const serviceAsksNobody = {
  file: 'programs/jobs/manager/jobs-service.ts',
  find: 'const overload = isNew ? node.backlog.overload(client, timeoutOf(terms)) : undefined;',
  replace:
    'const overload = isNew && client === "nobody" ? node.backlog.overload(client, timeoutOf(terms)) : undefined;',
};

export const overloadPlants: readonly Plant[] = [
  {
    id: 'P150',
    area: 'cleanup',
    says: 'A job is stored before it is asked whether there is room, and its client is told that it was not taken.',
    edits: [
      serviceAsksNobody,
      {
        file: ACCEPTANCE,
        find: 'if (overload !== undefined) return shed(node, jobId, overload);',
        replace:
          'if (overload !== undefined) {\n    await take(node, submission, isNew);\n    return shed(node, jobId, overload);\n  }',
      },
    ],
  },
  {
    id: 'P151',
    area: 'runtime',
    says: 'What waits is not counted, so that there is always room.',
    edits: [
      {
        file: 'programs/jobs/manager/backlog.ts',
        find: 'this.#count(job, workflows);',
        replace: 'this.#count(job, 0);',
      },
    ],
  },
  {
    id: 'P152',
    area: 'cleanup',
    says: 'Ended jobs are kept for as long as messages are known again by default, whatever their retention.',
    edits: [
      {
        file: 'programs/jobs/limits.ts',
        find: '    dedupRetentionMs: dedupRetentionMs(config),\n',
        replace: '',
      },
    ],
    suite: 'test/jobs/retention.test.ts',
  },
  {
    id: 'P153',
    area: 'gate',
    says: 'A gate takes jobs that none of its datacenters takes, and declares them failed.',
    edits: [
      {
        file: 'programs/jobs/gate/dispatch.ts',
        find: "if (answer?.reason === 'overloaded')",
        replace: "if (answer?.reason === ('overload' as string))",
      },
    ],
    suite: 'test/jobs/gate/overload.test.ts',
  },
];
