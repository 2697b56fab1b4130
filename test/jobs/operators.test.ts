/** Time for a job comes from operators only, where it is said who they are. */

import { expect, it } from 'vitest';
import { connectClient } from '../../programs/jobs/client.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'sleep' }] };
const MORE = { byMs: 1_000, by: 'ada' };

it('JB-13 a node that is no operator is not allowed to extend, at a datacenter and at a gate', async () => {
  const network = inProcessNetwork();
  const connect = (client: string, to: string) =>
    connectClient({ client, to, transport: network.join(client) });
  const manager = await startManager({
    datacenter: 'A',
    gates: ['gate-1'],
    operators: ['ops'],
    transport: network.join('A.manager-1'),
  });
  const gate = await startGate({
    gate: 'gate-1',
    datacenters: ['A'],
    operators: ['gate-ops'],
    transport: network.join('gate-1'),
  });
  const [laptop, ops] = [await connect('laptop', 'A'), await connect('ops', 'A')];
  const [phone, gateOps] = [await connect('phone', 'gate-1'), await connect('gate-ops', 'gate-1')];
  // As transports name anybody who shows the token of ops.
  const withToken = await connect('ops~laptop', 'A');
  await laptop.submit({ jobId: 'j1', ...JOB });
  await phone.submit({ jobId: 'j2', ...JOB });

  const refusal = { accepted: false, reason: 'notAllowed', extensionsMs: 0 };
  expect(await laptop.extend('j1', MORE)).toEqual(refusal);
  expect(await phone.extend('j2', MORE)).toEqual(refusal);
  expect((await laptop.get('j1'))?.extensionsMs).toBe(0);
  expect(manager.counters.value('operator_extensions_total', { result: 'notAllowed' })).toBe(1);
  expect(gate.counters.value('operator_extensions_total', { result: 'notAllowed' })).toBe(1);

  expect(await ops.extend('j1', MORE)).toMatchObject({ accepted: true, extensionsMs: 1_000 });
  expect(await gateOps.extend('j2', MORE)).toMatchObject({ accepted: true, extensionsMs: 1_000 });
  expect(await withToken.extend('j1', MORE)).toMatchObject({ accepted: true });
  for (const program of [laptop, phone, ops, gateOps, withToken, gate, manager])
    await program.stop();
});
