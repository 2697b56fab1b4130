/** A submission on its way through the gate's program to jobs services that only pretend. */

import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { GateStage } from './stand-ins.ts';

const JOB = { jobId: 'j1', timeoutMs: 600_000, workflows: [{ id: 'w1', handler: 'h' }] };
const ACCEPTS = { submit: { accepted: true } };

async function stage(a: object = ACCEPTS, b: object = ACCEPTS): Promise<GateStage> {
  const stage = new GateStage();
  await stage.open('A', a);
  await stage.open('B', b);
  await stage.start();
  return stage;
}

const phases = (gate: GateStage, jobId = 'j1') =>
  Object.values(gate.job(jobId).getSnapshot().context.datacenters).map(({ run }) => run);

describe('a submission', () => {
  test('is acknowledged when it is on disk, and sent to every datacenter', async () => {
    const gate = await stage();
    const client = await gate.connect();
    const answer = await gate.during(client.submit(JOB));
    expect(answer).toEqual({
      jobId: 'j1',
      accepted: true,
      created: true,
      status: 'submitted',
      reason: null,
    });
    await gate.until(1);
    expect(phases(gate)).toEqual(['running', 'running']);
    expect(gate.datacenter('B').pages).toMatchObject([
      {
        jobId: 'j1',
        terms: { timeoutMs: 600_000, targetDatacenters: ['A', 'B'] },
        gate: { gateId: 'gate-1', elapsedMs: 0, decisionEpoch: [1, 0] },
        workflows: [{ id: 'w1', handler: 'h', payload: '', cores: 1, dependsOn: [] }],
      },
    ]);
  });

  test('goes only where it is to go', async () => {
    const gate = await stage();
    const client = await gate.connect();
    await gate.during(client.submit({ ...JOB, targetDatacenters: ['B'] }));
    await gate.until(1);
    expect(gate.datacenter('A').pages).toEqual([]);
    expect(Object.keys(gate.job().getSnapshot().context.datacenters)).toEqual(['B']);
  });

  test('again is the same job, at any stage; another body is a conflict', async () => {
    const gate = await stage();
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    await gate.until(1);
    const again = await gate.during(client.submit(JOB));
    expect(again).toMatchObject({ accepted: true, created: false, status: 'running' });
    const other = await gate.during(client.submit({ ...JOB, timeoutMs: 1 }));
    expect(other).toMatchObject({ accepted: false, reason: 'conflict' });
    expect(gate.job().getSnapshot().context.terms.timeoutMs).toBe(600_000);
  });

  test.each([
    [
      'a datacenter that the gate does not have',
      { targetDatacenters: ['A', 'Z'] },
      'targetDatacenters',
    ],
    ['no time', { timeoutMs: 0 }, 'timeoutMs'],
    [
      'a circle',
      { workflows: [{ id: 'w1', handler: 'h', dependsOn: ['w1'] }] },
      'workflows[0].dependsOn',
    ],
  ])('with %s is invalid, and nothing is created', async (_, wrong, field) => {
    const gate = await stage();
    const client = await gate.connect();
    const answer = await gate.during(client.submit({ ...JOB, ...wrong }));
    expect(answer).toMatchObject({ accepted: false, reason: 'invalid', field });
    expect(gate.gate.runtime.query().actors.map(({ address }) => address)).toEqual([
      'desk/main@gate-1',
    ]);
    expect(gate.gate.counters.value('job_submissions_refused_total', { reason: 'invalid' })).toBe(
      1,
    );
  });

  test('of many workflows travels in pages, which are dropped when everybody has answered', async () => {
    const gate = await stage();
    const client = await gate.connect();
    const workflows = Array.from({ length: 1_200 }, (_, index) => ({
      id: `w${index}`,
      handler: 'h',
      payload: 'x'.repeat(200),
    }));
    await gate.during(client.submit({ ...JOB, workflows }));
    await gate.until(1);
    const { pages } = gate.datacenter('A');
    expect(pages.length).toBeGreaterThan(2);
    expect(new Set(pages.map(({ page }) => page)).size).toBe(pages[0]?.pages);
    expect(pages.flatMap((page) => page.workflows)).toHaveLength(1_200);
    const kept = gate.gate.runtime.query({ kind: 'submission-page' }).actors;
    expect(kept.map(({ status }) => status)).toEqual(kept.map(() => 'done'));
    expect(kept).toHaveLength(pages[0]?.pages ?? 0);
    expect(gate.job().getSnapshot().context.pages).toBe(0);
  });
});

