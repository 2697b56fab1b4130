/**
 * Planted bugs between gates and datacenters that were out of each other's reach: work that begins after
 * its end, ends that are not learned again, silence that is counted.
 */

import type { Plant } from './plant.ts';

const STEPS = 'machines/jobs/gate-job/steps.ts';
const CHART = 'machines/jobs/datacenter.ts';
const SETUP = 'machines/jobs/datacenter/setup.ts';

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
    edits: [{ file: STEPS, find: "isHint: nonce === '',", replace: 'isHint: true,' }],
    plan: 'written-OUT-3.json',
  },
  {
    id: 'P122',
    area: 'gate',
    says: 'A gate that has lost its disk takes no notice of ends that it learns by asking.',
    edits: [
      {
        file: 'machines/jobs/gate-job/setup.ts',
        find: "keep('status.found', ({ context, event }) =>\n      withStep(",
        replace:
          "keep('status.found', ({ context, event }) =>\n      context.isRebuilt ? {} : withStep(",
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
        file: 'machines/jobs/job/authority.ts',
        find: "                    'ack.received': moved,\n                    'status.requested': moved,",
        replace:
          "                    'ack.received': 'heard',\n                    'status.requested': 'heard',",
      },
      {
        file: 'machines/jobs/job/authority.ts',
        find: '/** Every word of the gate puts the fallback off. */',
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
        find: "record.contact !== 'silent' &&",
        replace: '',
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
        file: 'machines/jobs/worker-health.ts',
        find: "'extension.requested': [...repeated, malformed, tooLate],",
        replace: "'extension.requested': [...decided, { actions: 'grant' }],",
      },
      {
        file: 'machines/jobs/worker-health/setup.ts',
        find: 'event.at > context.deadline',
        replace: 'event.at < 0 * context.deadline',
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
        file: 'machines/jobs/datacenter/steps.ts',
        find: 'figures.holdMs === 0 ? 0 : saidAt + figures.holdMs',
        replace: 'figures.holdMs === 0 ? 0 : saidAt - figures.sinceProgressMs + figures.holdMs',
      },
    ],
    plan: 'written-TO-14.json',
  },
  {
    id: 'P230',
    area: 'gate',
    says: 'A gate that was restarted has caught up with a datacenter at its first word, however old that is.',
    edits: [
      {
        file: CHART,
        find: "'progress.reported': meets,\n            'timeout.reported': meets,\n            'leader.transferred': meets,\n            'final.reported': caughtUp,\n            'status.corrected': [\n              { guard: 'isAnswer', ...caughtUp },\n              { guard: 'isReply', actions: ['meet', 'see', 'askAgain'] },\n              meets,\n            ],",
        replace:
          "'progress.reported': caughtUp,\n            'timeout.reported': caughtUp,\n            'leader.transferred': caughtUp,\n            'final.reported': caughtUp,\n            'status.corrected': caughtUp,",
      },
    ],
    suite: 'test/jobs/machines/datacenter.test.ts',
  },
  {
    id: 'P231',
    area: 'gate',
    says: 'A datacenter that was silent is heard again at its first word, however old that is.',
    edits: [
      {
        file: CHART,
        find: "'progress.reported': catchesUp,\n            'timeout.reported': catchesUp,\n            'leader.transferred': catchesUp,\n            'final.reported': caughtUp,\n            'status.corrected': [{ guard: 'isEnd', ...caughtUp }, catchesUp],",
        replace:
          "'progress.reported': caughtUp,\n            'timeout.reported': caughtUp,\n            'leader.transferred': caughtUp,\n            'final.reported': caughtUp,\n            'status.corrected': caughtUp,",
      },
    ],
    suite: 'test/jobs/machines/datacenter.test.ts',
  },
  {
    id: 'P232',
    area: 'gate',
    says: 'A gate takes a report that had waited to be sent for one of now.',
    edits: [{ file: SETUP, find: 'args.event.ageMs !== undefined ||', replace: '' }],
    suite: 'test/jobs/machines/datacenter.test.ts',
  },
  {
    id: 'P310',
    area: 'gate',
    says: 'A gate takes a report that was held up on its way for one of now.',
    edits: [
      {
        file: SETUP,
        find: ' ||\n      (words.isAgainst(args) && words.isHeldUp(args)),',
        replace: ',',
      },
    ],
    plan: 'written-GA-12-held-up.json',
  },
  {
    id: 'P311',
    area: 'gate',
    says: 'A gate that was frozen over the end of a budget declares as soon as it wakes.',
    edits: [
      {
        file: 'machines/jobs/gate-job.ts',
        find: "        { guard: 'isLate', actions: 'loseTouch' },\n",
        replace: '',
      },
    ],
    plan: 'written-GA-10-late.json',
  },
  {
    id: 'P312',
    area: 'gate',
    says: 'A gate takes an answer for news, however long it was on its way.',
    edits: [
      {
        file: 'machines/jobs/datacenter/steps.ts',
        find: '<= ROUND_TRIP_MS || !isHeldUp(args)',
        replace: '>= 0 * ROUND_TRIP_MS',
      },
    ],
    suite: 'test/jobs/machines/datacenter.test.ts',
  },
  {
    id: 'P313',
    area: 'gate',
    says: 'The end of a job is told behind a report of credit that was lost, and not beside it.',
    edits: [
      {
        file: 'machines/jobs/job/gate.ts',
        find: 'const isBehind = context.announcedSeq !== undefined;',
        replace: 'const isBehind = false;',
      },
    ],
    suite: 'test/jobs/machines/job-reports.test.ts',
  },
  {
    id: 'P303',
    area: 'gate',
    says: 'A report of progress that its gate has not acknowledged is followed by one that the end of the job waits behind.',
    edits: [
      {
        file: 'machines/jobs/job/gate.ts',
        find: 'says: toGate(context, event, !mustArrive),',
        replace:
          'says: toGate(context, event, !mustArrive && at <= context.lastGateContactAt + context.rules.reportIntervalMs),',
      },
    ],
    suite: 'test/jobs/machines/job-reports.test.ts',
  },
  {
    id: 'P304',
    area: 'gate',
    says: 'A gate drops without a word the reports of a job that it has lost.',
    edits: [
      {
        file: 'programs/jobs/gate.ts',
        find: '    absent: answerForAbsent(node),\n',
        replace: '',
      },
    ],
    suite: 'test/jobs/scenarios/gate-outcomes.test.ts',
  },
  {
    id: 'P329',
    area: 'gate',
    says: 'A datacenter that had the job before it answered is known at once: what the job has said there since is not waited for.',
    edits: [
      {
        file: 'machines/jobs/datacenter.ts',
        find: "            'submission.answered': hadIt,\n",
        replace: '',
      },
    ],
    plan: '2045101-GA-10.json',
  },
  {
    id: 'P330',
    area: 'gate',
    says: 'A look at the jobs service of a datacenter, whose answer is lost, takes as long as a datacenter may be silent.',
    edits: [
      {
        file: 'programs/jobs/gate/views.ts',
        find: 'const FIRST_TRY_MS = 5_000;',
        replace: 'const FIRST_TRY_MS = 3_600_000;',
      },
    ],
    plan: '2045053-OUT-3.json',
  },
];
