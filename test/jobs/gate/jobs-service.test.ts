/** Jobs service of a gate: what clients ask about its jobs, and what it does for them. */

import { describe, expect, test } from 'vitest';
import { final, JOB, progress, running, TO } from './running-job.ts';

const WORKFLOW = {
  workflowId: 'w1',
  status: 'running',
  attempts: 2,
  workerId: 'A.worker-1',
  result: null,
  truncated: false,
  error: null,
};

describe('a view', () => {
  test('says how the job stands as a whole and in each datacenter, and shows its workflows', async () => {
    const there = { found: true, job: { workflows: [WORKFLOW], pages: 1 } };
    const { stage, client } = await running({ 'job.asked': there });
    await stage.say('A', TO, progress('A'));
    await stage.until(31.5);
    const job = await stage.during(client.get('j1'));
    expect(job).toMatchObject({
      jobId: 'j1',
      status: 'running',
      authority: 'gateCoordinated',
      timeoutMs: 600_000,
      extensionsMs: 30_000,
      leader: 'gate-1',
      leaderFence: 1,
      workflowsTotal: 1,
      workflows: [WORKFLOW],
      datacenters: [
        { datacenter: 'A', status: 'silent', extensionsMs: 30_000, sinceProgressMs: 32_500 },
        { datacenter: 'B', status: 'silent', extensionsMs: 0, unconfirmed: false },
      ],
    });
    expect((job?.elapsedMs ?? 0) + (job?.dueInMs ?? 0)).toBe(630_000);
  });

  test('of results has what the gate kept when the datacenter does not answer', async () => {
    const { stage, client } = await running();
    const results = [{ workflowId: 'w1', ok: true, result: 'fine', truncated: false }];
    await stage.say('A', TO, final('A', 'completed', results));
    await stage.say('B', TO, final('B', 'completed', results));
    const job = await stage.during(client.get('j1'));
    expect(job).toMatchObject({
      status: 'completed',
      dueInMs: null,
      workflowsCompleted: 1,
      workflows: [{ workflowId: 'w1', status: 'completed', result: 'fine' }],
      datacenters: [{ status: 'completed' }, { status: 'completed' }],
    });
  });

  test('of a job that nobody knows is none', async () => {
    const { stage, client } = await running();
    expect(await stage.during(client.get('j2'))).toBe(undefined);
    expect(await stage.during(client.timeSinceProgress('j2'))).toBe(undefined);
  });
});

test('a list has every job once, by status and page by page', async () => {
  const { stage, client } = await running();
  for (const jobId of ['j2', 'j3', 'j4']) await stage.during(client.submit({ ...JOB, jobId }));
  await stage.until(2);
  await stage.say('A', TO, final('A', 'completed'));
  await stage.say('B', TO, final('B', 'completed'));
  const list = async (options: Parameters<typeof client.list>[0]) => {
    const page = await stage.during(client.list(options));
    return { ...page, jobs: page.jobs.map(({ jobId }) => jobId) };
  };
  expect(await list({})).toEqual({ jobs: ['j2', 'j3', 'j4', 'j1'], cursor: null });
  expect((await list({ status: 'running' })).jobs).toEqual(['j2', 'j3', 'j4']);
  expect((await list({ status: 'completed' })).jobs).toEqual(['j1']);
  expect((await list({ status: 'failed' })).jobs).toEqual([]);
  const first = await list({ limit: 3 });
  expect(first.jobs).toEqual(['j2', 'j3', 'j4']);
  const rest = await list({ limit: 3, ...(first.cursor !== null && { cursor: first.cursor }) });
  expect(rest.jobs).toEqual(['j1']);
  await stage.until(10);
  expect((await list({ stuckForMs: 8_500 })).jobs).toEqual(['j2', 'j3', 'j4']);
  expect((await list({ stuckForMs: 20_000 })).jobs).toEqual([]);
});

