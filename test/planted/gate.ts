/** Planted bugs of gates: decisions that reach too few or fall twice, and outcomes that depend on chance. */

import type { Plant } from './plant.ts';

const DECIDING = 'machines/jobs/gate-job/decisions.ts';

export const gatePlants: readonly Plant[] = [
  {
    id: 'P21',
    area: 'gate',
    says: 'A gate sends its decision once and never again.',
    edits: [
      {
        file: 'machines/jobs/gate-job/steps.ts',
        find: 'event: order(context, name, at),',
        replace: 'event: order(context, name, at),\n    isHint: true,',
      },
    ],
  },
  {
    id: 'P22',
    area: 'gate',
    says: 'A message is acknowledged when its turn is taken, before that is on disk.',
    edits: [
      {
        file: 'runtime/shard/turn.ts',
        find: '    this.#finish(actor, item, at, eventType(item, timer), asked, undefined);',
        replace:
          "    if (item.type === 'message') item.settle?.();\n    this.#finish(actor, item, at, eventType(item, timer), asked, undefined);",
      },
    ],
  },
  {
    id: 'P23',
    area: 'gate',
    says: 'A gate leaves out of its broadcast the datacenters that reported the timeout.',
    edits: [
      {
        file: DECIDING,
        find: "({ run, decision }) => isUnderWay(run) && decision === 'none'",
        replace: "({ run, decision }) => run === 'running' && decision === 'none'",
      },
    ],
  },
  {
    id: 'P25',
    area: 'gate',
    says: 'A datacenter whose answer to the submission comes late, or again, runs the job again for the gate, though it has ended it.',
    edits: [
      {
        file: 'machines/jobs/datacenter.ts',
        find: 'final: { on: told },',
        replace:
          "final: {\n          on: {\n            ...told,\n            'submission.answered': { target: 'running', actions: 'join' },\n          },\n        },",
      },
    ],
  },
  {
    id: 'P26',
    area: 'gate',
    says: 'A gate that was restarted does not look whether it has declared before.',
    edits: [
      {
        file: 'machines/jobs/gate-job/setup.ts',
        find: "decision?.kind === 'timeout' && decision.reason === reason",
        replace: "decision?.kind === 'cancel' && String(decision.at) === reason",
      },
    ],
  },
  {
    id: 'P29',
    area: 'gate',
    says: 'The datacenter whose end came first decides whether a job has timed out.',
    edits: [
      {
        file: DECIDING,
        find: 'const ends = took.map(([, { final }]) => final ?? presumedEnd(context));',
        replace:
          'const ends = took\n    .toSorted(([, a], [, b]) => (a.final?.endedAt ?? at) - (b.final?.endedAt ?? at))\n    .map(([, { final }]) => final ?? presumedEnd(context));',
      },
      {
        file: 'machines/jobs/gate-job/global-outcome.ts',
        find: 'if (timedOut.length > 0)',
        replace: "if (ends[0]?.status === 'timedOut')",
      },
    ],
  },
  {
    id: 'P327',
    area: 'gate',
    says: 'A gate takes back a timeout by its rule of no progress while it catches up with a datacenter that has made none.',
    edits: [
      {
        file: 'machines/jobs/gate-job/rules.ts',
        find: 'isNothingMoving(context, isKnown)',
        replace: 'isNothingMoving(context)',
      },
    ],
    plan: '2019812-GA-2.json',
  },
];
