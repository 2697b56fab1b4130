/** Planted bugs of delivery: what is sent again, when, and what waits in line for it. */

import type { Plant } from './plant.ts';

export const deliveryPlants: readonly Plant[] = [
  {
    id: 'P321',
    area: 'runtime',
    says: 'What a full mailbox had refused waits for the pause of a silent receiver, although others of its sender have been taken since.',
    edits: [
      {
        file: 'runtime/delivery/delivery.ts',
        find: 'else if (isShorter) this.#arm(sender, lane);',
        replace: '',
      },
    ],
    suite: 'test/delivery/delivery.test.ts',
  },
  {
    id: 'P324',
    area: 'runtime',
    says: 'What a full mailbox of the same node had refused waits for a pause, although it has room again.',
    edits: [
      {
        file: 'runtime/delivery/delivery.ts',
        find: 'if (lane.isPaused && lane.isHere)',
        replace: 'if (lane.isPaused && lane.rows.length < 0)',
      },
    ],
    suite: 'test/engine/same-group.test.ts',
  },
  {
    id: 'P322',
    area: 'runtime',
    says: 'A question that no jobs service has taken yet is asked again, and its copies queue up behind it.',
    edits: [
      {
        file: 'runtime/delivery/asks.ts',
        find: 'const cancelLate = endAfter(timeoutMs, what);',
        replace: 'const cancelLate = endAfter(answerMs ?? timeoutMs, what);',
      },
    ],
    suite: 'test/delivery/asks.test.ts',
  },
];
