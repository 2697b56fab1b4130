/**
 * Nodes of a cluster for one file of tests: a folder of their own, and whatever is started in it.
 *
 * What still runs after a test is killed, and the folder is removed after the last one.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { compiledProgram } from '../kit/compiled.ts';
import { StartedNode, type StartOptions } from './started-node.ts';

/** A port that nobody else has, and no limit to how often a test may ask. */
export const ANYWHERE: readonly string[] = [
  ...['--listen', '127.0.0.1:0', '--set', 'limits.http.requestsPerMinute=1000000'],
];
export const SECRET_ENV = { ESCAPEMENT_SECRET: 'the secret that these nodes share' };
/** A user that may do nothing; to become it takes root. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;

const QUICK = ['--set', 'jobs.dispatchBackoffMinMs=50', '--set', 'jobs.checkIntervalMs=1000'];
const FINAL = ['completed', 'failed', 'timedOut', 'cancelled'];

export class Cluster {
  folder = '';
  readonly #nodes: StartedNode[] = [];
  #places = 0;

  constructor() {
    beforeAll(async () => {
      this.folder = mkdtempSync(join(tmpdir(), 'escapement-start-'));
      compiledProgram();
    });
    afterEach(async () => {
      await Promise.all(this.#nodes.splice(0).map((node) => node.kill()));
    });
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** A directory that is not there yet. */
  freshData(): string {
    this.#places += 1;
    return join(this.folder, `data-${this.#places}`);
  }

  begin(args: readonly string[], options: StartOptions = {}): StartedNode {
    const surroundings = { env: SECRET_ENV, cwd: this.folder, ...options };
    const node = new StartedNode(args, surroundings);
    this.#nodes.push(node);
    return node;
  }

  async serving(args: readonly string[], options?: StartOptions): Promise<StartedNode> {
    const node = this.begin(args, options);
    await node.said('node.listening');
    return node;
  }
}

export function manager(data: string, more: readonly string[] = []): string[] {
  return ['manager', '--datacenter', 'A', '--data', data, ...ANYWHERE, ...QUICK, ...more];
}

export function worker(
  node: string,
  peers: readonly StartedNode[],
  more: readonly string[] = [],
): string[] {
  const dialled = peers.flatMap(({ peerUrl }) => ['--peer', peerUrl]);
  return ['worker', '--node', node, '--datacenter', 'A', '--cores', '2', ...dialled, ...more];
}

export function sleepJob(jobId: string, ms: number) {
  const payload = JSON.stringify({ ms });
  return { jobId, timeoutMs: 60_000, workflows: [{ id: 'one', handler: 'sleep', payload }] };
}

/** Asks until the answer satisfies: a process that takes over needs its time. */
export async function until<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The job as the node tells of it once it has ended. */
export async function ended(node: StartedNode, jobId: string) {
  const { body } = await until(
    () => node.ask('GET', `/v1/jobs/${jobId}`),
    (answer) => answer.status === 200 && FINAL.includes(answer.body.status),
  );
  return body;
}

/** Resolves when the first workflow of the job runs. */
export async function runs(node: StartedNode, jobId: string): Promise<void> {
  await until(
    () => node.ask('GET', `/v1/jobs/${jobId}`),
    ({ status, body }) => status === 200 && body.workflows[0]?.status === 'running',
  );
}
