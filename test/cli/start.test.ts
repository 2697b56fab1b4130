/**
 * Nodes as processes, in order: a cluster over real sockets and directories that runs jobs, stands
 * in for a node that is killed, and ends when it is told to.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectClient } from '../../programs/jobs/client.ts';
import { exchange } from '../http/raw-connection.ts';
import { ROOT } from '../project-files.ts';
import { certificateAuthority, hasOpenssl } from '../transports/certificates.ts';
import { ended as commandEnded, start as startCommand } from './command-line.ts';
import { ANYWHERE, Cluster, ended, manager, sleepJob, until, worker } from './started-cluster.ts';

const cluster = new Cluster();

describe('a cluster of processes', () => {
  test('runs a job through gate, manager and worker, survives the manager, and drains', async () => {
    const data = cluster.freshData();
    const leader = await cluster.serving(
      manager(data, ['--gates', 'gate', '--node', 'A.manager-1']),
    );
    const standby = await cluster.serving(
      manager(data, ['--gates', 'gate', '--node', 'A.manager-2']),
    );
    await standby.said('node.standingBy');
    const dialled = [leader, standby].flatMap(({ peerUrl }) => ['--peer', peerUrl]);
    const gate = await cluster.serving([
      ...['gate', '--datacenters', 'A', '--data', cluster.freshData(), ...ANYWHERE, ...dialled],
    ]);
    const runner = await cluster.serving(worker('A.worker-1', [leader, standby]));
    expect(await standby.ask('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready', hosting: false },
    });

    const first = await until(
      () => gate.ask('POST', '/v1/jobs', sleepJob('first', 10)),
      ({ status }) => status < 300,
    );
    expect(first.body).toMatchObject({ jobId: 'first', accepted: true });
    expect(await ended(gate, 'first')).toMatchObject({ status: 'completed' });

    await gate.ask('POST', '/v1/jobs', sleepJob('second', 4_000));
    await until(
      () => leader.ask('GET', '/v1/jobs/second'),
      ({ status, body }) => status === 200 && body.status === 'running',
    );
    await leader.kill();
    const { fence } = await standby.said('node.hosting');
    expect(fence).toBe(2);
    expect(await ended(gate, 'second')).toMatchObject({ status: 'completed' });
    expect((await standby.ask('GET', '/readyz')).body).toMatchObject({ hosting: true });

    for (const node of [runner, gate, standby]) {
      expect(await node.stop()).toMatchObject({ code: 0, signal: null, err: '' });
      const events = node.lines.map(({ event }) => event);
      expect(events.slice(-2)).toEqual(['node.draining', 'node.stopped']);
    }
  });

  test('a manager that comes back has every job it accepted', async () => {
    const data = cluster.freshData();
    const before = await cluster.serving(manager(data));
    await before.ask('POST', '/v1/jobs', sleepJob('kept', 10));
    await before.kill();
    const after = await cluster.serving(manager(data));
    expect((await after.said('node.hosting')).fence).toBe(2);
    expect((await after.ask('GET', '/v1/jobs/kept')).body).toMatchObject({ jobId: 'kept' });
  });
});

test('the example of a cluster does what its handlers say', async () => {
  const configured = (role: string) => [
    ...[role, '--config', join(ROOT, 'examples', 'cluster', `${role}.yml`), ...ANYWHERE],
  ];
  const leader = await cluster.serving([...configured('manager'), '--data', cluster.freshData()]);
  const gate = await cluster.serving([
    ...[...configured('gate'), '--data', cluster.freshData(), '--peer', leader.peerUrl],
  ]);
  await cluster.serving([...configured('worker'), '--peer', leader.peerUrl]);
  const workflows = [
    { id: 'count', handler: 'countWords', payload: 'one two three' },
    { id: 'visit', handler: 'visit', payload: '[1, 2]', dependsOn: ['count'] },
  ];
  await gate.ask('POST', '/v1/jobs', { jobId: 'example', timeoutMs: 60_000, workflows });
  expect(await ended(gate, 'example')).toMatchObject({
    status: 'completed',
    workflows: [{ result: '3' }, { result: '["1","2"]' }],
  });
});

describe.skipIf(!hasOpenssl())('a cluster with certificates', () => {
  test('runs its jobs, and lets nobody in without one', async () => {
    const authority = certificateAuthority();
    const at = mkdtempSync(join(cluster.folder, 'tls-'));
    const put = (name: string, text: string) => {
      writeFileSync(join(at, name), text, { mode: 0o600 });
      return name;
    };
    put('ca.pem', authority.ca);
    const configure = (name: string, text: string) => {
      const { cert, key } = authority.issue(name);
      const files = `cert: ${put(`${name}.pem`, cert)}, key: ${put(`${name}.key`, key)}, ca: ca.pem`;
      const tls = `tls: {${files}, requireClientCertificate: true}`;
      return join(at, put(`${name}.yml`, `node: ${name}\ndatacenter: A\n${tls}\n${text}`));
    };
    const client = authority.issue('alice');
    const listening = 'listen: 0.0.0.0:0\ndata: memory\n';
    const options = { env: {} };
    const leader = await cluster.begin(
      ['manager', '--config', configure('A.manager-1', listening)],
      options,
    );
    const { url } = await leader.said('node.listening');
    const port = new URL(String(url)).port;
    expect(url).toBe(`https://0.0.0.0:${port}`);
    const peers = `peers: [wss://127.0.0.1:${port}/peers]\n`;
    await cluster.begin(['worker', '--config', configure('A.worker-1', peers)], options);
    await leader.said('worker.registered');
    const probe = (shown: object) =>
      new Promise<number | string>((resolve) => {
        const to = { host: '127.0.0.1', port, path: '/livez', ca: authority.ca, ...shown };
        const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed');
        httpsGet(to, (response) => resolve(response.resume().statusCode ?? 0)).on('error', failed);
      });
    expect(await probe(client)).toBe(200);
    expect(await probe({})).not.toBe(200);
    const ask = (...args: string[]) =>
      commandEnded(
        startCommand(['jobs', '--url', `https://127.0.0.1:${port}`, ...args], {
          NODE_EXTRA_CA_CERTS: join(at, 'ca.pem'),
        }),
      );
    put('alice.pem', client.cert);
    put('alice.key', client.key);
    const [bare, shown] = await Promise.all([
      ask(),
      ask('--cert', join(at, 'alice.pem'), '--key', join(at, 'alice.key')),
    ]);
    expect([bare.code, shown.code]).toEqual([69, 0]);
    expect(bare.err).toContain('Show one with --cert and --key.');
    expect((await leader.stop()).code).toBe(0);
    authority.close();
  });
});

test('a node answers to the names it was given, and to its own', async () => {
  const node = await cluster.serving(manager(cluster.freshData(), ['--host', 'jobs.example.com']));
  const port = Number(new URL(node.url).port);
  const statusAt = async (host: string) => {
    const request = `GET /v1/jobs HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    return (await exchange(port, request)).status;
  };
  expect(await statusAt(`jobs.example.com:${port}`)).toBe(200);
  expect(await statusAt('localhost')).toBe(200);
  expect(await statusAt('127.0.0.1')).toBe(200);
  expect(await statusAt('other.example.com')).toBe(421);
});

test('a program that knows a node by its address submits jobs there', async () => {
  const leader = await cluster.serving(manager(cluster.freshData()));
  await cluster.serving(worker('A.worker-1', [leader]));
  const client = await connectClient({ url: leader.url.replace('http', 'ws') });
  await client.submit(sleepJob('by-address', 10));
  expect(await client.wait('by-address')).toMatchObject({ status: 'completed' });
  await client.stop();
});

describe('two processes', () => {
  test('of one name and one directory: the second is refused (H10)', async () => {
    const data = cluster.freshData();
    const first = await cluster.serving(manager(data));
    const second = await cluster.begin(manager(data));
    const { code, err } = await second.ended;
    expect(err).toContain('Another process called "A.manager-1" uses');
    expect(code).toBe(73);
    // The name of a standby is taken too.
    const standby = await cluster.serving(manager(data, ['--node', 'A.manager-2']));
    expect((await (await cluster.begin(manager(data, ['--node', 'A.manager-2']))).ended).code).toBe(
      73,
    );
    expect((await first.ask('GET', '/readyz')).status).toBe(200);
    expect((await standby.ask('GET', '/readyz')).status).toBe(200);
  });

  test('of one name that are peers, with a directory each: the second ends (H10)', async () => {
    const first = await cluster.serving(manager(cluster.freshData()));
    const peer = ['--peer', first.url.replace('http', 'ws')];
    const second = await cluster.begin(manager(cluster.freshData(), peer));
    const { code, err } = await second.ended;
    expect(err).toContain('A peer of this process is called "A.manager-1" too');
    expect(code).toBe(73);
    expect((await first.ask('GET', '/readyz')).status).toBe(200);
  });

  test('of one name on the wire: the later one stays (H10)', async () => {
    const leader = await cluster.serving(manager(cluster.freshData()));
    const older = await cluster.serving(worker('A.worker-1', [leader]));
    const first = await leader.said('worker.registered');
    const newer = await cluster.serving(worker('A.worker-1', [leader]));
    const second = await leader.said(
      'worker.registered',
      ({ bootEpoch }) => Number(bootEpoch) > Number(first.bootEpoch),
    );
    expect(second.workerId).toBe('A.worker-1');
    expect((await leader.ask('GET', '/v1/workers')).body.workers).toHaveLength(1);
    const { code, err } = await older.ended;
    expect(err).toContain('"A.worker-1" too, and A.manager-1 is connected to it');
    expect(code).toBe(73);
    expect((await newer.stop()).code).toBe(0);
  });
});