describe('dispatching', () => {
  test('is tried again after 1, 2, 4 and 5 s, and given up at its limit', async () => {
    const gate = await stage(ACCEPTS, {});
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    const beganAt = gate.now;
    const moments: number[] = [];
    const { asked } = gate.datacenter('B');
    for (let atMs = beganAt; atMs <= beganAt + 11_000; atMs += 500) {
      await gate.until(atMs / 1_000);
      while (moments.length < asked.length) moments.push(atMs - beganAt);
    }
    expect(moments).toEqual([0, 1_000, 3_000, 7_000]);
    expect(phases(gate)).toEqual(['running', 'late']);
    expect(gate.job().getSnapshot().value).toHaveProperty('tracking');
  });

  test('goes on when the datacenter comes within the limit', async () => {
    const gate = await stage(ACCEPTS, {});
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    gate.datacenter('B').script = ACCEPTS;
    await gate.until(5);
    expect(phases(gate)).toEqual(['running', 'running']);
    expect(gate.datacenter('B').pages[0]?.gate?.elapsedMs).toBe(1_000);
  });

  test('goes on after a crash of the gate', async () => {
    const gate = await stage(ACCEPTS, {});
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    await gate.until(2);
    gate.datacenter('B').script = ACCEPTS;
    await gate.restart();
    await gate.until(4);
    expect(phases(gate)).toEqual(['running', 'running']);
  });

  test('ends with a cancel', async () => {
    const gate = await stage(ACCEPTS, {});
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    await gate.during(client.cancel('j1'));
    const { length } = gate.datacenter('B').asked;
    await gate.until(9);
    expect(gate.datacenter('B').asked).toHaveLength(length);
    expect(phases(gate)).toEqual(['running', 'late']);
  });

  test('is tried again when nobody leads or the datacenter is full', async () => {
    const gate = await stage({ submit: { accepted: false, reason: 'notLeader' } });
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    gate.datacenter('A').script = ACCEPTS;
    await gate.until(3);
    expect(phases(gate)).toEqual(['running', 'running']);
  });

  test('a refusal is final; when all refuse the job has failed', async () => {
    const refuses = { submit: { accepted: false, reason: 'conflict' } };
    const gate = await stage(refuses, refuses);
    const client = await gate.connect();
    await gate.during(client.submit(JOB));
    const job = await gate.during(client.wait('j1'));
    expect(job).toMatchObject({ status: 'failed', reason: 'noDatacenter' });
    expect(gate.now).toBeLessThan(1_000);
  });

  test('a jobs service that refuses the gate itself is no target', async () => {
    const gate = await stage(ACCEPTS, {});
    const client = await gate.connect();
    const { runtime } = gate.datacenter('B');
    await runtime.stop();
    const refusing = await gate.open('B', { submit: { accepted: false, reason: 'invalid' } });
    await gate.during(client.submit(JOB));
    await gate.until(gate.now / 1_000 + 1);
    expect(refusing.pages.length).toBeGreaterThan(0);
    expect(phases(gate)).toEqual(['running', 'refused']);
  });
});

test('a gate needs datacenters, each once', async () => {
  const gate = new GateStage();
  await expect(gate.start([])).rejects.toThrow(RuntimeError);
  await expect(new GateStage().start(['A', 'A'])).rejects.toMatchObject({ code: 'OPTION_INVALID' });
});
