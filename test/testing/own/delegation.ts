/** Words to a delegation: by the process of its expert, its asker, the orchestration and a restart. */

import type { DelegationContext } from '../../../machines/agents/delegation/context.ts';
import { delegationMachine } from '../../../machines/agents/delegation.ts';
import { processEvents } from './agent-process.ts';
import type { OwnMachine } from './own-machine.ts';

export const delegation: OwnMachine = {
  machine: delegationMachine,
  samples: {
    inputs: {
      usual: {
        ...{ runId: 'r1', taskId: 't1', attemptId: 't1#1.e1', delegatorId: 't1#1', name: 'lawyer' },
        ...{ prompt: 'Is it?', data: null, limitMs: 60_000, graceMs: 5_000, malformedLinesMax: 1 },
      },
    },
    events: () => [...processEvents, { type: 'expert.granted' }, { type: 'delegator.ended' }],
    key: (context: DelegationContext) => [
      [context.malformedLines, context.ok, context.reason],
      [context.stopReason, context.group],
    ],
  },
  unreachable: {
    'delegation on leadership.acquired': 'Every state in which it lives has an answer of its own.',
  },
};
