/** Planted bugs of time: deadlines that come too early, too late, or by the wrong clock. */

import type { Plant } from './plant.ts';

const CONTEXT = 'machines/jobs/job/context.ts';

export const timePlants: readonly Plant[] = [
  {
    id: 'P1',
    area: 'time',
    says: 'A job is overdue at its deadline already, not after it.',
    edits: [
      {
        file: 'machines/jobs/job/setup.ts',
        find: 'overallDue(context) + 1 - event.at',
        replace: 'overallDue(context) - event.at',
      },
    ],
  },
  {
    id: 'P2',
    area: 'time',
    says: 'The deadline of a job leaves out its extensions.',
    edits: [
      {
        file: CONTEXT,
        find: 'context.baseAt + context.timeoutMs + extensionsMs(context)',
        replace: 'context.baseAt + context.timeoutMs',
      },
    ],
  },
  {
    id: 'P3',
    area: 'time',
    says: 'The deadline of a job has its extensions in it twice.',
    edits: [
      {
        file: CONTEXT,
        find: 'context.baseAt + context.timeoutMs + extensionsMs(context)',
        replace: 'context.baseAt + context.timeoutMs + 2 * extensionsMs(context)',
      },
    ],
  },
  {
    id: 'P4',
    area: 'time',
    says: "A new leader takes the moments that the one before noted on its own clock for moments of this node's clock.",
    edits: [
      {
        file: CONTEXT,
        find: 'const shift = Math.min(0, at - seenAt);',
        replace: 'const shift = 0;',
      },
    ],
  },
  {
    id: 'P5',
    area: 'time',
    says: "A new leader works out elapsed time from its own clock and another node's, and so lets it decrease.",
    edits: [
      {
        file: CONTEXT,
        find: 'const elapsed = Math.max(seenAt - baseAt, at - startedAt);',
        replace: 'const elapsed = at - Math.max(startedAt, baseAt);',
      },
    ],
  },
  {
    id: 'P6',
    area: 'time',
    says: 'A new leader counts the time of a job from its own takeover.',
    edits: [
      {
        file: CONTEXT,
        find: 'const { seenAt, startedAt, baseAt } = context;',
        replace: 'const { seenAt } = context;',
      },
      {
        file: CONTEXT,
        find: 'const elapsed = Math.max(seenAt - baseAt, at - startedAt);',
        replace: 'const elapsed = 0;',
      },
      {
        file: CONTEXT,
        find: 'baseAt: at - elapsed,\n    seenAt: at,',
        replace: 'startedAt: at,\n    baseAt: at - elapsed,\n    seenAt: at,',
      },
    ],
  },
  {
    id: 'P7',
    area: 'time',
    says: 'The last progress of a job does not survive its leader: the next one has only the start of the job.',
    edits: [
      {
        file: CONTEXT,
        find: 'lastProgressAt: aged(context.lastProgressAt)',
        replace: 'lastProgressAt: aged(context.startedAt)',
      },
    ],
  },
  {
    id: 'P8',
    area: 'time',
    says: 'An extension is no progress of the job that it is credited to.',
    edits: [
      {
        file: 'machines/jobs/job/credit.ts',
        find: 'slice(-CREDIT_IDS_MAX.value),\n    lastExtensionAt: at,\n    ...progressed(context, at),',
        replace: 'slice(-CREDIT_IDS_MAX.value),\n    lastExtensionAt: at,',
      },
    ],
  },
  {
    id: 'P10',
    area: 'time',
    says: 'The real clock hands a distance of more than 2^31 ms to one timeout, which Node lets fire at once, and trusts it.',
    edits: [
      {
        file: 'runtime/system/clock.ts',
        find: '/** Node fires a longer timeout after 1 ms. */\nconst SLEEP_MAX_MS = 2 ** 31 - 1;\n',
        replace: '',
      },
      {
        file: 'runtime/system/clock.ts',
        find: 'Math.min(Math.max(Math.ceil(distanceMs / this.#rate), 1), SLEEP_MAX_MS)',
        replace: 'Math.max(Math.ceil(distanceMs / this.#rate), 1)',
      },
      {
        file: 'runtime/system/clock.ts',
        find: 'const now = this.now();',
        replace: 'const now = Math.max(this.now(), this.#sleepsUntil);',
      },
    ],
    suite: 'test/contracts/clock.test.ts',
  },
];
