/**
 * Nodes that cannot start or cannot go on: each ends with the exit code that says why, and leaves
 * nothing half started.
 */

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refuseOpenDebugger } from '../../cli/node/debugger.ts';
import { loadHandlers } from '../../cli/node/handlers-module.ts';
import {
  ANYWHERE,
  Cluster,
  ended,
  isRoot,
  manager,
  NOBODY,
  SECRET_ENV,
  sleepJob,
} from './started-cluster.ts';

const cluster = new Cluster();

/** The first port that everybody may have. */
function unprivilegedFrom(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
  } catch {
    return 0;
  }
}

describe('a port', () => {
  test('of 0 is any that is free, and printed (H9)', async () => {
    const node = await cluster.serving(manager(cluster.freshData()));
    expect(node.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect((await node.ask('GET', '/livez')).body).toEqual({ status: 'alive' });
    expect((await node.ask('GET', '/metrics')).body).toContain('escapement_socket_links 0');
  });

  test('that is taken exits 69, and nothing is left behind (H9)', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const data = cluster.freshData();
    const node = await cluster.begin(manager(data, ['--listen', `127.0.0.1:${port}`]));
    const { code, err } = await node.ended;
    expect(err).toBe(`error: Cannot listen on 127.0.0.1:${port}: another process listens there.\n`);
    expect(code).toBe(69);
    server.close();
    // The directory is nobody's.
    await cluster.serving(manager(data));
  });

  test.skipIf(!isRoot || unprivilegedFrom() <= 1)(
    'that this user may not have exits 77 (H9; needs root to try)',
    async () => {
      const args = ['manager', '--datacenter', 'A', '--data', 'memory', '--listen', '127.0.0.1:1'];
      const { code, err } = await (await cluster.begin(args, { uid: NOBODY, cwd: '/' })).ended;
      expect(err).toContain('this user may not listen there');
      expect(code).toBe(77);
    },
  );
});

test.skipIf(!isRoot)(
  'a configuration that this user may not read exits 77 (H1; needs root to try)',
  async () => {
    const path = join(cluster.folder, 'closed.yml');
    writeFileSync(path, 'datacenter: A\n', { mode: 0o600 });
    chmodSync(cluster.folder, 0o755);
    const node = await cluster.begin(['manager', '--config', path], { uid: NOBODY, cwd: '/' });
    const { code, err } = await node.ended;
    expect(err).toBe(
      `error: ${path}: the configuration cannot be read: it may not be read by this user.\n`,
    );
    expect(code).toBe(77);
  },
);

describe('handlers', () => {
  const written = (text: string): string => {
    const path = join(mkdtempSync(join(cluster.folder, 'handlers-')), 'handlers.mjs');
    writeFileSync(path, text);
    return path;
  };
  const module = (path: string) => [
    ...['worker', '--node', 'w', '--datacenter', 'A', '--handlers', path],
  ];

  test.each([
    ['nothing', '', 'it exports no handlers.'],
    ['what is no function', 'export const hello = 3;', 'Handler "hello" must be a function.'],
    ['what is no object', 'export default 3;', 'its default export must be an object of handlers.'],
    ['nonsense', 'export const = ;', 'It cannot be loaded: '],
  ])('are not found in a module that exports %s', async (_, text, said) => {
    const refused = expect.objectContaining({
      exitCode: 78,
      message: expect.stringContaining(said),
    });
    await expect(loadHandlers(written(text))).rejects.toEqual(refused);
  });

  test('that cannot be loaded end the worker with 78', async () => {
    const bad = await (await cluster.begin(module(written('export const hello = 3;')))).ended;
    expect(bad).toMatchObject({ code: 78, err: expect.stringContaining('must be a function') });
    const missing = await (await cluster.begin(module('nowhere.mjs'))).ended;
    expect(missing.err).toBe(
      `error: --handlers: handlers: there is no file ${join(cluster.folder, 'nowhere.mjs')}\n`,
    );
    expect(missing.code).toBe(78);
  });

  test('that cannot be loaded are told with their place', async () => {
    const failureOf = async (text: string) =>
      (await (await cluster.begin(module(written(text)))).ended).err;
    const [thrown, misspelt] = await Promise.all([
      failureOf('\nthrow new Error("no database");'),
      failureOf('export const a = ;'),
    ]);
    expect(thrown).toContain('handlers.mjs: It cannot be loaded: no database, at 2:7\n');
    expect(misspelt).toMatch(/cannot be loaded: .*; "node --check \S+handlers\.mjs" shows where\n/);
  });

  test('run jobs; one that throws where nobody catches it ends the worker with 70', async () => {
    const leader = await cluster.serving(manager(cluster.freshData()));
    const text =
      "export const greet = async ({ payload }) => 'hello '.concat(payload);\n" +
      "export default { fall: () => new Promise(() => setTimeout(() => { throw new Error('fell') })) };\n";
    const runner = await cluster.serving([...module(written(text)), '--peer', leader.peerUrl]);
    const job = (id: string) => ({
      jobId: id,
      timeoutMs: 60_000,
      workflows: [{ id, handler: id, payload: 'you' }],
    });
    await leader.ask('POST', '/v1/jobs', job('greet'));
    expect((await ended(leader, 'greet')).workflows).toMatchObject([{ result: 'hello you' }]);
    await leader.ask('POST', '/v1/jobs', job('fall'));
    expect(await runner.ended).toMatchObject({ code: 70 });
    expect(runner.lines.at(-1)).toMatchObject({
      event: 'node.failed',
      error: expect.stringContaining('fell'),
    });
  });
});

