/** Clients that know nodes by their addresses, against a manager and a gate on real sockets. */

import { afterEach, describe, expect, test } from 'vitest';
import { type ClientByUrl, connectClient } from '../../programs/jobs/client.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import { startWorker } from '../../programs/jobs/worker.ts';
import { type WebSocketOptions, websocketTransport } from '../../transports/websocket.ts';
import { upTo } from '../delivery/talkers.ts';

const TOKEN = 'the-token-of-ada-and-of-nobody-else';
const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'sleep', payload: '1' }] };

const running: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  for (const program of running.splice(0).reverse()) await program.stop();
});

function started<T extends { stop(): Promise<void> }>(program: T): T {
  running.push(program);
  return program;
}

const nobody = 'ws://127.0.0.1:1';
const listening = (options: Omit<WebSocketOptions, 'listen'>) =>
  websocketTransport({
    listen: { port: 0 },
    roles: JOBS_ROLES,
    clientOf: (token) => (token === TOKEN ? { name: 'ada' } : undefined),
    ...options,
  });

async function managerOf(datacenter: string, gates: readonly string[] = []) {
  const node = `${datacenter}.manager-1`;
  const transport = listening({ node, role: 'manager', place: datacenter });
  started(await startManager({ datacenter, gates, operators: ['ada'], transport }));
  return transport.url as string;
}

async function connect(options: ClientByUrl) {
  return started(await connectClient({ timeoutMs: 20_000, ...options }));
}

describe('a client with an address', () => {
  test('speaks to the datacenter or the gate that is there, in the name of its token', async () => {
    const atManager = await managerOf('A', ['gate-1']);
    const transport = websocketTransport({
      node: 'A.worker-1',
      role: 'worker',
      roles: JOBS_ROLES,
      peers: [atManager],
    });
    started(await startWorker({ worker: 'A.worker-1', datacenter: 'A', cores: 1, transport }));
    const gateway = listening({
      node: 'gate-1',
      role: 'gate',
      place: 'gate-1',
      peers: [atManager],
    });
    started(await startGate({ gate: 'gate-1', datacenters: ['A'], transport: gateway }));

    const local = await connect({ url: atManager, client: 'ada', token: TOKEN });
    const { jobId } = await local.submit(JOB);
    expect((await local.wait(jobId)).status).toBe('completed');
    const extended = await local.extend(jobId, { byMs: 1_000, by: 'ada' });
    // An operator is told about the job, everybody else that they may not.
    expect(extended.reason).toBe('alreadyFinal');

    const url = (gateway.url as string).replace('/peers', '');
    const global = await connect({ url, client: 'ada', token: TOKEN });
    await global.submit({ jobId: 'j2', ...JOB });
    expect(await global.wait('j2')).toMatchObject({
      status: 'completed',
      datacenters: [{ datacenter: 'A' }],
    });
  });

  test('tries all of several addresses, and stays with anybody who lets it in', async () => {
    const url = [nobody, await managerOf('A')];
    const [one, other] = [
      await connect({ url, client: 'ada', token: TOKEN }),
      await connect({ url, client: 'ada', token: TOKEN, to: 'A' }),
    ];
    await one.submit({ jobId: 'j1', ...JOB });
    expect(await other.get('j1')).toMatchObject({ jobId: 'j1' });
  });

  test('hands in a job that is larger than what may come of a client in a second', async () => {
    const client = await connect({ url: await managerOf('A'), client: 'ada', token: TOKEN });
    const payload = '€'.repeat(20_000);
    const workflows = upTo(120).map((index) => ({ id: `w${index}`, handler: 'nobody', payload }));
    const answer = await client.submit({ jobId: 'large', timeoutMs: 60_000, workflows });
    expect(answer).toMatchObject({ accepted: true, created: true });
    expect((await client.get('large'))?.workflowsTotal).toBe(120);
  });

  test('hears what is wrong with a job that no node would read, and stays connected', async () => {
    const client = await connect({ url: await managerOf('A'), client: 'ada', token: TOKEN });
    const [workflow] = JOB.workflows;
    const long = [workflow, { ...workflow, id: 'w2', payload: 'x'.repeat(65_537) }];
    for (let time = 0; time < 4; time += 1)
      expect(await client.submit({ ...JOB, workflows: long as never })).toMatchObject({
        accepted: false,
        reason: 'invalid',
        field: 'workflows[1].payload',
      });
    expect(await client.submit(JOB)).toMatchObject({ accepted: true });
  });

  test('hears at once that its token is not known, or is of somebody else', async () => {
    const url = await managerOf('A');
    const refused = async (options: Omit<ClientByUrl, 'url'>) =>
      connect({ url, ...options }).then(
        () => ['let in', ''],
        ({ code, message }) => [code, message],
      );
    const [none, wrong, another] = [
      await refused({}),
      await refused({ client: 'ada', token: 'another-token' }),
      await refused({ client: 'bob', token: TOKEN }),
    ];
    expect(none).toEqual([
      'CONNECT_REFUSED',
      `No node lets "local" in: ${url}: 401: no such token.`,
    ]);
    expect(wrong[0]).toBe('CONNECT_REFUSED');
    expect(wrong[1]).not.toContain('another-token');
    expect(another[1]).toContain('403: a client is called by the name of its token');
  });

  test('gives up when nobody is there, and when it is to stop', async () => {
    const late = connectClient({ url: nobody, timeoutMs: 300 });
    await expect(late).rejects.toMatchObject({
      code: 'CONNECT_TIMED_OUT',
      message: expect.stringMatching(/^No node let "local" in within 300 ms: ws:.*ECONNREFUSED/),
    });
    const ending = new AbortController();
    const waiting = connectClient({ url: nobody, signal: ending.signal });
    ending.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(connectClient({ url: nobody, signal: AbortSignal.abort() })).rejects.toMatchObject(
      { code: 'ABORTED' },
    );
  });

  test.each([
    ['http://127.0.0.1:7400', 'no ws:// or wss:// URL'],
    ['ws://192.0.2.1:7400', 'only wss:// does that safely'],
  ])('refuses %s', async (url, why) => {
    await expect(connectClient({ url })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining(why),
    });
  });
});
