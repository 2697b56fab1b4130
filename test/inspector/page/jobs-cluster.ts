/**
 * A jobs system as processes on sockets and disks: a gate, two managers of one datacenter and a worker, whose
 * handlers are those of the demo.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { ANYWHERE, SECRET_ENV } from '../../cli/started-cluster.ts';
import { StartedNode } from '../../cli/started-node.ts';
import { compiledProgram } from '../../kit/compiled.ts';
import { eventually } from '../../kit/eventually.ts';
import { hasBrowser } from './opened.ts';

/** Minutes of the defaults are seconds here. */
const QUICK = {
  checkIntervalMs: 500,
  gateCheckIntervalMs: 500,
  reportIntervalMs: 500,
  heartbeatIntervalMs: 500,
  dispatchBackoffMinMs: 50,
  jobRetentionMs: 1_800_000,
};

export class JobsCluster {
  readonly #nodes = new Map<string, StartedNode>();
  #folder = '';

  constructor() {
    beforeAll(async () => {
      if (hasBrowser) await this.#start();
    });
    afterAll(async () => {
      await Promise.all([...this.#nodes.values()].map((node) => node.kill()));
      if (this.#folder !== '') rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  node(name: string): StartedNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`There is no node ${name}.`);
    return node;
  }

  /** Address of the page of a node. */
  page(name: string, view = ''): string {
    return `${this.node(name).url}/inspector/${view}`;
  }

  /** Workflows are `[id, handler, ms, ...ids that it depends on]`. */
  async submit(
    jobId: string,
    workflows: ReadonlyArray<readonly [string, string, number, ...string[]]>,
    more: object = {},
  ): Promise<void> {
    const body = {
      jobId,
      timeoutMs: 120_000,
      ...more,
      workflows: workflows.map(([id, handler, ms, ...dependsOn]) => ({
        ...{ id, handler, dependsOn },
        payload: JSON.stringify({ ms }),
      })),
    };
    await eventually(async () => {
      const { status, body: answer } = await this.node('gate').ask('POST', '/v1/jobs', body);
      if (status >= 300) throw new Error(`The gate answers ${status}: ${JSON.stringify(answer)}`);
    });
  }

  async #start(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), 'escapement-page-'));
    const settings = Object.entries(QUICK).flatMap(([name, value]) => [
      '--set',
      `jobs.${name}=${value}`,
    ]);
    const start = async (name: string, args: readonly string[]): Promise<StartedNode> => {
      const options = { env: SECRET_ENV, cwd: this.#folder };
      const node = await StartedNode.serving([...args, ...settings], options);
      this.#nodes.set(name, node);
      return node;
    };
    const data = (place: string) => ['--data', join(this.#folder, place), ...ANYWHERE];
    const manager = (name: string) =>
      start(name, [
        'manager',
        '--node',
        name,
        '--datacenter',
        'A',
        '--gates',
        'gate',
        ...data('A'),
      ]);
    const first = await manager('A.manager-1');
    const second = await manager('A.manager-2');
    const peers = [first, second].flatMap(({ peerUrl }) => ['--peer', peerUrl]);
    await start('gate', [
      'gate',
      '--node',
      'gate',
      '--datacenters',
      'A',
      ...data('gate'),
      ...peers,
    ]);
    await start('A.worker-1', [
      ...['worker', '--node', 'A.worker-1', '--datacenter', 'A', '--cores', '8', ...peers],
      ...['--handlers', compiledProgram('demo/handlers.ts')],
    ]);
  }
}