describe('a node that cannot go on', () => {
  test('because its data file was deleted exits 74', async () => {
    const data = cluster.freshData();
    const node = await cluster.serving(manager(data));
    rmSync(join(data, 'data.mdb'));
    void node.ask('POST', '/v1/jobs', sleepJob('lost', 10)).catch(() => {});
    expect(await node.ended).toMatchObject({ code: 74 });
  });

  test('because another datacenter’s data is there exits 65', async () => {
    const data = cluster.freshData();
    await (await cluster.serving(manager(data))).stop();
    const { code, err } = await (
      await cluster.begin(['manager', '--datacenter', 'B', '--data', data, ...ANYWHERE])
    ).ended;
    expect(err).toContain('"A"');
    expect(code).toBe(65);
  });
});

test.each([
  ['/dev/null', 78],
  ...(process.platform === 'linux' ? [['/proc/nowhere/data', 77] as const] : []),
] as const)('data in %s, where no directory can be, exits %i', async (data, code) => {
  const { err, ...end } = await (await cluster.begin(manager(data))).ended;
  expect(err).toContain(data);
  expect(end.code).toBe(code);
});

describe('H8, H9: what nobody may start with', () => {
  test.each([
    [78, 'is not loopback', ['--listen', '0.0.0.0:0']],
    [78, 'is not loopback', ['--listen', '[::]:0']],
    [64, 'with a port from 0 to 65535', ['--listen', '127.0.0.1:65536']],
    [64, 'with a port from 0 to 65535', ['--listen', '127.0.0.1:-1']],
  ])('exits %i: %s %j', async (code, said, more) => {
    const node = await cluster.begin(manager(cluster.freshData(), more));
    const { err, ...end } = await node.ended;
    expect(err).toContain(said);
    expect(end.code).toBe(code);
    expect(node.lines).toEqual([]);
  });
});

describe('the environment', () => {
  test.each(['--inspect=0.0.0.0:0', '--inspect-port=0.0.0.0:0', '--inspect-port 0.0.0.0:0'])(
    'with %s is refused (H15)',
    async (option) => {
      const node = await cluster.begin(manager(cluster.freshData()), {
        env: { ...SECRET_ENV, NODE_OPTIONS: option },
      });
      const { code, err } = await node.ended;
      expect(err).toContain('A debugger would listen on 0.0.0.0');
      expect(code).toBe(78);
      expect(node.lines).toEqual([]);
    },
  );

  const refused = (NODE_OPTIONS: string, execArgv: string[] = []): boolean => {
    try {
      refuseOpenDebugger({ env: { NODE_OPTIONS }, execArgv });
      return false;
    } catch (thrown) {
      expect(thrown).toMatchObject({ exitCode: 78 });
      return true;
    }
  };

  test.each([
    '--inspect=0.0.0.0',
    '--inspect=0.0.0.0:9229',
    '--inspect=[::]:9229',
    '--inspect=10.0.0.1',
    '--no-warnings --inspect-brk=0.0.0.0:1',
    '--inspect-wait=0.0.0.0:1',
    '--inspect_port=0.0.0.0:1',
    '--debug-port=0.0.0.0:1',
    '"--inspect=0.0.0.0:1"',
    '--inspect-port "0.0.0.0:1"',
    '"--inspect-p\\ort" 0.0.0.0:1',
  ])('with a debugger for everybody is refused, however that is written: %s (H15)', (option) => {
    expect(refused(option)).toBe(true);
    expect(refused('', option.replaceAll('"', '').replaceAll('\\', '').split(' '))).toBe(true);
  });

  test.each(['', '--inspect', '--inspect=9229', '--inspect=127.0.0.1:0', '--inspect-port 0'])(
    'with a debugger for this machine, or none, is taken: %s',
    (option) => expect(refused(option)).toBe(false),
  );

  test('a reader of the log that goes away is no reason to end', async () => {
    const node = await cluster.serving(manager(cluster.freshData(), ['--log-level', 'debug']));
    node.child.stdout?.destroy();
    for (let n = 0; n < 5; n += 1) await node.ask('POST', '/v1/jobs', sleepJob(`job-${n}`, 10));
    expect((await node.ask('GET', '/v1/jobs')).body.jobs).toHaveLength(5);
    expect((await node.stop()).code).toBe(0);
  });
});
