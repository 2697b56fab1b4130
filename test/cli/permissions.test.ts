/**
 * The table of permissions against nodes that run as processes of their own: every role, every action,
 * about jobs of one's own and of others, by HTTP and by a socket.
 *
 * What is expected stands in expected-permissions.ts once more, written by hand; the product's table is read for its rows only.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { connectClient, type JobsClient } from '../../programs/jobs/client.ts';
import { CLIENT_ROLES, PERMISSIONS } from '../../programs/jobs/jobs-service/permissions.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import {
  CLIENTS,
  type Client,
  EXPECTED,
  mayDo,
  type Row,
  type Socket,
  TERMS,
} from './expected-permissions.ts';
import { ANYWHERE, Cluster, SECRET_ENV, until } from './started-cluster.ts';
import type { StartedNode } from './started-node.ts';

const cluster = new Cluster();

let node: StartedNode;
let names = 0;
const sockets = new Map<Client, JobsClient>();
const bearer = (client: Client) => ({ authorization: `Bearer ${tokenOf(client)}` });
const tokenOf = (client: Client): string => `the-token-of-${client}`;

beforeAll(async () => {
  // Not by `serving`: it goes on from one test to the next, and ends with the last.
  const { StartedNode: Started } = await import('./started-node.ts');
  const at = join(cluster.folder, 'permissions');
  mkdirSync(at);
  const clients = CLIENTS.map((name) => {
    writeFileSync(join(at, name), tokenOf(name), { mode: 0o600 });
    const jobs = name.startsWith('team-') ? ', jobs: [team.]' : '';
    return `{name: ${name}, role: ${name.replace('team-', '')}, tokenFile: ${name}${jobs}}`;
  });
  const text = `datacenter: A\ngates: [gate-1]\ndata: memory\nclients: [${clients.join(', ')}]\n`;
  writeFileSync(join(at, 'manager.yml'), text);
  const args = ['manager', '--config', join(at, 'manager.yml'), ...ANYWHERE];
  node = await Started.serving(args, { env: SECRET_ENV, cwd: at });
  const url = node.peerUrl;
  for (const client of CLIENTS)
    sockets.set(client, await connectClient({ url, client, token: tokenOf(client) }));
  return async () => {
    for (const client of sockets.values()) await client.stop();
    await node.kill();
  };
});

/** A job of the team's or of others, for one question only. */
async function newJob(isOwn: boolean): Promise<string> {
  const jobId = newName(isOwn);
  const { status } = await node.ask('POST', '/v1/jobs', { jobId, ...TERMS }, bearer('operator'));
  expect(status).toBe(201);
  // It can be looked at from the moment on at which its workflows are there.
  await until(
    () => node.ask('GET', `/v1/jobs/${jobId}`, undefined, bearer('operator')),
    (answer) => answer.status === 200,
  );
  return jobId;
}

function newName(isOwn: boolean): string {
  names += 1;
  return `${isOwn ? 'team' : 'other'}.${names}`;
}

async function byHttp(client: Client, { http }: Row, jobId: string): Promise<unknown> {
  const [method, path, body] = http as NonNullable<Row['http']>;
  const signal = AbortSignal.timeout(20_000);
  const isSubmission = body === TERMS;
  const response = await fetch(node.url + path.replace('ID', jobId), {
    method,
    signal,
    headers: {
      ...bearer(client),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(isSubmission ? { jobId, ...body } : body) }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  if (isStream) await response.body?.cancel();
  if (response.status === 403) return 'refused';
  // What is asked about may not be there: that is no question of who asks.
  expect([200, 201, 404], `${client} ${method} ${path} ${text}`).toContain(response.status);
  return text.startsWith('{') ? (JSON.parse(text).jobs ?? 'done') : 'done';
}

async function bySocket(client: Client, { socket }: Row, jobId: string): Promise<unknown> {
  try {
    const answer = await (socket as Socket)(sockets.get(client) as JobsClient, jobId);
    const { accepted, reason } = (answer ?? {}) as { accepted?: boolean; reason?: string };
    if (accepted === false) expect(reason).toBe('notAllowed');
    return accepted === false ? 'refused' : Array.isArray(answer) ? answer : 'done';
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'NOT_ALLOWED' });
    return 'refused';
  }
}

test('every row of the table is tried', () => {
  expect(Object.keys(EXPECTED).sort()).toEqual(Object.keys(PERMISSIONS).sort());
  expect([...new Set(CLIENTS.map((name) => name.replace('team-', '')))]).toEqual([...CLIENT_ROLES]);
});

