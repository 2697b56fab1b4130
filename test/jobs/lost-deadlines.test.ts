/**
 * A deadline that was lost is found beside others that are there, and armed again: the store hands out a
 * record that lacks it, as a fault of the product would have left it.
 */

import { expect, test } from 'vitest';
import { connectClient } from '../../programs/jobs/client.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import { startWorker } from '../../programs/jobs/worker.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

const JOB = 'job/j1@A';

/** A store that hands a record out without one of its deadlines, once it is told to; `again`: until it is told not to. */
function losing(
  deadline: string,
  of: string = JOB,
  again = false,
): { readonly store: Store; lose(isOn?: boolean): void; lost: number } {
  const inner = memoryStore();
  const losing = { isOn: false, count: 0 };
  const load = (address: string): string | undefined => {
    const text = inner.load(address);
    if (!losing.isOn || address !== of || text === undefined) return text;
    const record = JSON.parse(text) as { timers?: ReadonlyArray<readonly [id: string]> };
    const { timers: all = [] } = record;
    const timers = all.filter(([id]) => !id.startsWith(`xstate.after.${deadline}.`));
    if (timers.length === all.length) return text;
    losing.count += 1;
    losing.isOn = again;
    return JSON.stringify({ ...record, timers });
  };
  return {
    store: new Proxy(inner, {
      get: (target, name) => {
        if (name === 'load') return load;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    lose: (isOn = true) => {
      losing.isOn = isOn;
    },
    get lost() {
      return losing.count;
    },
  };
}

test.each([['overallLimit', 'overall', { timeoutMs: 3_000 }]])(
  'a lost %s is armed again, and the job ends by it',
  async (deadline, reason, terms) => {
    const network = inProcessNetwork();
    const disk = losing(deadline);
    const lines: Array<Readonly<Record<string, unknown>>> = [];
    const manager = await startManager({
      datacenter: 'A',
      store: disk.store,
      transport: network.join('A.manager-1'),
      // What is not wanted at the moment is read from the store again.
      limits: { liveActorsMax: 1 },
      config: { checkIntervalMs: 100, reportIntervalMs: 100 },
      logger: {
        ...SILENT_LOGGER,
        warn: (fields) => lines.push(fields as Readonly<Record<string, unknown>>),
      },
    });
    const worker = await startWorker({
      worker: 'A.worker-1',
      datacenter: 'A',
      cores: 1,
      transport: network.join('A.worker-1'),
      handlers: {
        wait: ({ signal }) => new Promise((_, no) => signal.addEventListener('abort', no)),
      },
    });
    const client = await connectClient({ client: 'c', to: 'A', transport: network.join('c') });
    await client.submit({ jobId: 'j1', ...terms, workflows: [{ id: 'w1', handler: 'wait' }] });
    const running = () => manager.runtime.waits(JOB)?.state.includes('"running"');
    await expect.poll(running).toBe(true);
    disk.lose();
    // Others take its room in memory.
    for (let n = 2; n < 12; n += 1)
      await client.submit({
        jobId: `j${n}`,
        timeoutMs: 600_000,
        workflows: [{ id: 'w1', handler: 'wait' }],
      });
    const repairs = () => lines.filter(({ event }) => event === 'timeout.repaired');
    await expect.poll(repairs).toMatchObject([{ jobId: 'j1', timer: deadline }]);
    expect(disk.lost).toBe(1);
    const status = async () => (await client.get('j1'))?.reason;
    await expect.poll(status).toBe(reason);
    expect(manager.counters.value('timeout_repairs_total', { timer: deadline })).toBe(1);
    expect(repairs()).toHaveLength(1);
    await client.stop();
    await worker.stop({ limitMs: 0 });
    await manager.stop();
  },
  180_000,
);

/** Handlers that go on whatever they are told. */
const deaf = { wait: () => new Promise<never>(() => {}) };

test.each([
  ['deadlineLimit', 'worker-health/A.worker-1@A'],
  ['confirmLimit', 'workflow/j1/w1@A'],
  ['overallLimit', 'gate-job/j1@gate'],
])(
  'a lost %s of %s is armed again',
  async (deadline, address) => {
    const network = inProcessNetwork();
    const disk = losing(deadline, address, true);
    const isOfGate = address.startsWith('gate-job/');
    // What is not wanted at the moment is read from the store again.
    const lossy = { store: disk.store, limits: { liveActorsMax: 1 } };
    const notes: unknown[] = [];
    const config = { checkIntervalMs: 100, gateCheckIntervalMs: 100, cancelGraceMs: 3_600_000 };
    const onNote = (note: { readonly event: string; readonly timer?: unknown }) => {
      if (note.event === 'timeout.repaired') notes.push(note);
    };
    const common = { config, onNote };
    const manager = await startManager({
      ...{ datacenter: 'A', gates: ['gate'], transport: network.join('A.manager-1'), ...common },
      ...(!isOfGate && lossy),
    });
    const gate = await startGate({
      ...{ gate: 'gate', datacenters: ['A'], transport: network.join('gate'), ...common },
      ...(isOfGate && lossy),
    });
    const transport = network.join('A.worker-1');
    const worker = await startWorker({
      ...{ worker: 'A.worker-1', datacenter: 'A', cores: 1, transport, handlers: deaf },
    });
    const client = await connectClient({ client: 'c', to: 'gate', transport: network.join('c') });
    await client.submit({
      jobId: 'j1',
      timeoutMs: 600_000,
      workflows: [{ id: 'w1', handler: 'wait' }],
    });
    const { runtime } = isOfGate ? gate : manager;
    const running = () => manager.runtime.waits('workflow/j1/w1@A')?.state;
    await expect.poll(running).toBe('RUNNING');
    if (deadline === 'confirmLimit') await client.cancel('j1');
    const waits = () => runtime.waits(address)?.deadlines.map((id) => id.split('.')[2]);
    await expect.poll(waits).toContain(deadline);
    disk.lose();
    // Others take its room in memory.
    for (let n = 2; n < 12; n += 1)
      await client.submit({
        jobId: `j${n}`,
        timeoutMs: 600_000,
        workflows: [{ id: 'w1', handler: 'wait' }],
      });
    await expect.poll(() => notes).not.toEqual([]);
    disk.lose(false);
    expect(notes[0]).toMatchObject({ actor: address, timer: deadline });
    await expect.poll(waits).toContain(deadline);
    await client.stop();
    for (const one of [worker, gate, manager]) one.runtime.crash();
  },
  180_000,
);
