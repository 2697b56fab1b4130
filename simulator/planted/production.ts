/**
 * Bugs of the section "A month in production" of docs/track-record.md, put back, and their kin.
 */

import type { Plant } from './plant.ts';

export const productionPlants: readonly Plant[] = [
  {
    id: 'P100',
    area: 'runtime',
    says: 'A message within a node is sent a second time when the node takes over its place.',
    edits: [
      {
        file: 'runtime/delivery.ts',
        find: 'return isHere && this.#services.isHosting() ? underWay : 0;',
        replace: 'return underWay < 0 && isHere ? underWay : 0;',
      },
    ],
    plan: '8-MS-2.json',
  },
  {
    id: 'P101',
    area: 'extensions',
    says: 'Answers to requests for extensions are kept for a worker as a whole: many requests push out the answer to one that comes again.',
    edits: [
      {
        file: 'machines/jobs/worker-health/grants.ts',
        find: 'const isOver = ({ operationId: id }: GivenAnswer) =>\n    id === undefined || operations[id] === undefined;',
        replace: 'const isOver = (_: GivenAnswer) => operations !== undefined;',
      },
    ],
    suite: 'test/jobs/machines/worker-health-answers.test.ts',
  },
  {
    id: 'P110',
    area: 'runtime',
    says: 'Over a socket everybody may do everything: the desk does not look into the table of permissions.',
    edits: [
      {
        file: 'programs/jobs/desk-admission.ts',
        find: '    if (why === undefined) return undefined;',
        replace: '    if (why === undefined || action.startsWith("jobs.")) return undefined;',
      },
    ],
    suite: 'test/jobs/operators.test.ts',
  },
  {
    id: 'P111',
    area: 'runtime',
    says: 'A page of any port of this machine may ask in the name of whoever looks at it.',
    edits: [
      {
        file: 'http/origins.ts',
        find: '    if (this.#hosts.has(page)) return true;',
        replace: '    if (this.#hosts.has(page) || page.startsWith("localhost:")) return true;',
      },
    ],
    suite: 'test/http/access.test.ts',
  },
  {
    id: 'P112',
    area: 'runtime',
    says: 'A list of tokens that becomes bad refuses every request.',
    edits: [
      {
        file: 'http/callers.ts',
        find: '      if (error === this.#told) return;',
        replace: '      this.#known = [];\n      if (error === this.#told) return;',
      },
    ],
    suite: 'test/http/access.test.ts',
  },
];
