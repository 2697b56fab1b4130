/**
 * Bugs that were there once, see docs/track-record.md, put back.
 *
 * What took thousands of seeds to find is looked for by the plan that it was shrunk to then; what none
 * has found, by a plan written by hand; what no invariant looks at, by the test that stands beside it.
 */

import type { Edit, Plant } from './plant.ts';

const ACCEPTANCE = 'programs/jobs/manager/acceptance.ts';
const ENDS = 'machines/jobs/job/ends.ts';
const JOB = 'machines/jobs/job.ts';
const STEPS = 'machines/jobs/job/steps.ts';

/** Calls that share a signal have a listener each. */
const ownListeners: Edit = {
  file: 'runtime/base/when-aborted.ts',
  find: 'waiting.get(signal) ?? begin(signal)',
  replace: 'begin(signal)',
};

export const trackRecordPlants: readonly Plant[] = [
  {
    id: 'P67',
    area: 'cleanup',
    says: 'A cancel or an extension that arrives while a job is being taken in is answered by nobody.',
    edits: [
      {
        file: JOB,
        find: "          { actions: 'answerUnaccepted' },\n",
        replace: '',
      },
      { file: JOB, find: "        'job.extend': { actions: 'answerUnaccepted' },\n", replace: '' },
    ],
    suite: 'test/jobs/machines/job-assembling.test.ts',
  },
  {
    id: 'P68',
    area: 'cleanup',
    says: 'A submission that comes again while its job ends spawns its workflows a second time.',
    edits: [
      {
        file: ACCEPTANCE,
        find: "if (!isNew && known?.digest !== digest) return refused(jobId, 'conflict');\n",
        replace:
          "if (!isNew && known?.digest !== digest) return refused(jobId, 'conflict');\n  if (!isNew && known !== undefined && known.status !== 'submitted') return accepted(node, known, false);\n",
      },
      {
        file: ACCEPTANCE,
        find: '    if (isNew) {\n      const dependsOn',
        replace: '    {\n      const dependsOn',
      },
      {
        file: ACCEPTANCE,
        find: "    // Its workflows were there once; those that have ended since are not spawned again.\n    if (!spawned.matches('assembling')) return accepted(node, spawned.context, isNew);\n",
        replace: '',
      },
      {
        file: ACCEPTANCE,
        find: "    if (thrown.code === 'ACTOR_ENDED') return takeBack(node, submission);\n",
        replace: '',
      },
    ],
    suite: 'test/jobs/scenarios/resubmissions.test.ts',
  },
  {
    id: 'P69',
    area: 'gate',
    says: 'A gate that carries more than ten jobs at a time makes Node warn of a leak that is none.',
    edits: [ownListeners],
    suite: 'test/jobs/gate/many-dispatches.test.ts',
  },
  {
    id: 'P70',
    area: 'runtime',
    says: 'A leaseStore of leases out of reach is told in the log once a second by every manager.',
    edits: [
      {
        file: 'programs/elected-lease.ts',
        find: 'if (isReached) this.#logger.warn(',
        replace: 'this.#logger.warn(',
      },
    ],
    suite: 'test/jobs/elected-lease.test.ts',
  },
  {
    id: 'P71',
    area: 'gate',
    says: 'A gate that comes back before a late datacenter takes the job tells it to drop the job under the number of its decision, which is refused each time.',
    edits: [
      {
        file: 'machines/jobs/gate-job/decisions.ts',
        find: "decision === null || record?.run === 'late' ? nextEpoch",
        replace: "decision === null || record?.run === 'refused' ? nextEpoch",
      },
    ],
    plan: 'written-TS-2.json',
  },
  {
    id: 'P72',
    area: 'gate',
    says: 'What a gate decides about a job whose workflows are still being stored is lost.',
    edits: [
      {
        file: JOB,
        find: "        'timeout.declared': { actions: 'holdDecision' },\n",
        replace: '',
      },
      {
        file: JOB,
        find: "{ guard: 'isOfGate', actions: 'holdDecision' },",
        replace: "{ guard: 'isOfGate' },",
      },
    ],
    plan: '1215-TS-2.json',
  },
  {
    id: 'P73',
    area: 'fence',
    says: 'What a job says again, to a gate that had lost its data, it says under the fence of an earlier leader.',
    edits: [
      {
        file: STEPS,
        find: '{ to, event: ofNow(context, event) }',
        replace: '{ to, event }',
      },
      {
        file: STEPS,
        find: `/** It may be older than the last takeover, and the gate takes nothing of an earlier leader any more. */
function ofNow(context: JobContext, event: MessageRefused['event']) {
  return 'leaderFence' in event ? { ...event, ...gate.originOf(context) } : event;
}

`,
        replace: '',
      },
    ],
    plan: '1071-FE-1.json',
  },
  {
    id: 'P74',
    area: 'extensions',
    says: 'A grant whose request names no items leaves those of an earlier grant in place, and the next request is weighed against them.',
    edits: [
      {
        file: 'machines/jobs/worker-health/grants.ts',
        find: 'const { grantedItems: _, ...operation } =',
        replace: 'const operation =',
      },
    ],
    plan: 'written-EX-4.json',
  },
  {
    id: 'P75',
    area: 'runtime',
    says: 'Eleven calls that share an abort signal make Node warn of a leak that is none.',
    edits: [ownListeners],
    suite: 'test/engine/shared-signals.test.ts',
  },
  {
    id: 'P76',
    area: 'runtime',
    says: 'An actor that another place brings back on an empty store numbers its messages from the beginning.',
    edits: [
      {
        file: 'runtime/actor/outbox.ts',
        find: 'this.counter = Math.max(0, Math.floor(at));',
        replace: 'this.counter = 0;',
      },
    ],
    plan: '2430-TS-2.json',
  },
  {
    id: 'P77',
    area: 'gate',
    says: 'What a gate decided about a job that is given up before all its workflows are stored is answered by nobody.',
    edits: [
      {
        file: ENDS,
        find: '  const { heldDecision: held } = context;\n',
        replace: '',
      },
      {
        file: ENDS,
        find: `    says:
      held === undefined
        ? []
        : gate.acknowledge(context, held, { accepted: false, reason: 'unknown' }),
`,
        replace: '',
      },
    ],
    plan: '3096-CL-2.json',
  },
  {
    id: 'P78',
    area: 'time',
    says: 'A workflow that two failed ones led to is told twice; its refusal counts as progress of the job, without moving the deadline by which the job is found stuck.',
    edits: [
      {
        file: 'machines/jobs/job/authority.ts',
        find: "  'message.refused': moved,\n",
        replace: '',
      },
      {
        file: 'machines/jobs/job/workflows.ts',
        find: 'filter((index) => standing[index] === WAITING)',
        replace: 'slice(1)',
      },
    ],
    plan: '9198-TO-2.json',
  },
  {
    id: 'P79',
    area: 'gate',
    says: 'A report that was held up on its way to a gate replaces newer ones, where the datacenter has taken the job too late to count.',
    edits: [
      {
        file: 'machines/jobs/datacenter.ts',
        find: '        late: {\n          on: {\n            ...told,',
        replace:
          "        late: {\n          on: {\n            ...told,\n            'progress.reported': take,",
      },
    ],
    plan: 'written-GA-8.json',
  },
  {
    id: 'P80',
    area: 'time',
    says: 'Limits of seconds that were set by a leader whose clock was ahead are kept by a successor whose clock is right.',
    edits: [
      {
        file: STEPS,
        find: '      ...restarting(context, at),\n',
        replace: '      ...restarting(after, at),\n',
      },
      {
        file: STEPS,
        find: 'says: restarting(context, at) }',
        replace: 'says: restarting({ ...context, ...next }, at) }',
      },
    ],
    plan: '2621-CL-2.json',
  },
  {
    id: 'P82',
    area: 'cleanup',
    says: 'A worker whose leader died before it could answer the registration is known by the next one, and never sends a heartbeat.',
    edits: [
      {
        file: 'machines/jobs/worker.ts',
        find: "              on: { 'leader.announced': { guard: 'isCurrent', target: 'heard' } },\n",
        replace: '',
      },
      {
        file: 'machines/jobs/worker.ts',
        find: "                'leader.announced': { guard: 'isCurrent', target: 'beating' },\n",
        replace: '',
      },
    ],
    plan: 'written-CL-2.json',
  },
];
