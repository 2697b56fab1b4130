/** Shadow results: deadlines that were not enforced, counted with what came of their actors. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { inspectorHandler } from '../../../inspector/mount.ts';
import type { TimeoutsView } from '../../../inspector/protocol.ts';
import { shadowLines } from '../../../inspector/shadows.ts';
import { connectClient, startManager, startWorker } from '../../../programs/jobs/index.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';
import { eventually } from '../../kit/eventually.ts';
import { call } from './inspected.ts';

test('a job that is only watched counts as ended by its deadline, and as completed', async () => {
  const network = inProcessNetwork();
  // It ends once its deadline has come: after a fixed time a busy machine might see both at once, the end first.
  let wake = (): void => {};
  const nap = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const manager = await startManager({ datacenter: 'A', transport: network.join('A.manager-1') });
  const transport = network.join('A.worker-1');
  const worker = await startWorker({
    worker: 'A.worker-1',
    datacenter: 'A',
    cores: 1,
    transport,
    handlers: { nap },
  });
  const client = await connectClient({
    client: 'laptop',
    to: 'A',
    transport: network.join('laptop'),
  });
  const handler = inspectorHandler(manager.runtime as never, { cluster: false });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const workflows = [{ id: 'nap', handler: 'nap' }];
    await client.submit({ jobId: 'late', timeoutMs: 50, enforce: false, workflows });
    const { port } = server.address() as AddressInfo;
    const line = { kind: 'job', reason: 'overall', count: 1, last: 'job/late@A' };
    const told = (more: object) =>
      eventually(async () => {
        const { body } = await call(port, '/api/timeouts');
        expect((body as unknown as TimeoutsView).shadows).toEqual([{ ...line, ...more }]);
      });
    await told({ completed: 0, living: 1 });
    wake();
    await client.wait('late');
    await told({ completed: 1, living: 0 });
  } finally {
    handler.close();
    server.close();
    for (const program of [client, worker, manager]) await program.stop();
  }
});

test('lines are of the time that is looked at, whatever a context has', () => {
  const actor = (key: string, state: string | undefined, context: unknown) => ({
    address: `job/${key}@A`,
    kind: 'job',
    state,
    context,
  });
  const lines = shadowLines(
    [
      actor('1', 'completed', { shadows: [{ reason: 'overall', at: 50 }] }),
      actor('2', 'failed', { shadows: [{ reason: 'overall', at: 90 }] }),
      actor('3', undefined, { shadowed: { reason: 'overall', at: 70 } }),
      actor('4', undefined, { shadowTimeouts: [{ kind: 'command', decidedAt: 60 }] }),
      actor('5', 'completed', { shadows: [{ reason: 'overall', at: 10 }] }),
      actor('6', 'completed', { shadows: 'none', shadowed: null, shadowTimeouts: [null, 3, {}] }),
      actor('7', 'completed', 'a text'),
    ],
    40,
  );
  expect(lines).toEqual([
    { kind: 'job', reason: 'overall', count: 3, completed: 1, living: 1, last: 'job/2@A' },
    { kind: 'job', reason: 'command', count: 1, completed: 0, living: 1, last: 'job/4@A' },
  ]);
});
