/**
 * Corpus of real messages between nodes: the envelopes of a small jobs system that does a little of
 * everything, by the role of who speaks and of who listens.
 *
 * They are taken from a run in this process when a fuzzing run begins, so they are those of the
 * release that is tested and are never out of date. One of each event is kept, in the order of their
 * names: the same mutations meet the same events in every run, although ids and times differ.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { connectClient } from '../programs/jobs/client.ts';
import { startGate } from '../programs/jobs/gate.ts';
import { startManager } from '../programs/jobs/manager.ts';
import { startWorker } from '../programs/jobs/worker.ts';
import { decodeFrame } from '../runtime/delivery/frame.ts';
import type { Transport, TransportListener } from '../runtime/ports/transport.ts';
import { inProcessNetwork } from '../transports/in-process.ts';

export type Speaker = 'gate' | 'manager' | 'worker' | 'client';
export type Listener = 'gate' | 'manager';

export interface Sample {
  readonly envelope: Record<string, unknown>;
}

/** Envelopes from one role to another: `worker>manager`. */
export type Corpus = ReadonlyMap<`${Speaker}>${Listener}`, readonly Sample[]>;

/** Names that stand for the speaker and the listener, and are replaced in what is sent. */
export const NAMES = {
  gate: 'GATE-0',
  datacenter: 'DC-0',
  manager: 'DC-0.manager-1',
  worker: 'DC-0.worker-1',
  client: 'CLIENT-0',
} as const;

/** The job that envelopes speak of. */
export const RECORDED_JOB = {
  timeoutMs: 3_600_000,
  stuckThresholdMs: 60_000,
  workflows: ['quick', 'long', 'failing'].map((handler) => ({ id: handler, handler })),
} as const;

const RUN_MS = 1_200;

export async function recordCorpus(): Promise<Corpus> {
  const found = new Map<string, Map<string, Sample>>();
  const network = inProcessNetwork();
  const join = (node: string): Transport => new Recorder(node, network.join(node), found);
  const manager = await startManager({
    datacenter: NAMES.datacenter,
    gates: [NAMES.gate],
    transport: join(NAMES.manager),
  });
  const gate = await startGate({
    gate: NAMES.gate,
    datacenters: [NAMES.datacenter],
    transport: join(NAMES.gate),
  });
  const worker = await startWorker({
    worker: NAMES.worker,
    datacenter: NAMES.datacenter,
    cores: 8,
    handlers: {
      quick: async ({ progress }) => progress(0.5),
      long: async ({ progress, extend, signal }) => {
        progress({ completedItems: 1, totalItems: 10 });
        await extend({ reason: 'long_workflow', progress: 0.1 });
        await sleep(RUN_MS * 10, undefined, { signal });
      },
      failing: async () => {
        throw new Error('as planned');
      },
    },
    transport: join(NAMES.worker),
  });
  for (const to of [NAMES.datacenter, NAMES.gate]) {
    const name = `${NAMES.client}~${to}`;
    const client = await connectClient({ client: name, to, transport: join(name) });
    const targets = to === NAMES.gate ? { targetDatacenters: [NAMES.datacenter] } : {};
    await client.submit({ ...RECORDED_JOB, jobId: `one-${to}`, ...targets });
    await client.submit({ ...RECORDED_JOB, jobId: `two-${to}`, ...targets });
    await sleep(RUN_MS / 4);
    await Promise.allSettled([
      client.get(`one-${to}`),
      client.list(),
      client.timeSinceProgress(`one-${to}`),
      client.stuckWorkflows(1_000),
      client.extend(`one-${to}`, { byMs: 1_000, by: 'somebody' }),
      client.cancel(`two-${to}`),
    ]);
    await sleep(RUN_MS / 4);
    await client.stop();
  }
  await worker.stop({ limitMs: 0 });
  await gate.stop();
  await manager.stop();
  return new Map(
    [...found].map(([pair, events]) => [
      pair as `${Speaker}>${Listener}`,
      [...events].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sample]) => sample),
    ]),
  );
}

/** Hands everything on, and keeps one envelope of each event. */
class Recorder implements Transport {
  readonly #from: Speaker;
  readonly #inner: Transport;
  readonly #found: Map<string, Map<string, Sample>>;

  constructor(node: string, inner: Transport, found: Map<string, Map<string, Sample>>) {
    this.#from = roleOf(node);
    this.#inner = inner;
    this.#found = found;
  }

  start(listener: TransportListener): Promise<void> {
    return this.#inner.start(listener);
  }

  send(node: string, frame: string): boolean {
    const envelopes = decodeFrame(frame).envelopes as ReadonlyArray<Sample['envelope']>;
    const pair = `${this.#from}>${roleOf(node)}`;
    const events = this.#found.get(pair) ?? new Map<string, Sample>();
    this.#found.set(pair, events);
    for (const envelope of envelopes) {
      const { type } = envelope.event as { type: string };
      if (!events.has(type)) events.set(type, { envelope });
    }
    return this.#inner.send(node, frame);
  }

  peers(): readonly string[] {
    return this.#inner.peers();
  }

  stop(): Promise<void> {
    return this.#inner.stop();
  }
}

function roleOf(node: string): Speaker {
  if (node === NAMES.gate) return 'gate';
  if (node === NAMES.manager) return 'manager';
  return node === NAMES.worker ? 'worker' : 'client';
}
