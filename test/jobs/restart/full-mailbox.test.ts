/** A datacenter that is opened again while more waits for its pool than the pool's mailbox holds. */

import { expect, test } from 'vitest';
import { connectClient } from '../../../programs/jobs/client.ts';
import { startManager } from '../../../programs/jobs/manager.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';

test('it opens as soon as there is room, and takes another limit of the queue', async () => {
  const network = inProcessNetwork();
  const store = memoryStore();
  const start = (manager: string, queueMax: number) =>
    startManager({
      datacenter: 'A',
      manager,
      store,
      transport: network.join(manager),
      limits: { mailboxMax: 2 },
      config: { queueMax },
    });
  const first = await start('A.manager-1', 1_000);
  const client = await connectClient({ client: 'c', to: 'A', transport: network.join('c') });
  await client.submit({
    jobId: 'j1',
    timeoutMs: 3_600_000,
    workflows: Array.from({ length: 30 }, (_, index) => ({ id: `w${index}`, handler: 'note' })),
  });
  // What the workflows have asked of the pool is in their records, and the pool has taken little of it.
  first.crash();

  const second = await start('A.manager-2', 500);
  expect(second.runtime.actor('worker-pool/main@A').getSnapshot().context.queueMax).toBe(500);
  expect(second.runtime.actor('desk/main@A').getSnapshot().status).toBe('active');
  await client.stop();
  await second.stop();
});
