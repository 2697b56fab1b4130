/** Jobs as clients see them, at each moment of their life. */

import { expect, test } from 'vitest';
import { jobAddress, workflowAddress } from '../../machines/jobs/addresses.ts';
import { localClient } from '../../programs/jobs/client/local-client.ts';
import { type Manager, startManager } from '../../programs/jobs/manager.ts';
import { memoryStore } from '../../stores/memory.ts';

/** Longer than any question here takes, shorter than a client waits before it asks again. */
const LATE_MS = 5_000;

function clientOf(manager: Manager) {
  return localClient(manager, { timeoutMs: LATE_MS });
}

const workflows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `w${index}`, handler: 'none' }));

test('a job can be looked at while it is taken in, in every moment', async () => {
  const manager = await startManager({ datacenter: 'A' });
  const client = clientOf(manager);
  const submitted = client.submit({ jobId: 'j', timeoutMs: 60_000, workflows: workflows(250) });
  let isAccepted = false;
  void submitted.finally(() => {
    isAccepted = true;
  });
  const seen: unknown[] = [];
  while (!isAccepted) {
    await new Promise(setImmediate);
    const view = await client.get('j');
    seen.push(view?.status);
    if (view === undefined) continue;
    expect(view.workflows.map(({ workflowId }) => workflowId)).toHaveLength(250);
    for (const { status, attempts } of view.workflows)
      expect([status, attempts]).toEqual(['pending', 0]);
  }
  expect(await submitted).toMatchObject({ accepted: true });
  // Seen between its spawn and that of its workflows.
  expect(seen).toContain('submitted');
  await manager.stop();
});

test('a job is looked at when the records of its workflows are gone, by what it knows of them', async () => {
  const store = memoryStore();
  const manager = await startManager({ datacenter: 'A', store });
  const client = clientOf(manager);
  await client.submit({ jobId: 'j', timeoutMs: 60_000, workflows: workflows(2) });
  await client.cancel('j');
  const { workflows: before } = (await client.get('j')) ?? {};
  expect(before?.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  const load = store.load.bind(store);
  const gone = workflowAddress('j', 'w1', 'A');
  const again = await startManager({
    datacenter: 'A',
    store: Object.assign(store, {
      load: (address: string) => (address === gone ? undefined : load(address)),
    }),
  });
  const view = await clientOf(again).get('j');
  expect(view?.workflows.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  expect(again.runtime.actor(jobAddress('j', 'A')).getSnapshot().context.status).toBe('cancelled');
  await again.stop();
  manager.crash();
});
