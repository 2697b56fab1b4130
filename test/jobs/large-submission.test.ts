/**
 * Large submissions: their work in one turn of the event loop, counted: at a manager, and at its gate.
 */

import { expect, test, vi } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { jobsServiceAddress } from '../../machines/jobs/addresses.ts';
import { workflowSpec } from '../../machines/jobs/messages/client.ts';
import { localClient } from '../../programs/jobs/client/local-client.ts';
import { connectClient } from '../../programs/jobs/client.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { close, listen } from '../http/served.ts';

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
    // However busy the machine is, the job is not given up on its way.
    config: { gateDispatchLimitMs: 600_000 },
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

test('it is one small question within its process, checked once, and the same job by any way', async () => {
  const network = inProcessNetwork();
  const manager = await startManager({
    datacenter: 'A',
    transport: network.join('A.manager-1'),
  });
  const checks = vi.spyOn(workflowSpec, 'safeParse');
  const { call, server, handler } = await listen(manager);
  const posted = await call('/v1/jobs', {
    method: 'POST',
    body: JSON.stringify(job(1_000)),
    headers: { 'content-type': 'application/json' },
  });
  expect(posted.status).toBe(201);
  expect(checks).toHaveBeenCalledTimes(COUNT);
  const events = manager.runtime.history(jobsServiceAddress('A')).map(({ event }) => event);
  expect(events.filter((event) => event === 'job.submitted').length).toBeLessThan(2);

  const far = await connectClient({ client: 'far', to: 'A', transport: network.join('far') });
  expect(await far.submit(job(1_000))).toMatchObject({ accepted: true, created: false });
  expect(checks.mock.calls.length).toBe(2 * COUNT);
  expect(await localClient(manager).submit(job(1_000))).toMatchObject({ created: false });
  expect(await localClient(manager).submit(job(999))).toMatchObject({ reason: 'conflict' });
  checks.mockRestore();
  await close(server, handler);
  await far.stop();
  await manager.stop();
});

test('a client of another node that says its job is checked is not believed', async () => {
  const network = inProcessNetwork();
  const manager = await startManager({ datacenter: 'A', transport: network.join('A.manager-1') });
  const node = await createRuntime({ node: 'liar', transport: network.join('liar') });
  const service = node.actor(jobsServiceAddress('A'));
  const workflows = [{ id: '../w', handler: 7 }];
  const question = { type: 'job.submitted', jobId: 'j', terms: { timeoutMs: 1_000 }, workflows };
  const whole = { ...question, page: 1, pages: 1, isChecked: true };
  expect(await service.ask(whole as never)).toMatchObject({ accepted: false, reason: 'invalid' });
  await expect(service.ask({ ...whole, handedOver: 'x' } as never)).rejects.toThrow('handedOver');
  for (const runtime of [node, manager]) await runtime.stop();
});
