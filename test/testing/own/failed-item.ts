/** Words to a failed item. */

import { failedItemMachine } from '../../../machines/mapreduce/failed-item.ts';
import type { OwnMachine } from './own-machine.ts';

const failure = {
  ...{ attemptNumber: 1, timestamp: 1, errorType: 'CommandFailed', errorMessage: 'it failed' },
  ...{ agentId: 'agent-0-1', stepFailed: 0, durationMs: 5, exitCode: 1, timeoutKind: null },
};

export const failedItem: OwnMachine = {
  machine: failedItemMachine,
  samples: {
    inputs: { usual: { workflow: 'w', itemId: 'item_0' } },
    events: {
      'failures.recorded': [
        { runId: 'r1', itemIndex: 3, agentId: 'agent-3-1', failures: [failure], timeout: null },
      ],
    },
    key: () => null,
  },
};
