/**
 * Questions cost no commit: a manager on LMDB and a gate are asked by clients, over HTTP and by each other,
 * on a clock that stands, so that nothing else can write meanwhile.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobsServiceAddress } from '../../machines/jobs/addresses.ts';
import { connectClient } from '../../programs/jobs/client.ts';
import { type Gate, type Manager, startGate, startManager } from '../../programs/jobs/index.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { close, type Endpoint, listen } from '../http/served.ts';

const clock: Clock = {
  now: () => 1_000_000,
  schedule: () => () => {},
  defer: (task) => void setImmediate(task),
};

/** What was written, by address, and how many commits are under way. */
const written: string[] = [];
let commits = 0;
let underWay = 0;

function counted(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(target);
      const commit: Store['commit'] = (group, settled) => {
        commits += 1;
        underWay += 1;
        written.push(...group.writes.map(({ address }) => address));
        target.commit(group, (refusal) => {
          underWay -= 1;
          settled(refusal);
        });
      };
      return commit;
    },
  });
}

const folder = mkdtempSync(join(tmpdir(), 'escapement-reads-'));
const network = inProcessNetwork();
let manager: Manager;
let gate: Gate;
let served: Endpoint;
let servedAtGate: Endpoint;

beforeAll(async () => {
  manager = await startManager({
    datacenter: 'A',
    gates: ['gate'],
    clock,
    store: counted(lmdbStore(folder)),
    transport: network.join('A.manager-1'),
  });
  gate = await startGate({
    gate: 'gate',
    datacenters: ['A'],
    clock,
    store: counted(memoryStore()),
    transport: network.join('gate'),
  });
  served = await listen(manager);
  servedAtGate = await listen(gate);
});
afterAll(async () => {
  for (const { server, handler } of [served, servedAtGate]) await close(server, handler);
  for (const program of [gate, manager]) program.runtime.crash();
  rmSync(folder, { recursive: true, force: true });
});

const client = (name: string, to: string) =>
  connectClient({ client: name, to, clock, transport: network.join(name) });

/** Nothing waits for time here, so what is quiet stays so. */
async function rest(): Promise<void> {
  const isQuiet = () => {
    const counts = [manager, gate].map(({ runtime }) => runtime.counts());
    return (
      underWay + counts.reduce((sum, { ready, underWay: sent }) => sum + ready + sent, 0) === 0
    );
  };
  for (let quiet = 0; quiet < 20; quiet = isQuiet() ? quiet + 1 : 0) await turn();
}

test('a thousand questions by clients, HTTP and a gate commit nothing and are no turn', async () => {
  const [atManager, atGate] = [await client('client-1', 'A'), await client('client-2', 'gate')];
  const workflows = [{ id: 'w', handler: 'none' }];
  for (const asking of [atManager, atGate]) {
    const jobId = asking === atManager ? 'own' : 'shared';
    const answer = await asking.submit({ jobId, timeoutMs: 3_600_000, workflows });
    expect(answer).toMatchObject({ accepted: true });
    expect(await asking.cancel(jobId)).toMatchObject({ accepted: true });
    expect(await asking.wait(jobId)).toMatchObject({ jobId, status: 'cancelled' });
  }
  await rest();
  const turns = () =>
    [manager, gate].map(
      ({ runtime }) => runtime.history(jobsServiceAddress(runtime.place)).at(-1)?.turn as number,
    );
  const before = { commits, turns: turns() };
  written.length = 0;
  const ask: ReadonlyArray<() => Promise<unknown>> = [
    () => atManager.get('own'),
    () => atManager.list(),
    () => atManager.wait('own'),
    () => atManager.workers(),
    () => atManager.stuckWorkflows(1),
    () => atManager.timeSinceProgress('own'),
    () => atGate.get('shared'),
    () => atGate.list(),
    () => atGate.wait('shared'),
    () => atGate.workers(),
    () => atGate.stuckWorkflows(1),
    ...[served, servedAtGate].flatMap((at, which) => {
      const jobId = which === 0 ? 'own' : 'shared';
      const kind = which === 0 ? 'job' : 'gate-job';
      return [
        `/v1/jobs/${jobId}`,
        '/v1/jobs',
        `/v1/jobs/${jobId}/events`,
        `/v1/jobs/${jobId}/history`,
        '/v1/workers',
        '/v1/timers',
        '/v1/actors',
        `/v1/explain/${kind}/${jobId}`,
        `/v1/history/${kind}/${jobId}`,
      ].map((path) => async () => {
        const response = await at.call(path);
        expect([path, response.status]).toEqual([path, 200]);
        return response.text();
      });
    }),
  ];
  let asked = 0;
  while (asked < 1_000) {
    for (const answer of await Promise.all(ask.map((question) => question())))
      expect(answer).toBeDefined();
    asked += ask.length;
  }
  await rest();
  expect(written).toEqual([]);
  expect({ commits, turns: turns() }).toEqual(before);
  expect(manager.runtime.metrics().questionsAsked).toBeGreaterThan(400);
  // What is to be done still is.
  await atManager.cancel('own');
  expect(commits).toBeGreaterThan(before.commits);
});
