/**
 * Data folder of the demo: its data, the configuration files of its nodes, their logs, the secret.
 *
 * Guarantees: only a folder that the demo made itself, or an empty one, is used; `--fresh` removes what
 * the demo made in it and nothing else. One demo at a time uses it. The secret is readable by its
 * owner only.
 */

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { RuntimeError } from '../runtime/base/errors.ts';
import { DirectoryLock } from '../stores/directory/lock.ts';
import { readOwner } from '../stores/directory/owner-file.ts';
import {
  DATACENTERS,
  GATE,
  JOBS_SETTINGS,
  type NodePlan,
  STOP_LIMIT_MS,
  WORKER_CORES,
} from './topology.ts';

/** The load is one client, and asks about every job. */
const REQUESTS_PER_MINUTE = 100_000;
/** Says that the folder is ours. */
const MARK = 'demo.json';
const SECRET = 'cluster.secret';
const OWN = [MARK, SECRET, 'config', 'logs', 'data'];
/** Files of the lock: it is taken before the folder is marked. */
const LOCK_FILES = /^(owner|lease|lock)\b/;
const mark = z.object({ runs: z.int().min(0) });

/** Ports by which the nodes find each other. */
export interface Doors {
  /** The port of the gate's own listener; 0 for any. */
  readonly gate: number;
  /** Ports by datacenter, each leading to the gate. */
  readonly links: ReadonlyMap<string, number>;
  /** Ports by manager, each leading to it. */
  readonly managers: ReadonlyMap<string, number>;
}

export class DataFolder {
  readonly path: string;
  /** Number of times that a demo was started on these data, this time included. */
  readonly run: number;
  readonly #lock: DirectoryLock;

  /** @throws {RuntimeError} STORE_LOCKED, STORE_UNWRITABLE, OPTION_INVALID */
  static async open(path: string, { isFresh }: { readonly isFresh: boolean }): Promise<DataFolder> {
    const folder = resolve(path);
    if (existsSync(folder) && !isOurs(folder)) {
      const what = `${path} is not empty and was not made by the demo; name another folder with --data.`;
      throw new RuntimeError('OPTION_INVALID', what);
    }
    mkdirSync(folder, { recursive: true });
    const lock = await lockOf(folder, path);
    if (isFresh)
      for (const name of OWN) rmSync(join(folder, name), { recursive: true, force: true });
    return new DataFolder(folder, lock);
  }

  private constructor(path: string, lock: DirectoryLock) {
    this.path = path;
    this.#lock = lock;
    this.run = runsOf(path) + 1;
    writeFileSync(join(path, MARK), `${JSON.stringify({ runs: this.run })}\n`);
    for (const name of ['config', 'logs', 'data']) mkdirSync(join(path, name), { recursive: true });
    if (!existsSync(join(path, SECRET)))
      writeFileSync(join(path, SECRET), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  }

  logFile({ name }: NodePlan): string {
    return join(this.path, 'logs', `${name}.log`);
  }

  /** Writes the configuration of a node; returns the file. */
  writeConfiguration(plan: NodePlan, doors: Doors, handlers: string): string {
    const file = join(this.path, 'config', `${plan.name}.yml`);
    const settings = {
      node: plan.name,
      ...this.#settingsOf(plan, doors, handlers),
      secretFile: join(this.path, SECRET),
      log: { level: 'info', format: 'json' },
      jobs: JOBS_SETTINGS,
    };
    writeFileSync(file, `# Written by the demo at each start.\n${stringify(settings)}`);
    return file;
  }

  release(): void {
    this.#lock.release();
  }

  #settingsOf({ role, datacenter }: NodePlan, doors: Doors, handlers: string): object {
    const url = (port: number | undefined) => `ws://127.0.0.1:${port}/peers`;
    if (role === 'gate' || datacenter === undefined)
      return {
        gate: GATE,
        datacenters: DATACENTERS,
        data: join(this.path, 'data', GATE),
        listen: `127.0.0.1:${doors.gate}`,
        limits: { http: { requestsPerMinute: REQUESTS_PER_MINUTE } },
      };
    if (role === 'manager')
      return {
        datacenter,
        gates: [GATE],
        data: join(this.path, 'data', datacenter),
        listen: '127.0.0.1:0',
        peers: [url(doors.links.get(datacenter))],
      };
    const managers = [...doors.managers].filter(([node]) => node.startsWith(`${datacenter}.`));
    return {
      datacenter,
      peers: managers.map(([, port]) => url(port)),
      handlers,
      cores: WORKER_CORES,
      stopLimit: `${STOP_LIMIT_MS}ms`,
    };
  }
}

/** `path` is the user's name for the folder. */
async function lockOf(folder: string, path: string): Promise<DirectoryLock> {
  try {
    return await DirectoryLock.acquire(folder, 'lease', { node: 'the demo' });
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'STORE_LOCKED') throw thrown;
    const pid = readOwner(folder)?.record?.pid;
    const which = pid === undefined ? 'Another demo' : `Another demo, process ${pid},`;
    const what = `${which} uses ${path}. Stop it, or name another folder with --data.`;
    throw new RuntimeError('STORE_LOCKED', what, { cause: thrown });
  }
}

function isOurs(folder: string): boolean {
  if (!statSync(folder).isDirectory()) return false;
  const names = readdirSync(folder);
  return names.includes(MARK) || names.every((name) => LOCK_FILES.test(name));
}

function runsOf(folder: string): number {
  try {
    return mark.parse(JSON.parse(readFileSync(join(folder, MARK), 'utf8'))).runs;
  } catch {
    // No run yet, or one that was interrupted while it wrote.
    return 0;
  }
}
