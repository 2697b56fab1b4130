/**
 * Planted bugs between gates and datacenters that were out of each other's reach: work that begins after
 * its end, ends that are not learned again, silence that is counted.
 */

import type { Plant } from './plant.ts';

const STEPS = 'machines/jobs/gate-job/steps.ts';

export const gateContactPlants: readonly Plant[] = [
  {
    id: 'P120',
    area: 'gate',
    says: 'A job whose submission was held up for longer than its gate waits begins all the same.',
    edits: [
      {
        file: 'machines/jobs/job.ts',
        find: "{ guard: 'isInTime', target: 'submitted',",
        replace: "{ target: 'submitted',",
      },
    ],
    plan: 'written-OUT-4.json',
  },
  {
    id: 'P121',
    area: 'gate',
    says: 'A gate that has lost its disk asks how a job stands without waiting for an answer: one that has ended gives none.',
    edits: [
      { file: STEPS, find: 'question(jobId, name, false)', replace: 'question(jobId, name)' },
    ],
    plan: 'written-OUT-3.json',
  },
  {
    id: 'P122',
    area: 'gate',
    says: 'A gate that has lost its disk takes no notice of ends that it learns by asking.',
    edits: [
      {
        file: STEPS,
        find: 'if (!isOutcome(status)) return {};',
        replace: 'if (!isOutcome(status) || context.isRebuilt) return {};',
      },
    ],
    plan: 'written-OUT-5.json',
  },
  {
    id: 'P123',
    area: 'fallback',
    says: 'A word of the gate, whatever it is, puts the fallback of a job off for good.',
    edits: [
      {
        file: 'machines/jobs/job.ts',
        find: "                            'ack.received': moved,\n                            'status.requested': moved,",
        replace:
          "                            'ack.received': 'heard',\n                            'status.requested': 'heard',",
      },
      {
        file: 'machines/jobs/job.ts',
        find: '        /** Every word of the gate puts the fallback off. */',
        replace: '        heard: {},',
      },
    ],
    plan: 'written-FB-2.json',
  },
  {
    id: 'P124',
    area: 'gate',
    says: 'A gate counts a datacenter that has fallen silent among those where nothing moves.',
    edits: [
      {
        file: 'machines/jobs/gate-job/rules.ts',
        find: '!isSilent(lastSeenAt, at, rules.silentAfterMs),',
        replace: 'lastSeenAt <= at,',
      },
    ],
    plan: 'written-GA-9.json',
  },
  {
    id: 'P125',
    area: 'extensions',
    says: 'A worker that is suspect is granted more time.',
    edits: [
      {
        file: 'machines/jobs/worker-health/grants.ts',
        find: "  if (!isTrusted || at > deadline) return 'suspect';\n",
        replace: "  if (!isTrusted && at < 0 * deadline) return 'suspect';\n",
      },
    ],
    plan: 'written-EX-5.json',
  },
  {
    id: 'P126',
    area: 'time',
    says: 'A gate reckons the hold of a datacenter from its last progress, not from the message that told it.',
    edits: [
      {
        file: 'machines/jobs/gate-job/taking.ts',
        find: 'figures.holdMs === 0 ? 0 : at + figures.holdMs',
        replace: 'figures.holdMs === 0 ? 0 : at - figures.sinceProgressMs + figures.holdMs',
      },
    ],
    plan: 'written-TO-14.json',
  },
];
