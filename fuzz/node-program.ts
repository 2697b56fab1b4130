/**
 * The node that is fuzzed, a process of its own: a manager and a gate, each with its own listener,
 * connected to each other over a socket like the others.
 *
 * Guarantees: what is fuzzed is the product, with limits raised where they would only keep frames
 * out (bans, handshakes per second). It notices when nothing moves, see stalls.ts. Anything unhandled
 * ends it.
 *
 * With a directory it is on disk, in the roles of a cluster, and tells what a peer of a role must not
 * change, see remit.ts.
 *
 *   node node-program.ts [--plant=…] [--as=ROLE --data=DIRECTORY]
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseStranger } from '../cli/node/neighbours.ts';
import { startGate } from '../programs/jobs/gate.ts';
import { startManager } from '../programs/jobs/manager.ts';
import { JOBS_ROLES, jobsPeer } from '../programs/jobs/peer-roles.ts';
import type { Lease } from '../runtime/ports/lease.ts';
import type { Store } from '../runtime/ports/store.ts';
import type { Transport, TransportListener } from '../runtime/ports/transport.ts';
import { wholeRecord } from '../runtime/statechart/tables.ts';
import { directoryLease } from '../stores/directory/lease.ts';
import { lmdbStore } from '../stores/lmdb.ts';
import { memoryStore } from '../stores/memory.ts';
import { type WebSocketOptions, websocketTransport } from '../transports/websocket.ts';
import { CLIENT, OPEN, OPERATOR, SECRET, TOKEN } from './names.ts';
import { type ByzantineRole, beyondReach, judgedPart } from './remit.ts';
import { STALL_UNITS, type Stall, StallWatch, work } from './stalls.ts';

export interface NodeStatus {
  /** What is committed, by address, as checksums or, where a role is judged, as what it must not change. */
  readonly digests: Readonly<Record<string, string>>;
  readonly stalls: readonly Stall[];
  readonly counters: Readonly<Record<string, number>>;
  /** Refusals by code, as the runtimes count them. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly residentMiB: number;
  /** With a role: how its place stands. */
  readonly standing?: Standing;
}

export interface Standing {
  readonly isLeading: boolean;
  /** Fences of the manager's and the gate's place: as they act, as they are stored, and as the lease was given. */
  readonly fences: readonly number[];
  readonly beyondReach: readonly string[];
}

/** A fault put in on purpose: strangers are let in, a frame takes too long, or what a peer claims is believed. */
export type Plant = 'openDoor' | 'slowFrame' | 'believedFence' | 'believedRole';

const said = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const plant = said('plant') as Plant | undefined;
const role = said('as') as ByzantineRole | undefined;
const data = said('data');
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
  clientOf: (token: string | undefined) =>
    token === TOKEN
      ? { name: CLIENT }
      : token === OPERATOR.token
        ? { name: OPERATOR.name }
        : undefined,
};
const managerSocket = websocketTransport({
  ...shared,
  roles: JOBS_ROLES,
  node: 'A.manager-1',
  role: 'manager',
  place: 'A',
  ...admitting({
    role: 'manager',
    place: 'A',
    datacenter: 'A',
    datacenters: [],
    gates: ['gate', ...OPEN.gates],
  }),
});
/** Work that the slow plant does for each first frame of a peer. */
const PLANTED_UNITS = 3 * STALL_UNITS;
const FENCE_STEP_MAX = 10_000;
/** With a role nothing happens by itself for an hour, so that what changes is somebody's doing. */
const HOUR_MS = 3_600_000;
const patient =
  role === undefined
    ? {}
    : {
        config: {
          fenceStepMax: FENCE_STEP_MAX,
          baseDeadlineMs: HOUR_MS,
          gateFallbackMs: 24 * HOUR_MS,
          backlogWorkflowsMax: 2_000,
        },
        clients: () =>
          [
            { name: CLIENT, role: 'submitter' },
            { name: OPERATOR.name, role: 'operator' },
          ] as const,
      };
// What clients send is to be looked at, all of it.
const clientRequestsPerMinute = 1_000_000_000;
const managerDisk = diskOf('A');
const manager = await startManager({
  datacenter: 'A',
  gates: ['gate', ...OPEN.gates],
  transport: believing(slowed(managerSocket)),
  clientRequestsPerMinute,
  ...managerDisk,
  ...patient,
});
const gateSocket = websocketTransport({
  ...shared,
  roles: JOBS_ROLES,
  node: 'gate',
  role: 'gate',
  peers: [managerSocket.url as string],
  ...admitting({
    role: 'gate',
    place: 'gate',
    datacenter: '',
    datacenters: ['A', ...OPEN.datacenters],
    gates: [],
  }),
});
const gateDisk = diskOf('gate');
const gate = await startGate({
  gate: 'gate',
  datacenters: ['A', ...OPEN.datacenters],
  transport: gateSocket,
  clientRequestsPerMinute,
  ...gateDisk,
  ...patient,
});