describe.each(CLIENTS)('a %s', (client) => {
  test.each(Object.entries(EXPECTED))('%s', async (action, row) => {
    const ways = [...(row.http ? [byHttp] : []), ...(row.socket ? [bySocket] : [])];
    for (const way of ways)
      for (const isOwn of [true, false]) {
        const isNew = action === 'jobs.submit';
        const jobId = isNew ? newName(isOwn) : await newJob(isOwn);
        const what = `${client} ${action} ${way.name} ${jobId}`;
        const may = mayDo(client, row, isOwn);
        const found = await way(client, row, jobId);
        if (Array.isArray(found) && may) {
          const ids = found.map((one) => (one as { jobId: string }).jobId);
          if (client.startsWith('team-'))
            expect(
              ids.filter((id) => !id.startsWith('team.')),
              what,
            ).toEqual([]);
          if (action === 'jobs.list' && mayDo(client, { ...row, about: 'job' }, isOwn))
            expect(ids, what).toContain(jobId);
        } else expect(found, what).toBe(may ? 'done' : 'refused');
        // What was refused has changed nothing, and what was not has.
        const after = await node.ask('GET', `/v1/jobs/${jobId}`, undefined, bearer('operator'));
        const { status = 'none', extensionsMs = 0 } = after.status === 200 ? after.body : {};
        const isThere = !isNew || may;
        expect(status === 'none', what).toBe(!isThere);
        expect(status === 'cancelled', what).toBe(action === 'jobs.cancel' && may);
        expect(extensionsMs, what).toBe(action === 'jobs.extend' && may ? 1_000 : 0);
      }
  });
});

describe('a node of the cluster that is no client', () => {
  const QUESTIONS = [
    {
      type: 'job.submitted',
      ...{ jobId: 'forged', terms: { timeoutMs: 1_000 }, page: 1, pages: 1 },
    },
    { type: 'job.asked', requestId: 'r' },
    { type: 'jobs.asked', requestId: 'r', limit: 10 },
    { type: 'job.watched', requestId: 'r', seenSeq: 0 },
    { type: 'jobCancel.requested', requestId: 'r' },
    { type: 'jobExtend.requested', requestId: 'r', byMs: 1_000, by: 'x' },
    { type: 'stuckWorkflows.asked', requestId: 'r', thresholdMs: 0, limit: 10 },
    { type: 'sinceProgress.asked', requestId: 'r' },
    { type: 'workers.asked', requestId: 'r', limit: 10 },
  ];
  const WITH_JOB = new Set([
    'job.asked',
    'job.watched',
    'jobCancel.requested',
    'jobExtend.requested',
    'sinceProgress.asked',
  ]);
  /** What a gate asks the jobs service of a datacenter for. */
  const OF_GATES = new Set([
    'job.asked',
    'jobExtend.requested',
    'stuckWorkflows.asked',
    'sinceProgress.asked',
    'workers.asked',
  ]);

  test.each([
    // One of them is called like a client that may do everything.
    ['worker', 'operator', 'operator'],
    ['manager', 'A.manager-2', 'A'],
    ['gate', 'gate-1', 'gate-1'],
  ] as const)('a %s asks for what it has to know, if anything', async (role, name, place) => {
    const transport = websocketTransport({
      node: name,
      role,
      roles: JOBS_ROLES,
      place,
      peers: [node.peerUrl],
      secret: SECRET_ENV.ESCAPEMENT_SECRET as string,
    });
    // A place of its own: it stands in for nobody, whatever it says it is.
    const runtime = await createRuntime({ node: name, kinds: {}, transport, telemetry: false });
    const jobId = await newJob(false);
    await until(
      async () => transport.peers(),
      (peers) => peers.length > 0,
    );
    for (const question of QUESTIONS) {
      const asked = { ...question, ...(WITH_JOB.has(question.type) && { jobId }) };
      const answer = await runtime
        .actor('desk/main@A')
        .ask(asked as never, { timeoutMs: 20_000 })
        .then(
          () => 'answered',
          ({ code }) => code,
        );
      const isForGate = role === 'gate' && OF_GATES.has(question.type);
      expect(answer, `${role} ${question.type}`).toBe(isForGate ? 'answered' : 'NOT_ALLOWED');
    }
    await runtime.stop();
    const after = await node.ask('GET', `/v1/jobs/${jobId}`, undefined, bearer('operator'));
    expect(after.body).toMatchObject({ status: expect.not.stringMatching('cancelled') });
    expect(after.body.extensionsMs).toBe(role === 'gate' ? 1_000 : 0);
    const forged = await node.ask('GET', '/v1/jobs/forged', undefined, bearer('operator'));
    expect(forged.status).toBe(404);
  });

  test('a client does not send jobs in the name of a gate', async () => {
    const gate = { gateId: 'gate-1', elapsedMs: 0, decisionEpoch: [1, 0] };
    const transport = websocketTransport({
      node: 'operator~raw',
      role: 'client',
      roles: JOBS_ROLES,
      peers: [node.peerUrl],
      token: tokenOf('operator'),
    });
    const runtime = await createRuntime({ node: 'operator~raw', kinds: {}, transport });
    const { timeoutMs, workflows } = TERMS;
    const page = { terms: { timeoutMs }, workflows, page: 1, pages: 1, gate };
    const forged = { type: 'job.submitted', jobId: 'forged', ...page };
    await expect(
      runtime.actor('desk/main@A').ask(forged as never, { timeoutMs: 20_000 }),
    ).rejects.toMatchObject({ code: 'NOT_ALLOWED', message: expect.stringContaining('gate') });
    await runtime.stop();
  });
});
