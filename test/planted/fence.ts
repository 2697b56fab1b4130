/** Planted bugs of fences: numbers that keep a late leader or a late decision harmless. */

import type { Plant } from './plant.ts';

const JUDGE = 'machines/jobs/job/gate.ts';

export const fencePlants: readonly Plant[] = [
  {
    id: 'P12',
    area: 'fence',
    says: 'A job obeys decisions that were made for an earlier leader.',
    edits: [
      {
        file: JUDGE,
        find: 'leaderFence < context.leaderFence;',
        replace: 'leaderFence < 0 * context.leaderFence;',
      },
    ],
  },
  {
    id: 'P13',
    area: 'fence',
    says: 'A job refuses decisions that were made for its present leader.',
    edits: [
      {
        file: JUDGE,
        find: 'leaderFence < context.leaderFence;',
        replace: 'leaderFence <= context.leaderFence;',
      },
    ],
  },
  {
    id: 'P15',
    area: 'fence',
    says: 'A new leader tells of its fence and does not write it down.',
    edits: [
      {
        file: 'machines/jobs/job/steps.ts',
        find: '  return {\n    next: { ...next, ...report.next },\n    says: [\n      ...gate.leaderTransfer(after, at),',
        replace:
          '  return {\n    next: { ...next, ...report.next, leaderFence: context.leaderFence },\n    says: [\n      ...gate.leaderTransfer(after, at),',
      },
    ],
  },
  {
    id: 'P16',
    area: 'fence',
    says: "A job holds the gate's own number against the fence of its leader.",
    edits: [
      {
        file: JUDGE,
        find: '{ leaderFence = 0 }: Decision): boolean =>\n  leaderFence < context.leaderFence;',
        replace:
          '{ decisionEpoch = NO_EPOCH }: Decision): boolean =>\n  decisionEpoch[0] < context.leaderFence;',
      },
    ],
  },
  {
    id: 'P18',
    area: 'fence',
    says: 'Anybody who was leader is trusted to know by itself that it is not any more: neither workers nor the store look at its number.',
    edits: [
      {
        file: 'machines/jobs/worker/setup.ts',
        find: "isCurrent: ({ context, event }) => 'term' in event && event.term >= context.term,",
        replace: "isCurrent: ({ event }) => 'term' in event,",
      },
      {
        file: 'machines/jobs/worker/attempts.ts',
        find: "  if (asked.term < view.term) return 'staleTerm';\n",
        replace: '',
      },
      {
        file: 'stores/memory.ts',
        find: 'if (group.fence < known) {',
        replace: 'if (group.fence < 0) {',
      },
    ],
  },
  {
    id: 'P20',
    area: 'fence',
    says: 'A gate corrects a decision for as long as it is not answered: it is sent again though nothing has changed.',
    edits: [
      {
        file: 'machines/jobs/datacenter/setup.ts',
        find: 'told !== null && leaderFence > told.leaderFence',
        replace: 'told !== null && leaderFence >= told.leaderFence',
      },
    ],
  },
];
