/**
 * Planted bugs with which the record agrees: what is wrong is written down as if it were right, so a
 * checker that judges by the record finds nothing.
 */

import type { Plant } from './plant.ts';

const CONFIGURATION = 'programs/jobs/configuration.ts';
const CREDIT = 'machines/jobs/job/credit.ts';
const ENDS = 'machines/jobs/job/ends.ts';
const HEALTH = 'machines/jobs/worker-health/context.ts';
const STEPS = 'machines/jobs/job/steps.ts';
const TABLE = 'machines/jobs/job/workflows.ts';
const WORDS = 'machines/jobs/datacenter/steps.ts';

export const recordPlants: readonly Plant[] = [
  {
    id: 'P250',
    area: 'time',
    says: 'Progress of a job counts from when the job hears of it, not from when it was made.',
    edits: [
      {
        file: STEPS,
        find: 'progressed(context, at - sinceProgressMs)',
        replace: 'progressed(context, at - 0 * sinceProgressMs)',
      },
    ],
  },
  {
    id: 'P251',
    area: 'time',
    says: 'An extension by a person is written down as more time from now on, not from the deadline on.',
    edits: [
      {
        file: CREDIT,
        find: '[...context.operatorCredits, { requestId, by, byMs, at }]',
        replace:
          '[\n      ...context.operatorCredits,\n      { requestId, by, byMs: Math.max(1, byMs - (at - context.baseAt)), at },\n    ]',
      },
    ],
  },
  {
    id: 'P252',
    area: 'extensions',
    says: 'After a worker with credit is lost a job is held for half of the time that is configured.',
    edits: [
      {
        file: CONFIGURATION,
        find: '    checkIntervalMs: config.checkIntervalMs,',
        replace: '    checkIntervalMs: Math.floor(config.checkIntervalMs / 2),',
      },
    ],
  },
  {
    id: 'P253',
    area: 'fallback',
    says: 'A job writes down that it reported its timeout when it last heard anything, and falls back too early.',
    edits: [
      {
        file: ENDS,
        find: 'timeoutReportedAt: at,',
        replace: 'timeoutReportedAt: context.seenAt,',
      },
    ],
  },
  {
    id: 'P254',
    area: 'work',
    says: 'A workflow that waits to be dispatched again stands in the table of its job as failed for good.',
    edits: [
      {
        file: TABLE,
        find: "    case 'PENDING':\n    case 'FAILED_READY_FOR_RETRY':\n",
        replace: "    case 'FAILED_READY_FOR_RETRY':\n      return FAILED;\n    case 'PENDING':\n",
      },
    ],
  },
  {
    id: 'P255',
    area: 'extensions',
    says: 'A heartbeat puts the deadline of its worker off from the heartbeat before it.',
    edits: [
      {
        file: HEALTH,
        find: 'const deadline = Math.max(context.deadline, at + context.rules.baseDeadlineMs);\n  const next = { ...known, listed',
        replace:
          'const deadline = Math.max(\n    context.deadline,\n    context.lastHeardAt + context.rules.baseDeadlineMs,\n  );\n  const next = { ...known, listed',
      },
    ],
  },
  {
    id: 'P256',
    area: 'extensions',
    says: 'Once a heartbeat tells that an attempt got further, it is not known any more that its worker took it.',
    edits: [
      {
        file: HEALTH,
        find: 'known = withOperation(known, id, { ...operation, progress, ...items });',
        replace:
          'const { heartbeatSeq: _, ...rest } = operation;\n    known = withOperation(known, id, { ...rest, progress, ...items });',
      },
    ],
  },
  {
    id: 'P258',
    area: 'gate',
    says: 'A gate keeps of an end why the datacenter had found the job overdue, not why it ended.',
    edits: [
      {
        file: WORDS,
        find: 'const told = { status, reason, localReason, gateReason, endedAt',
        replace:
          'const told = { status, reason: localReason ?? reason, localReason, gateReason, endedAt',
      },
    ],
  },
];
