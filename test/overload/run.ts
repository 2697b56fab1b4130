/**
 * An overload of a jobs system of real processes: base load, ten times of it for a while, base load
 * again; and the outcome of every job that was submitted.
 *
 * One manager on LMDB, one worker whose cores and work make the capacity, clients over HTTP. Goodput is
 * what is done within the time that a client has patience for; what was refused counts as not
 * done.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedNode } from '../cli/started-node.ts';
import { CLIENTS, Load, tokenOf } from './load.ts';
import type { OverloadOptions } from './options.ts';
import { type OverloadReport, reportOf } from './report.ts';

export async function runOverload(options: OverloadOptions): Promise<OverloadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-overload-'));
  const nodes: StartedNode[] = [];
  try {
    return await runIn(folder, nodes, options);
  } finally {
    await Promise.all(nodes.map((node) => node.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runIn(
  folder: string,
  nodes: StartedNode[],
  options: OverloadOptions,
): Promise<OverloadReport> {
  const startedAt = Date.now();
  const { manager } = await start(folder, nodes, options);
  const load = new Load(manager, options);
  await load.phase('base', options.baseSeconds, 0);
  await load.phase('during', options.overloadSeconds, options.overloadPerSecond);
  await load.phase('after', options.afterSeconds, 0);
  const shedButThere = await load.settle();
  return reportOf(load, options, { shedButThere, seconds: (Date.now() - startedAt) / 1_000 });
}

async function start(folder: string, nodes: StartedNode[], options: OverloadOptions) {
  const { cores, settings = [] } = options;
  const env = { ESCAPEMENT_SECRET: 'the secret that the nodes of this rig share' };
  const clients = CLIENTS.map((name) => {
    writeFileSync(join(folder, name), tokenOf(name), { mode: 0o600 });
    return { name, role: 'operator', tokenFile: join(folder, name) };
  });
  mkdirSync(join(folder, 'A'));
  const config = join(folder, 'manager.json');
  const listen = '127.0.0.1:0';
  const role = { role: 'manager', datacenter: 'A', data: join(folder, 'A'), listen, clients };
  writeFileSync(config, JSON.stringify(role));
  const sets = ['limits.http.requestsPerMinute=10000000', ...settings];
  const manager = await StartedNode.serving(
    ['manager', '--config', config, ...sets.flatMap((set) => ['--set', set])],
    { env },
  );
  nodes.push(manager);
  const worker = new StartedNode(
    [
      ...['worker', '--node', 'A.worker-1', '--datacenter', 'A', '--cores', String(cores)],
      ...['--peer', manager.peerUrl],
    ],
    { env },
  );
  nodes.push(worker);
  await manager.said('worker.registered');
  return { manager };
}