describe('a cancel', () => {
  test('is accepted, then was already, and reaches every datacenter', async () => {
    const { stage, client } = await running();
    await stage.say('A', TO, progress('A'));
    await stage.say('B', TO, progress('B'));
    expect(await stage.during(client.cancel('j1'))).toEqual({ accepted: true, reason: null });
    expect(stage.heard('A', 'cancel.requested')).toHaveLength(1);
    expect(stage.heard('B', 'cancel.requested')).toHaveLength(1);
    const again = { accepted: true, reason: 'alreadyCancelled' };
    expect(await stage.during(client.cancel('j1'))).toEqual(again);
    await stage.say('A', TO, final('A', 'cancelled'));
    await stage.say('B', TO, final('B', 'cancelled'));
    expect(stage.job().getSnapshot().status).toBe('done');
    expect(await stage.during(client.cancel('j1'))).toEqual(again);
  });

  test('of a job that has ended otherwise, or was never there, is refused', async () => {
    const { stage, client } = await running();
    await stage.say('A', TO, final('A', 'completed'));
    await stage.say('B', TO, final('B', 'completed'));
    const late = { accepted: false, reason: 'alreadyFinal' };
    expect(await stage.during(client.cancel('j1'))).toEqual(late);
    const unknown = { accepted: false, reason: 'unknown' };
    expect(await stage.during(client.cancel('j2'))).toEqual(unknown);
  });
});

describe('an extension', () => {
  const granted = { accepted: true, reason: null, extensionsMs: 60_000 };

  test('goes to every running datacenter under the same request, and the answer lists each', async () => {
    const refused = { accepted: false, reason: 'alreadyReported', extensionsMs: 0 };
    const { stage, client } = await running(
      { 'jobExtend.requested': granted },
      { 'jobExtend.requested': refused },
    );
    const asked = { byMs: 60_000, by: 'ada', requestId: 'r1' };
    expect(await stage.during(client.extend('j1', asked))).toEqual({
      ...granted,
      datacenters: [
        { datacenter: 'A', ...granted },
        { datacenter: 'B', ...refused },
      ],
    });
    expect(stage.datacenter('B').asked.at(-1)).toMatchObject({
      requestId: 'r1',
      by: 'client-1 (ada)',
    });
  });

  test('goes to the named one', async () => {
    const { stage, client } = await running({ 'jobExtend.requested': granted });
    const asked = { byMs: 60_000, by: 'ada', datacenter: 'A' };
    const answer = await stage.during(client.extend('j1', asked));
    expect(answer.datacenters).toEqual([{ datacenter: 'A', ...granted }]);
    expect(stage.datacenter('B').asked.map(({ type }) => type)).toEqual(['job.submitted']);
  });

  test('says who did not answer', async () => {
    const { stage, client } = await running({ 'jobExtend.requested': granted });
    const answer = await stage.during(client.extend('j1', { byMs: 60_000, by: 'ada' }));
    expect(answer).toMatchObject({
      accepted: true,
      datacenters: [{ accepted: true }, { accepted: false, reason: 'notLeader' }],
    });
  });

  test('is refused where there is nothing to extend', async () => {
    const { stage, client } = await running();
    const more = { byMs: 60_000, by: 'ada' };
    const unknown = { accepted: false, reason: 'unknown' };
    expect(await stage.during(client.extend('j2', more))).toMatchObject(unknown);
    const elsewhere = { ...more, datacenter: 'Z' };
    expect(await stage.during(client.extend('j1', elsewhere))).toMatchObject(unknown);
    await stage.say('A', TO, final('A', 'completed'));
    await stage.say('B', TO, final('B', 'completed'));
    const answer = await stage.during(client.extend('j1', more));
    expect(answer).toMatchObject({ accepted: false, reason: 'alreadyFinal' });
  });
});

test('stuck workflows are those of all datacenters, the longest first', async () => {
  const stuck = (jobId: string, sinceProgressMs: number) => ({
    jobId,
    workflowId: 'w1',
    workerId: 'x',
    sinceProgressMs,
  });
  const { stage, client } = await running(
    { 'stuckWorkflows.asked': [stuck('j1', 50), stuck('j2', 10)], 'sinceProgress.asked': 70 },
    { 'stuckWorkflows.asked': [stuck('j3', 30)], 'sinceProgress.asked': 40 },
  );
  const found = await stage.during(client.stuckWorkflows(5, 2));
  expect(found.map(({ jobId }) => jobId)).toEqual(['j1', 'j3']);
  expect(await stage.during(client.timeSinceProgress('j1', 'w1'))).toBe(40);
  await stage.say('A', TO, progress('A'));
  await stage.until(3);
  // B said nothing since it took the job, which was later than A's last progress.
  expect(await stage.during(client.timeSinceProgress('j1'))).toBe(3_000);
});
