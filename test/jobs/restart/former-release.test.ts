/** Records of a release that had one queue and no ranks: workflows that waited then are run by this one. */

import { expect, test } from 'vitest';
import { viewOf, type WorkflowTable } from '../../../machines/jobs/job/table.ts';
import type { SlotRequested } from '../../../machines/jobs/messages/local.ts';
import { requestOf, type WorkflowContext } from '../../../machines/jobs/workflow/context.ts';
import { connectClient } from '../../../programs/jobs/client.ts';
import { startManager } from '../../../programs/jobs/manager.ts';
import { startWorker } from '../../../programs/jobs/worker.ts';
import type { ActorWrite, IndexEntry, Store } from '../../../runtime/ports/store.ts';
import { tablesOf, unmarkRecord } from '../../../runtime/statechart/tables.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';

const JOBS = 6;
const EACH = 5;
/** What the pool of the former release knew; the others had been turned away. */
const KNOWN = 7;

interface Stored {
  version: number;
  snapshot: { value: unknown; context: Record<string, unknown> };
}

async function accepted(): Promise<Store> {
  const network = inProcessNetwork();
  const store = memoryStore();
  const transport = network.join('A.manager-1');
  const manager = await startManager({ datacenter: 'A', store, transport });
  const client = await connectClient({ client: 'c', to: 'A', transport: network.join('c') });
  for (let job = 0; job < JOBS; job += 1)
    await client.submit({
      jobId: `j${job}`,
      timeoutMs: 3_600_000,
      workflows: Array.from({ length: EACH }, (_, index) => ({ id: `w${index}`, handler: 'note' })),
    });
  await client.stop();
  await manager.stop();
  return store;
}

/** The records as the release before would have written them. */
function asBefore(store: Store): Store {
  const waiting: Array<Omit<SlotRequested, 'type'>> = [];
  const writes: ActorWrite[] = [];
  for (const [address, entry] of store.entries()) {
    const text = store.load(address) as string;
    const record = unmarkRecord(JSON.parse(text) as Stored, tablesOf(store.rows(address)));
    const { context } = record.snapshot;
    let former: IndexEntry = entry;
    if (entry.kind === 'job') {
      record.version = 2;
      const { standing, ids, dependsOn, lanes } = viewOf(context.table as WorkflowTable);
      context.table = { standing, ids, dependsOn, ...(lanes !== undefined && { lanes }) };
    }
    if (entry.kind === 'workflow') {
      const isKnown = waiting.length < KNOWN;
      if (isKnown) waiting.push(requestOf(context as unknown as WorkflowContext));
      record.version = 1;
      record.snapshot.value = { PENDING: isKnown ? 'asking' : 'turnedAway' };
      const { rank: _, ...others } = entry;
      const tags = isKnown ? [] : ['turnedAway'];
      former = { ...others, state: JSON.stringify(record.snapshot.value), tags };
    }
    writes.push({ address, record: JSON.stringify(record), entry: former, history: [] });
  }
  return stored(writes.map((write) => (isPool(write) ? poolBefore(write, waiting) : write)));
}

const isPool = ({ address }: ActorWrite): boolean => address.startsWith('worker-pool/');

function poolBefore(write: ActorWrite, queue: readonly object[]): ActorWrite {
  const record = JSON.parse(write.record as string) as Stored;
  const { datacenter, term, rules, workers, registrations } = record.snapshot.context;
  record.version = 1;
  record.snapshot = {
    value: { serving: 'waiting' },
    context: { datacenter, term, rules, workers, registrations, queue, hasTurnedAway: true },
  };
  const state = '{"serving":"waiting"}';
  const entry = { ...(write.entry as IndexEntry), state };
  return { ...write, record: JSON.stringify(record), entry };
}

function stored(writes: readonly ActorWrite[]): Store {
  const store = memoryStore();
  store.commit({ shard: 'A', fence: 1, writes }, () => {});
  return store;
}

test('all that waited are run, those that had been turned away too', async () => {
  const store = asBefore(await accepted());
  const network = inProcessNetwork();
  const manager = await startManager({
    datacenter: 'A',
    store,
    transport: network.join('A.manager-1'),
    config: { queueMax: 2 },
  });
  const ran: string[] = [];
  const worker = await startWorker({
    worker: 'A.worker-1',
    datacenter: 'A',
    cores: 2,
    transport: network.join('A.worker-1'),
    handlers: { note: async ({ jobId, workflowId }) => void ran.push(`${jobId}/${workflowId}`) },
  });
  await expect.poll(() => ran.length).toBe(JOBS * EACH);
  expect(new Set(ran).size).toBe(JOBS * EACH);
  const left = () => manager.runtime.query({ kind: 'job', status: 'active' }).actors.length;
  await expect.poll(left).toBe(0);
  expect(manager.runtime.query({ kind: 'workflow', queue: '' }).actors).toEqual([]);
  expect(manager.runtime.undelivered()).toEqual([]);
  await worker.stop();
  await manager.stop();
});
