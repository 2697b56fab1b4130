/**
 * The node that is fuzzed, a process of its own: a manager and a gate, each with its own listener,
 * connected to each other over a socket like the others.
 *
 * Guarantees: what is fuzzed is the product, with limits raised where they would only keep frames
 * out (bans, handshakes per second). Its own ticker notices when nothing moves; what the process
 * has used of a CPU meanwhile tells blocking from a machine that is busy with others. Anything
 * unhandled ends it.
 *
 *   node node-program.ts [--plant=openDoor|slowFrame]
 */

import { createHash } from 'node:crypto';
import { startGate } from '../programs/jobs/gate.ts';
import { startManager } from '../programs/jobs/manager.ts';
import type { Store } from '../runtime/store.ts';
import type { Transport, TransportListener } from '../runtime/transport.ts';
import { memoryStore } from '../stores/memory.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { CLIENT, OPEN, SECRET, TOKEN } from './names.ts';

/** Of a wait and of the CPU time within it: a process that waits for a CPU does not stall. */
const STALL_MS = 50;
const TICK_MS = 5;

export interface Stall {
  readonly ms: number;
  readonly cpuMs: number;
}

export interface NodeStatus {
  /** What is committed, by address, as checksums; empty where it was not asked for. */
  readonly digests: Readonly<Record<string, string>>;
  readonly stalls: readonly Stall[];
  readonly counters: Readonly<Record<string, number>>;
  /** Refusals by code, as the runtimes count them. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly residentMiB: number;
}

/** A fault put in on purpose: strangers are let in, or a frame takes too long. */
export type Plant = 'openDoor' | 'slowFrame';

const plant = process.argv.find((argument) => argument.startsWith('--plant='))?.slice(8) as
  | Plant
  | undefined;
const secret = plant === 'openDoor' ? undefined : SECRET;
const limits = {
  banMs: 1,
  handshakesPerSecond: 1_000_000,
  handshakesMax: 1_024,
  handshakesPerAddressMax: 1_024,
  unfinishedFrameMs: 1_000,
};
const shared = {
  listen: { port: 0 },
  limits,
  ...(secret !== undefined && { secret }),
  clientOf: (token: string | undefined) => (token === TOKEN ? { name: CLIENT } : undefined),
};
const managerSocket = websocketTransport({
  ...shared,
  node: 'A.manager-1',
  role: 'manager',
  place: 'A',
});
// What clients send is to be looked at, all of it.
const clientRequestsPerMinute = 1_000_000_000;
const managerStore = memoryStore();
const manager = await startManager({
  datacenter: 'A',
  gates: ['gate', ...OPEN.gates],
  transport: slowed(managerSocket),
  clientRequestsPerMinute,
  store: managerStore,
});
const gateSocket = websocketTransport({
  ...shared,
  node: 'gate',
  role: 'gate',
  peers: [managerSocket.url as string],
});
const gateStore = memoryStore();
const gate = await startGate({
  gate: 'gate',
  datacenters: ['A', ...OPEN.datacenters],
  transport: gateSocket,
  clientRequestsPerMinute,
  store: gateStore,
});

let stalls: Stall[] = [];
let tickedAt = performance.now();
let usedBefore = process.cpuUsage();
setInterval(() => {
  const now = performance.now();
  const used = process.cpuUsage(usedBefore);
  const ms = now - tickedAt - TICK_MS;
  const cpuMs = (used.user + used.system) / 1_000;
  if (ms > STALL_MS && cpuMs > STALL_MS)
    stalls.push({ ms: Math.round(ms), cpuMs: Math.round(cpuMs) });
  tickedAt = now;
  usedBefore = process.cpuUsage();
}, TICK_MS);

process.on('message', ({ id, areDigestsWanted }: { id: number; areDigestsWanted: boolean }) => {
  process.send?.({ id, status: status(areDigestsWanted) });
  // Looking at everything takes its time, which is not the fault of what came in.
  tickedAt = performance.now();
});
process.once('disconnect', () => process.exit());
process.send?.({ urls: { manager: managerSocket.url, gate: gateSocket.url } });

/** What has happened since it was asked last. */
function status(areDigestsWanted: boolean): NodeStatus {
  const since = stalls;
  stalls = [];
  const refusals: Record<string, number> = {};
  for (const { runtime } of [manager, gate])
    for (const [code, count] of Object.entries(runtime.metrics().messagesRefused))
      refusals[code] = (refusals[code] ?? 0) + count;
  const counters: Record<string, number> = {};
  for (const socket of [managerSocket, gateSocket])
    for (const [name, count] of Object.entries(socket.counters()))
      counters[name] = (counters[name] ?? 0) + count;
  return {
    digests: areDigestsWanted ? { ...digestsOf(managerStore), ...digestsOf(gateStore) } : {},
    stalls: since,
    counters,
    refusals,
    residentMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

function digestsOf(store: Store): Record<string, string> {
  const digests: Record<string, string> = {};
  const sum = (text: string): string => createHash('sha256').update(text).digest('base64url');
  for (const [address] of store.entries()) digests[address] = sum(store.load(address) ?? '');
  for (const [id, row] of store.undelivered()) digests[`undelivered ${id}`] = sum(row);
  return digests;
}

/** With the plant: the first words of every peer take longer than they may. */
function slowed(inner: ReturnType<typeof websocketTransport>): Transport {
  if (plant !== 'slowFrame') return inner;
  const { start } = inner;
  inner.start = (listener: TransportListener) =>
    start.call(inner, {
      peerUp: (node, identity) => listener.peerUp(node, identity),
      peerDown: (node) => listener.peerDown(node),
      frameReceived: (node, frame) => {
        if (frame.includes('"hello"')) spin(STALL_MS * 2);
        listener.frameReceived(node, frame);
      },
    });
  return inner;
}

function spin(cpuMs: number): void {
  const before = process.cpuUsage();
  for (;;) {
    const endsAt = performance.now() + 1;
    while (performance.now() < endsAt);
    const { user, system } = process.cpuUsage(before);
    if (user + system >= cpuMs * 1_000) return;
  }
}
