/**
 * The Redis that BullMQ is measured with: Debian's, on a loopback port, in a new directory.
 *
 * It writes every command to its log and has it on disk before it answers (`appendfsync always`),
 * takes no snapshots and never rewrites the log, so that nothing but the work is measured. It ends
 * with the process that started it.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { newDirectory } from './node-program.ts';

const PACKAGE = 'redis-server';
const READY = 'Ready to accept connections';
const START_LIMIT_MS = 10_000;

export interface RedisServer {
  readonly port: number;
  readonly pid: number | undefined;
  readonly version: string;
  stop(): Promise<void>;
}

/** Installs the package where it is missing and may be installed, and says so first. @throws {Error} */
export function ensureRedis(): void {
  ensureClient();
  if (versionOf() !== undefined) return;
  installed(PACKAGE, 'BullMQ, which we are measured against, keeps its jobs in Redis');
}

/** Installs a package of Debian's, if that may be done, and says so first. @throws {Error} */
export function installed(name: string, why: string): void {
  if (process.env.ESCAPEMENT_NO_INSTALL === '1')
    throw new Error(`Missing: ${name} (${why}). ESCAPEMENT_NO_INSTALL=1, not installing.`);
  if (process.getuid?.() !== 0)
    throw new Error(`Missing: ${name} (${why}). Install it, or run this as root on Debian.`);
  process.stderr.write(`Installing ${name} from Debian's packages: ${why}.\n`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    process.stderr.write(`  apt-get ${args.join(' ')}\n`);
    const { status, error } = spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0)
      throw new Error(`Could not install ${name}: ${error?.message ?? `exit code ${status}`}.`);
  }
}

/** BullMQ speaks to Redis by a package that it leaves to its users. @throws {Error} */
function ensureClient(): void {
  try {
    createRequire(import.meta.resolve('bullmq')).resolve('ioredis');
  } catch {
    throw new Error('Missing: the package "ioredis", by which BullMQ speaks to Redis.');
  }
}

/** @throws {Error} when it does not start. */
export async function startRedis(): Promise<RedisServer> {
  const directory = newDirectory('redis');
  const port = await freePort();
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'auto-aof-rewrite-percentage': '0',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(PACKAGE, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const killed = (): boolean => child.kill('SIGKILL');
  process.once('exit', killed);
  await readiness(child);
  return {
    port,
    pid: child.pid,
    version: versionOf() ?? 'unknown',
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      killed();
      await ended;
      process.off('exit', killed);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (how: string): void => reject(new Error(`${PACKAGE} ${how}:\n${said}`));
    const late = setTimeout(() => fail('does not take connections'), START_LIMIT_MS);
    child.once('error', ({ message }) => fail(message));
    child.once('exit', (code) => fail(`ended (${code})`));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
      if (!said.includes(READY)) return;
      clearTimeout(late);
      resolve();
    });
  });
}

function versionOf(): string | undefined {
  const { stdout } = spawnSync(PACKAGE, ['--version'], { encoding: 'utf8' });
  return /\bv=(\S+)/.exec(stdout ?? '')?.[1];
}

/** Neither Redis nor PostgreSQL can choose one by itself. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
