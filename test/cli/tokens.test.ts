/**
 * Tokens of a node while it runs: what a reload takes from whom, also on connections that are open, and
 * that a list which is bad for the API is bad for the configuration, before the start and later.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { connectClient } from '../../programs/jobs/client.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import { exchange } from '../http/raw-connection.ts';
import { escapement } from './command-line.ts';
import { ANYWHERE, Cluster, until, worker } from './started-cluster.ts';
import type { StartedNode } from './started-node.ts';

const cluster = new Cluster();
const JOB = { timeoutMs: 600_000, workflows: [{ id: 'w', handler: 'nobody-has-it' }] };
let folders = 0;

interface Client {
  readonly name: string;
  readonly role: string;
  readonly token: string;
  readonly jobs?: readonly string[];
}

const client = (name: string, role: string, token = `the-token-of-${name}-1`): Client => ({
  name,
  role,
  token,
});
const ops = client('ops', 'operator');
const bearer = ({ token }: Client) => ({ authorization: `Bearer ${token}` });

/** A folder with the configuration of a manager, which can be written again. */
class Configured {
  readonly path: string;
  readonly #folder: string;
  #files = 0;

  constructor(clients: readonly Client[]) {
    folders += 1;
    this.#folder = join(cluster.folder, `tokens-${folders}`);
    this.path = join(this.#folder, 'manager.yml');
    mkdirSync(this.#folder);
    this.write(clients);
  }

  write(clients: readonly Client[], more = ''): void {
    const listed = clients.map(({ token, ...rest }) => {
      this.#files += 1;
      const tokenFile = join(this.#folder, `token-${this.#files}`);
      writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
      return { ...rest, tokenFile };
    });
    const text = `datacenter: A\ndata: memory\nclients: ${JSON.stringify(listed)}\n${more}`;
    writeFileSync(this.path, text);
  }

  start(): Promise<StartedNode> {
    return cluster.serving(['manager', '--config', this.path, ...ANYWHERE]);
  }

  async check(): Promise<number | null> {
    const host = { cwd: () => this.#folder, env: {}, execArgv: [] } as never;
    return (await escapement(['config', 'check', 'manager', '--config', this.path], { host })).code;
  }
}

/** Resolves with what it said of it. */
async function reload(node: StartedNode): Promise<unknown> {
  const isAnswer = (event: unknown) =>
    event === 'node.reloaded' || event === 'configuration.refused';
  const before = node.lines.filter(({ event }) => isAnswer(event)).length;
  node.child.kill('SIGHUP');
  const answers = await until(
    async () => node.lines.filter(({ event }) => isAnswer(event)),
    (found) => found.length > before,
  );
  return answers.at(-1)?.event;
}

const status = async (node: StartedNode, one: Client): Promise<number> =>
  (await node.ask('GET', '/v1/jobs', undefined, bearer(one))).status;

describe('a token that is withdrawn', () => {
  test('ends the connections that were opened with it, and no other of its name', async () => {
    const [old, fresh] = ['old', 'new'].map((which) =>
      client('sub', 'submitter', `${which}-token-of-sub-0001`),
    ) as [Client, Client];
    const configured = new Configured([ops, old, fresh]);
    const node = await configured.start();
    // One calls itself exactly like the client, as the names that are made never are.
    const open = async (name: string, { token }: Client) => {
      const transport = websocketTransport({
        node: name,
        role: 'client',
        roles: JOBS_ROLES,
        peers: [node.peerUrl],
        token,
      });
      const runtime = await createRuntime({ node: name, kinds: {}, transport, telemetry: false });
      await until(
        async () => transport.peers().length,
        (count) => count > 0,
      );
      return { transport, runtime };
    };
    const [exact, usual, kept] = [
      await open('sub', old),
      await open('sub~1', old),
      await open('sub~2', fresh),
    ];
    configured.write([ops, fresh]);
    expect(await reload(node)).toBe('node.reloaded');
    for (const { transport } of [exact, usual])
      await until(
        async () => transport.peers().length,
        (count) => count === 0,
      );
    expect(kept.transport.peers()).toEqual(['A.manager-1']);
    const asked = { type: 'jobs.asked', requestId: 'r', limit: 1 } as never;
    expect(await kept.runtime.actor('desk/main@A').ask(asked)).toMatchObject({ jobs: [] });
    for (const { runtime } of [exact, usual, kept]) await runtime.stop();
  });

  test('or of lesser rights holds as it is now, on connections too', async () => {
    const ex = client('ex', 'operator');
    const configured = new Configured([ops, ex]);
    const node = await configured.start();
    await node.ask('POST', '/v1/jobs', { jobId: 'j1', ...JOB }, bearer(ops));
    const socket = await connectClient({ url: node.peerUrl, client: 'ex', token: ex.token });
    expect(await socket.extend('j1', { byMs: 1_000, by: 'ex' })).toMatchObject({ accepted: true });
    configured.write([ops, { ...ex, role: 'submitter' }]);
    expect(await reload(node)).toBe('node.reloaded');
    const refused = { accepted: false, reason: 'notAllowed' };
    expect(await socket.extend('j1', { byMs: 1_000, by: 'ex' })).toMatchObject(refused);
    expect(await socket.cancel('j1')).toMatchObject(refused);
    expect((await socket.get('j1'))?.status).toBe('submitted');
    await socket.stop();
  });
});

describe('two tokens of one client', () => {
  test('both hold, at the start and after a reload', async () => {
    const second = client('ops', 'operator', 'another-token-of-ops');
    const configured = new Configured([ops]);
    const node = await configured.start();
    configured.write([ops, second]);
    expect(await configured.check()).toBe(0);
    expect(await reload(node)).toBe('node.reloaded');
    expect([await status(node, ops), await status(node, second)]).toEqual([200, 200]);
    const again = await configured.start();
    expect([await status(again, ops), await status(again, second)]).toEqual([200, 200]);
  });
});

const BAD: ReadonlyArray<readonly [what: string, clients: readonly Client[]]> = [
  ['a token with a comma', [client('a', 'reader', 'a-token,with-a-comma')]],
  ['a token with a space', [client('a', 'reader', 'a-token with-a-space')]],
  ['a token that is short', [client('a', 'reader', 'short')]],
  ['a token of letters beyond ASCII', [client('a', 'reader', 'ein-schöner-langer-token')]],
  [
    'a token of two clients',
    [client('a', 'reader'), { ...client('b', 'reader'), token: 'the-token-of-a-1' }],
  ],
  [
    'one client with two roles',
    [client('a', 'reader'), client('a', 'operator', 'another-token-of-a')],
  ],
  [
    'one client for two sets of jobs',
    [client('a', 'reader'), { ...client('a', 'reader', 'another-token-of-a'), jobs: ['x.'] }],
  ],
  ['a name of 100 letters', [client('n'.repeat(100), 'reader', 'a-token-with-a-long-name')]],
  ['a name of a node', [client('A.manager-1', 'reader')]],
  ['a role that is none', [client('a', 'king')]],
  ['jobs that are none', [{ ...client('a', 'reader'), jobs: [] }]],
];

describe('a list that is bad', () => {
  test('is refused by the check, at the start and at a reload, which keeps the last good one', async () => {
    const configured = new Configured([ops]);
    const node = await configured.start();
    for (const [what, clients] of BAD) {
      configured.write([ops, ...clients]);
      expect(await configured.check(), what).toBe(78);
      expect(await reload(node), what).toBe('configuration.refused');
      expect(await status(node, ops), what).toBe(200);
      for (const one of clients)
        if (!/[^\x21-\x7e]/.test(one.token)) expect(await status(node, one), what).toBe(401);
    }
    const started = await cluster.begin(['manager', '--config', configured.path, ...ANYWHERE]);
    expect(await started.ended).toMatchObject({ code: 78 });
  });

  test.each([
    ['a level of the log', 'log: {level: loud}\n'],
    ['a setting that is none', 'clientz: []\n'],
    ['a name of the server', 'hosts: ["a b"]\n'],
    ['a certificate', 'tls: {cert: /nowhere/cert, key: /nowhere/key}\n'],
    ['no YAML', ']\n'],
  ])('of anything else, such as %s, changes nothing either', async (_what, more) => {
    const configured = new Configured([ops]);
    const node = await configured.start();
    configured.write([client('other', 'operator')], more);
    expect(await configured.check()).toBe(78);
    expect(await reload(node)).toBe('configuration.refused');
    expect(await status(node, ops)).toBe(200);
  });

  test('and what only a restart takes over is named', async () => {
    const configured = new Configured([ops]);
    const node = await configured.start();
    configured.write(
      [ops],
      'hosts: [jobs.example.com]\njobs: {leaseMs: 9000}\nlog: {level: debug}\n',
    );
    expect(await reload(node)).toBe('node.reloaded');
    const line = await node.said('configuration.warning');
    expect(line).toMatchObject({ level: 'warn', settings: ['hosts', 'jobs'] });
  });
});

describe('where there are no tokens', () => {
  test('no page of another port may cancel a job', async () => {
    const node = await cluster.serving([
      'manager',
      '--datacenter',
      'A',
      '--data',
      'memory',
      ...ANYWHERE,
    ]);
    await node.ask('POST', '/v1/jobs', { jobId: 'j1', ...JOB });
    const own = new URL(node.url).host;
    const from = async (origin: string, path = '/v1/jobs/j1/cancel', method = 'POST') => {
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${own}\r\norigin: ${origin}\r\n`;
      const { status: answered } = await exchange(
        Number(new URL(node.url).port),
        `${head}content-length: 0\r\nconnection: close\r\n\r\n`,
      );
      return answered;
    };
    const { port } = new URL(node.url);
    for (const origin of [
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'http://127.0.0.1',
      `http://localhost:${port}`,
      `https://${own}`,
      'null',
    ])
      expect([origin, await from(origin), await from(origin, '/metrics', 'GET')]).toEqual([
        origin,
        403,
        403,
      ]);
    expect((await node.ask('GET', '/v1/jobs/j1')).body.status).toBe('submitted');
    expect(await from(`http://${own}`)).toBe(200);
  });
});

describe('/metrics', () => {
  test('of a worker is for clients, and without any for this machine', async () => {
    const lead = await cluster.serving([
      'manager',
      '--datacenter',
      'A',
      '--data',
      'memory',
      ...ANYWHERE,
    ]);
    const listen = ['--listen', '127.0.0.1:0'];
    const open = await cluster.serving(worker('A.worker-1', [lead], listen));
    expect((await open.ask('GET', '/metrics')).status).toBe(200);
    const strange = { origin: 'http://localhost:3000' };
    expect((await open.ask('GET', '/metrics', undefined, strange)).status).toBe(403);

    const reader = client('prometheus', 'reader');
    const configured = new Configured([reader]);
    writeFileSync(
      configured.path,
      `clients: [{name: prometheus, role: reader, tokenFile: token-1}]\n`,
    );
    const closed = await cluster.serving(
      worker('A.worker-2', [lead], [...listen, '--config', configured.path]),
    );
    expect((await closed.ask('GET', '/metrics')).status).toBe(401);
    expect((await closed.ask('GET', '/metrics', undefined, bearer(reader))).status).toBe(200);
    for (const path of ['/livez', '/readyz'])
      expect((await closed.ask('GET', path)).status).toBe(200);
  });
});
