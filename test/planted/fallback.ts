/** Planted bugs of the fallback: a datacenter that ends a job by itself too late, too early or twice. */

import type { Plant } from './plant.ts';

const CONTEXT = 'machines/jobs/job/context.ts';

export const fallbackPlants: readonly Plant[] = [
  {
    id: 'P30',
    area: 'fallback',
    says: 'Each takeover lets the fallback of a job wait again.',
    edits: [
      {
        file: CONTEXT,
        find: 'context.timeoutReportedAt === null ? null : aged(context.timeoutReportedAt)',
        replace: 'context.timeoutReportedAt === null ? null : at',
      },
    ],
  },
  {
    id: 'P31',
    area: 'fallback',
    says: 'A job falls back though its gate answers.',
    edits: [
      {
        file: CONTEXT,
        find: 'export const fallbackDue = ({ timeoutReportedAt, lastGateContactAt, rules }: JobContext): number =>\n  Math.max(timeoutReportedAt ?? 0, lastGateContactAt) + rules.gateFallbackMs;',
        replace:
          'export const fallbackDue = ({ timeoutReportedAt, rules }: JobContext): number =>\n  (timeoutReportedAt ?? 0) + rules.gateFallbackMs;',
      },
    ],
  },
  {
    id: 'P34',
    area: 'fallback',
    says: 'A job that has ended obeys a decision of its gate and ends a second time.',
    edits: [
      {
        file: 'machines/jobs/job.ts',
        find: "'timeout.declared': tooLate,",
        replace: "'timeout.declared': [...refusals, { actions: 'obey' }],",
      },
    ],
  },
];
