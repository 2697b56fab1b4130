/**
 * The PostgreSQL that queues are measured on: Debian's 15, on a loopback port, in a new directory.
 *
 * Every commit is on disk before it is acknowledged (`fsync`, `synchronous_commit` on), all else is as the
 * server has it by itself. Root may not run it, so it runs as the package's own user then. It ends with the
 * process that started it.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, installed } from '../redis-server.ts';

const PACKAGE = 'postgresql-15';
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const READY = 'database system is ready to accept connections';
const START_LIMIT_MS = 60_000;
/** Beside the project's other caches the package's user has no way in. */
const PARENT = '/var/tmp';

export interface PostgresServer {
  readonly url: string;
  readonly pid: number | undefined;
  readonly version: string;
  stop(): Promise<void>;
}

/** Installs the package where it is missing and may be installed, and says so first. @throws {Error} */
export function ensurePostgres(): void {
  if (existsSync(join(PROGRAMS, 'postgres'))) return;
  installed(
    PACKAGE,
    'graphile-worker and pg-boss, which the peers suite measures, keep their jobs in it',
  );
}

/** @throws {Error} when it does not start. */
export async function startPostgres(name: string): Promise<PostgresServer> {
  const directory = mkdtempSync(join(PARENT, `escapement-bench-${name}-`));
  const owner = ownerOf(directory);
  const initial = ['-D', directory, '-U', 'bench', '--auth=trust', '--encoding=UTF8'];
  execFileSync(join(PROGRAMS, 'initdb'), initial, { ...owner, cwd: PARENT, stdio: 'ignore' });
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
  };
  const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const child = spawn(join(PROGRAMS, 'postgres'), ['-D', directory, ...args], {
    ...owner,
    cwd: PARENT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const quit = (): boolean => child.kill('SIGQUIT');
  process.once('exit', quit);
  await readiness(child);
  return {
    url: `postgres://bench@127.0.0.1:${port}/postgres`,
    pid: child.pid,
    version: versionOf(),
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      quit();
      await ended;
      process.off('exit', quit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Owner of the directory: the package's user, where this is root. */
function ownerOf(directory: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (what: string): number =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  execFileSync('chown', ['postgres', directory]);
  chmodSync(directory, 0o700);
  return { uid: id('-u'), gid: id('-g') };
}

function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (how: string): void => reject(new Error(`postgres ${how}:\n${said}`));
    const late = setTimeout(() => fail('takes no connections'), START_LIMIT_MS);
    child.once('error', ({ message }) => fail(message));
    child.once('exit', (code) => fail(`ended (${code})`));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
      if (!said.includes(READY)) return;
      clearTimeout(late);
      resolve();
    });
  });
}

function versionOf(): string {
  const { stdout } = spawnSync(join(PROGRAMS, 'postgres'), ['--version'], { encoding: 'utf8' });
  return stdout.trim();
}