const watch = new StallWatch();

process.on('message', ({ id, areDigestsWanted }: { id: number; areDigestsWanted: boolean }) => {
  process.send?.({ id, status: status(areDigestsWanted) });
  // Looking at everything takes its time, which is not the fault of what came in.
  watch.forgive();
});
process.once('disconnect', () => process.exit());
process.send?.({ urls: { manager: managerSocket.url, gate: gateSocket.url } });

/** What has happened since it was asked last. */
function status(areDigestsWanted: boolean): NodeStatus {
  const stalls = watch.take();
  const refusals: Record<string, number> = {};
  for (const { runtime } of [manager, gate])
    for (const [code, count] of Object.entries(runtime.metrics().messagesRefused))
      refusals[code] = (refusals[code] ?? 0) + count;
  const counters: Record<string, number> = {};
  for (const socket of [managerSocket, gateSocket])
    for (const [name, count] of Object.entries(socket.counters()))
      counters[name] = (counters[name] ?? 0) + count;
  return {
    digests: areDigestsWanted
      ? { ...digestsOf(managerDisk.store), ...digestsOf(gateDisk.store) }
      : {},
    ...(role !== undefined && { standing: standing() }),
    stalls,
    counters,
    refusals,
    residentMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

function digestsOf(store: Store): Record<string, string> {
  const digests: Record<string, string> = {};
  const sum = (text: string): string => createHash('sha256').update(text).digest('base64url');
  for (const [address] of store.entries()) {
    const record = wholeRecord(store.load(address) ?? '', store.rows(address));
    const judged = role === undefined ? record : judgedPart(role, address, record);
    if (judged !== undefined) digests[address] = role === undefined ? sum(judged) : judged;
  }
  if (role === undefined)
    for (const [id, row] of store.undelivered()) digests[`undelivered ${id}`] = sum(row);
  return digests;
}

function standing(): Standing {
  const beyond: string[] = [];
  for (const [place, { store }] of [
    ['A', managerDisk],
    ['gate', gateDisk],
  ] as const)
    for (const [address] of store.entries())
      beyond.push(
        ...beyondReach(address, store.load(address) ?? '{}', store.fence(place), FENCE_STEP_MAX),
      );
  const leases = ['A', 'gate'].map(
    (place) => JSON.parse(readFileSync(join(data as string, place, 'lease.json'), 'utf8')).fence,
  );
  return {
    isLeading: manager.isLeading && gate.runtime.isHosting,
    fences: [
      ...[manager.runtime.fence, gate.runtime.fence],
      ...[managerDisk.store.fence('A'), gateDisk.store.fence('gate')],
      ...leases,
    ],
    beyondReach: beyond.slice(0, 20),
  };
}

/** With a directory: as a process of a cluster has it. */
function diskOf(place: string): { readonly store: Store; readonly lease?: Lease } {
  if (data === undefined) return { store: memoryStore() };
  const directory = join(data, place);
  return { store: lmdbStore(directory), lease: directoryLease(directory) };
}

/** Only those come in whom a configuration names, as in a process of a cluster. */
function admitting(own: Parameters<typeof refuseStranger>[0]): Pick<WebSocketOptions, 'admit'> {
  return role === undefined ? {} : { admit: (peer) => refuseStranger(own, peer) };
}

/** With a plant: a worker passes for a manager of A, in all or in what it says of fences. */
function believing(inner: Transport): Transport {
  if (plant !== 'believedFence' && plant !== 'believedRole') return inner;
  const greater = jobsPeer('manager', 'A');
  const { start } = inner;
  inner.start = (listener: TransportListener) =>
    start.call(inner, {
      peerUp: (node, identity) =>
        listener.peerUp(
          node,
          plant === 'believedRole' && identity?.role === 'worker' ? greater : identity,
        ),
      peerDown: (node) => listener.peerDown(node),
      frameReceived: (node, frame) => {
        const isClaim = plant === 'believedFence' && frame.includes('"outranked"');
        if (isClaim) listener.peerUp(node, greater);
        listener.frameReceived(node, frame);
      },
    });
  return inner;
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
        if (frame.includes('"hello"')) work(PLANTED_UNITS);
        listener.frameReceived(node, frame);
      },
    });
  return inner;
}
