/** Restarts, bad input and what is left over, of the jobs system over WebSocket. */

import { describe } from 'vitest';
import { repeatOverSockets } from './over-websocket.ts';

describe('over WebSocket', async () => {
  await repeatOverSockets(
    'gate/scenarios.test.ts',
    'gate/overload.test.ts',
    'restart',
    'bad-input',
    'leftovers.test.ts',
  );
});
