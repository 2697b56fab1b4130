/**
 * Nodes in a process of their own, for tests that kill it. They are connected to each other, and
 * each has a directory and a place.
 *
 *   recovery-program.ts SETUP
 *
 * SETUP is a `ProgramSetup` as JSON. The process tells what happens on standard output, one JSON
 * text per line, and takes orders on standard input. What its actions do it notes in a file, so
 * that a test sees what was done by a process that is dead. It ends when its input ends, so that no
 * test leaves it behind, and in order on SIGTERM.
 */

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRuntime } from '../../create-runtime.ts';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { listener, speaker } from '../delivery/talkers.ts';
import { alarm, pulse } from './recovery-machines.ts';
import { Workshop } from './recovery-workshop.ts';

export interface ProgramSetup {
  readonly notesFile: string;
  readonly nodes: ReadonlyArray<{
    readonly node: string;
    readonly place: string;
    readonly directory: string;
    /** With it, the node stands by for others on the same directory. */
    readonly leaseMs?: number;
  }>;
}

export interface Order {
  readonly id: number;
  readonly node: string;
  readonly what: 'spawn' | 'send' | 'actor' | 'node' | 'finishCharges';
  readonly address: string;
  /** The event, or the input. */
  readonly body?: unknown;
}

interface Hosted {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly shop: Workshop;
}

const setup: ProgramSetup = JSON.parse(process.argv[2] ?? '{}');
const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const network = inProcessNetwork();
const nodes = new Map<string, Hosted>();

for (const { node, place, directory, leaseMs } of setup.nodes) {
  const store = lmdbStore(directory);
  const lease = leaseMs === undefined ? localLease() : directoryLease(directory, { leaseMs, node });
  const runtime = await createRuntime({
    node,
    place,
    store,
    lease,
    transport: network.join(node),
    limits: { retryMinMs: 20, retryMaxMs: 100 },
  });
  const shop = new Workshop();
  nodes.set(node, { runtime, store, shop });
  const hosts = () => tell({ event: 'hosts', node, fence: runtime.metrics().fence, at: now() });
  runtime.inspect((fact) => {
    if (fact.type === 'lease' && fact.change === 'acquired') hosts();
  });
  const note: Workshop['tell'] = (what, fields) => {
    const { fence } = runtime.metrics();
    const line = { what, node, pid: process.pid, fence, at: now(), ...fields };
    appendFileSync(setup.notesFile, `${JSON.stringify(line)}\n`);
  };
  shop.tell = note;
  register(runtime, shop, note);
  if (runtime.isHosting) hosts();
  else tell({ event: 'stands by', node });
}
takeOrders();
process.on('SIGTERM', () => void stopAll());

function register(runtime: Runtime, shop: Workshop, note: Workshop['tell']): void {
  const ring = ({ address, params }: PerformerCall) => note('ring', { address, params });
  runtime.register('alarm', alarm, { perform: { note: ring } });
  runtime.register('pulse', pulse, { perform: { beat: () => note('beat', {}) } });
  runtime.register('workshop', shop.machine, shop.options);
  runtime.register('speaker', speaker);
  runtime.register('listener', listener);
}

function takeOrders(): void {
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => void obey(JSON.parse(line)));
  input.on('close', () => process.exit(0));
}

async function obey(order: Order): Promise<void> {
  const { id } = order;
  try {
    tell({ event: 'obeyed', id, value: await carryOut(order) });
  } catch (thrown) {
    tell({ event: 'obeyed', id, code: (thrown as { code?: string }).code ?? String(thrown) });
  }
}

async function carryOut({ node, what, address, body }: Order): Promise<unknown> {
  const { runtime, store, shop } = nodes.get(node) as Hosted;
  switch (what) {
    case 'spawn':
      return void (await runtime.spawn(address, { input: body } as object));
    case 'send':
      return runtime.actor(address).send(body as never);
    case 'actor': {
      const { value, context } = runtime.actor(address).getSnapshot();
      const record = JSON.parse(store.load(`${address}@${runtime.place}`) ?? 'null');
      return { value, context, record, history: runtime.history(address) };
    }
    case 'node':
      return { counts: runtime.counts(), metrics: runtime.metrics() };
    case 'finishCharges':
      for (const { finish } of shop.charged) finish();
  }
}

async function stopAll(): Promise<void> {
  for (const { runtime } of nodes.values()) await runtime.stop();
  process.exit(0);
}

function now(): number {
  return Date.now();
}
