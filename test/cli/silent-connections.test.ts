/** Connections that say nothing, against real processes with few descriptors. */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { limitsWithin } from '../../cli/node/descriptors.ts';
import { BEATS_PER_LEASE } from '../../stores/directory/claim.ts';
import { Cluster, ended, manager, sleepJob, until, worker } from './started-cluster.ts';
import type { StartedNode } from './started-node.ts';

const cluster = new Cluster();
const DESCRIPTORS_MAX = 256;
/** Of three addresses together more than there are descriptors, each within what one may have. */
const SILENT_PER_ADDRESS = 200;

let isOver = false;
const silent = new Set<Socket>();
afterEach(() => {
  isOver = true;
  for (const socket of silent) socket.destroy();
});

/** Says nothing, and comes again whenever it is cut off. */
function hold(port: number, localAddress: string): void {
  if (isOver) return;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  silent.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => {
    silent.delete(socket);
    setTimeout(() => hold(port, localAddress), 100);
  });
}

const beatIn = (data: string): number =>
  Number(JSON.parse(readFileSync(join(data, 'owner.json'), 'utf8')).beat);

async function metric(node: StartedNode, name: string): Promise<number> {
  const { body } = await node.ask('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1]);
}

describe.skipIf(process.platform !== 'linux')('connections that say nothing', () => {
  test('neither cost the leader its lease nor keep anybody out', async () => {
    const data = cluster.freshData();
    const few = { descriptorsMax: DESCRIPTORS_MAX };
    const leader = await cluster.serving(manager(data), few);
    await leader.said('node.hosting');
    const standby = await cluster.serving(
      manager(data, ['--node', 'A.manager-2', '--peer', leader.peerUrl]),
    );
    await standby.said('node.standingBy');
    const before = beatIn(data);
    const { port } = new URL(leader.url);
    for (const host of ['127.0.0.2', '127.0.0.3', '127.0.0.4'])
      for (let count = 0; count < SILENT_PER_ADDRESS; count += 1) hold(Number(port), host);
    // Who comes now finds the door open: a worker, and anybody who hands in work.
    await until(
      () => metric(leader, 'escapement_http_connections_silenced_total'),
      (count) => count >= SILENT_PER_ADDRESS,
    );
    await cluster.begin(worker('A.worker-1', [leader]));
    const { status } = await leader.ask('POST', '/v1/jobs', sleepJob('one', 1));
    expect(status).toBe(201);
    expect(await ended(leader, 'one')).toMatchObject({ status: 'completed' });
    // Two lease times: a leader that cannot beat is dead by then.
    await until(
      async () => leader.child.exitCode ?? leader.child.signalCode ?? beatIn(data),
      (seen) => typeof seen === 'string' || seen >= before + 2 * BEATS_PER_LEASE,
    );
    expect(leader.child.signalCode).toBe(null);
    expect(standby.lines.some(({ event }) => event === 'node.hosting')).toBe(false);
    expect(await metric(leader, 'process_open_fds')).toBeLessThan(DESCRIPTORS_MAX);
  });

  test('a node says what it may open, and keeps within it', async () => {
    const few = await cluster.serving(manager(cluster.freshData()), { descriptorsMax: 256 });
    const told = await few.said('descriptors.few');
    expect(told.descriptorsMax).toBe(256);
    const [http, sockets] = ['http', 'sockets'].map((of) =>
      Number(told[`limits.${of}.connectionsMax`]),
    ) as [number, number];
    expect(http).toBeGreaterThan(0);
    expect(sockets).toBeGreaterThan(0);
    expect(http + sockets).toBeLessThan(256 - 64);
    expect(await metric(few, 'process_max_fds')).toBe(256);
  });

  test('a node that may open next to nothing does not start, and says why', async () => {
    const none = await cluster.begin(manager(cluster.freshData()), { descriptorsMax: 80 });
    const { code, err } = await none.ended;
    expect(code).toBe(74);
    expect(err).toContain('raise the limit: ulimit -n');
  });
});

describe('the limits of a node', () => {
  const told: object[] = [];
  const say = (fields: object): void => {
    told.push(fields);
  };
  const logger = { debug: say, info: say, warn: say, error: say };
  const limits = { http: { connectionsMax: 300 }, sockets: { connectionsMax: 100 } };
  const within = (max: number) => limitsWithin(limits, { max, open: 30 }, logger);

  test('hold where there are descriptors for them, and where nobody knows', () => {
    expect(within(30 + 64 + 400)).toBe(limits);
    expect(told).toEqual([]);
    expect(limitsWithin(limits, undefined, logger)).toBe(limits);
    expect(told.pop()).toMatchObject({ event: 'descriptors.unknown' });
  });

  test.each([
    [493, 299, 100],
    [244, 100, 50],
    [110, 11, 5],
  ])('with %i descriptors are %i and %i', (max, http, sockets) => {
    const { http: keptHttp, sockets: keptSockets } = within(max);
    expect([keptHttp.connectionsMax, keptSockets.connectionsMax]).toEqual([http, sockets]);
    expect(told.pop()).toMatchObject({ event: 'descriptors.few', descriptorsMax: max });
  });

  test('are not kept by a process that could hold nobody', () => {
    expect(() => within(109)).toThrow('may open 109 files, and needs 110 at least.');
  });
});
