/**
 * Large submissions: their work in one turn of the event loop, counted: at a manager, and at its gate.
 */

import { expect, test } from 'vitest';
import { localClient } from '../../programs/jobs/client/local-client.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

const COUNT = 3_000;

/** The most that was counted between two rounds of the event loop. */
class PerRound {
  most = 0;
  total = 0;
  #now = 0;

  add(): void {
    if (this.#now === 0)
      setImmediate(() => {
        this.#now = 0;
      });
    this.#now += 1;
    this.total += 1;
    this.most = Math.max(this.most, this.#now);
  }
}

const job = (payload: number) => ({
  jobId: 'large',
  timeoutMs: 600_000,
  workflows: Array.from({ length: COUNT }, (_, index) => ({
    id: `w${index}`,
    handler: 'nobody',
    payload: 'x'.repeat(payload),
  })),
});

/** The transport, with each submission that leaves counted. */
function counting(transport: Transport, pages: PerRound): Transport {
  return {
    start: (listener) => transport.start(listener),
    peers: () => transport.peers(),
    stop: () => transport.stop(),
    send(node, frame) {
      if (frame.includes('"job.submitted"')) pages.add();
      return transport.send(node, frame);
    },
  };
}

test('its workflows are born some hundred at a time, and all end when it is cancelled', async () => {
  const births = new PerRound();
  let ended = 0;
  const manager = await startManager({
    datacenter: 'A',
    inspect(fact) {
      if (fact.type !== 'actor' || fact.kind !== 'workflow') return;
      if (fact.change === 'born') births.add();
      else ended += 1;
    },
  });
  const client = localClient(manager);
  expect(await client.submit(job(10))).toMatchObject({ accepted: true, created: true });
  expect(births.total).toBe(COUNT);
  expect(births.most).toBeLessThanOrEqual(256);
  expect(await client.cancel('large')).toEqual({ accepted: true, reason: null });
  const isOver = () => manager.runtime.actor('job/large@A').getSnapshot().status === 'done';
  while (!isOver()) await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(COUNT);
  await manager.stop();
});

test('its pages are kept and sent by a gate a few at a time', async () => {
  const kept = new PerRound();
  const sent = new PerRound();
  const network = inProcessNetwork();
  const manager = await startManager({
    datacenter: 'A',
    gates: ['gate'],
    transport: network.join('A.manager-1'),
  });
  const gate = await startGate({
    gate: 'gate',
    datacenters: ['A'],
    transport: counting(network.join('gate'), sent),
    inspect(fact) {
      if (fact.type === 'actor' && fact.kind === 'submission-page' && fact.change === 'born')
        kept.add();
    },
  });
  const client = localClient(gate);
  expect(await client.submit(job(1_000))).toMatchObject({ accepted: true, created: true });
  const isTaken = async () => (await client.get('large'))?.status === 'running';
  while (!(await isTaken())) await new Promise((resolve) => setImmediate(resolve));
  const isThere = async () => (await localClient(manager).get('large'))?.workflowsTotal === COUNT;
  while (!(await isThere())) await new Promise((resolve) => setImmediate(resolve));
  expect([kept.total > 20, sent.total >= kept.total]).toEqual([true, true]);
  expect(kept.most).toBeLessThanOrEqual(4);
  expect(sent.most).toBeLessThanOrEqual(4);
  for (const program of [gate, manager]) await program.stop();
});
