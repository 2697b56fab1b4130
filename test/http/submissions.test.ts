/** Submissions as they arrive: large ones, ones in any pieces, and ones with a key. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, RawConnection } from './raw-connection.ts';
import { type Endpoint, type Served, serve } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const MIB = 1024 * 1024;
const headers = { 'content-type': 'application/json' };

/** Exactly this many bytes, and this many workflows. */
function submission(jobId: string, bytes: number, count: number): string {
  const entry = (index: number, payload: string) =>
    JSON.stringify({ id: `w${index}`, handler: 'nobody-has-it', payload });
  const text = (lengths: readonly number[]) =>
    `{"jobId":"${jobId}","timeoutMs":60000,"workflows":[${lengths
      .map((length, index) => entry(index, 'x'.repeat(length)))
      .join(',')}]}`;
  const empty = text(Array.from({ length: count }, () => 0)).length;
  const each = Math.floor((bytes - empty) / count);
  const rest = bytes - empty - each * count;
  return text(Array.from({ length: count }, (_, index) => each + (index === 0 ? rest : 0)));
}

describe('H25', () => {
  test.each([
    ['a gate', () => served.atGate],
    ['a datacenter', () => served.atManager],
  ])(
    'exactly 16 MiB with 10,000 workflows are taken, one byte more is not: %s',
    async (name, at: () => Endpoint) => {
      const jobId = `large-${name.replaceAll(' ', '-')}`;
      const body = submission(jobId, 16 * MIB, 10_000);
      expect(Buffer.byteLength(body)).toBe(16 * MIB);
      const answer = await at().body('/v1/jobs', { method: 'POST', body, headers });
      expect(answer).toMatchObject({ status: 201, body: { jobId, created: true } });
      const listed = await at().body(`/v1/jobs?limit=500`);
      const job = listed.body.jobs.find((one: { jobId: string }) => one.jobId === jobId);
      expect(job).toMatchObject({ workflowsTotal: 10_000 });
      const more = await exchange(
        at().port,
        'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n' +
          `content-length: ${16 * MIB + 1}\r\n\r\n`,
      );
      expect(more.status).toBe(413);
    },
  );

  test.each([
    ['a gate', () => served.atGate],
    ['a datacenter', () => served.atManager],
  ])(
    'a job of more dependencies than a record is to have is refused, with the figure: %s',
    async (name, at: () => Endpoint) => {
      const each = 127;
      const workflows = Array.from({ length: 400 }, (__, index) => ({
        id: `w${index}`,
        handler: 'nobody-has-it',
        dependsOn: Array.from(
          { length: Math.min(index, each) },
          (___, back) => `w${index - back - 1}`,
        ),
      }));
      const total = workflows.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
      expect(total).toBeLessThan(50_000);
      const job = (jobId: string, more: object[]) =>
        JSON.stringify({ jobId, timeoutMs: 60_000, workflows: [...workflows, ...more] });
      const last = {
        id: 'last',
        handler: 'nobody-has-it',
        dependsOn: workflows.map(({ id }) => id),
      };
      const over = Array.from({ length: 20 }, (__, index) => ({ ...last, id: `last-${index}` }));
      const refused = await at().body('/v1/jobs', {
        method: 'POST',
        body: job('dense', over),
        headers,
      });
      expect(refused).toMatchObject({
        status: 413,
        body: { error: { code: 'bodyTooLarge', field: 'workflows.dependsOn' } },
      });
      expect(refused.body.error.message).toContain('dependenciesMax 50000');
      const taken = await at().body('/v1/jobs', {
        method: 'POST',
        body: job(`sparse-${name.replaceAll(' ', '-')}`, []),
        headers,
      });
      expect(taken.status).toBe(201);
    },
  );

  test('one workflow too many is refused when it comes', async () => {
    const body = submission('too-many', 2 * MIB, 10_001);
    expect(
      await served.atManager.body('/v1/jobs', { method: 'POST', body, headers }),
    ).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', field: 'workflows' } },
    });
  });

  test('more submissions of a client than are read wait until others have ended', async () => {
    const at = served.atManager;
    const starts = Array.from({ length: 4 }, () =>
      RawConnection.open(at.port).then((connection) => {
        connection.write(
          'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n' +
            'content-length: 1000\r\n\r\n{"jobId":',
        );
        return connection;
      }),
    );
    const slow = await Promise.all(starts);
    const json = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };
    let isAnswered = false;
    const fifth = at.body('/v1/jobs', { json }).finally(() => {
      isAnswered = true;
    });
    // What asks for something else does not wait behind them.
    expect((await at.body('/v1/jobs/nobody')).status).toBe(404);
    expect(isAnswered).toBe(false);
    for (const { socket } of slow) socket.destroy();
    expect((await fifth).status).toBe(201);
  });
});

describe('an Idempotency-Key', () => {
  const job = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };
  const send = (key: string, json: object) =>
    served.atManager.body('/v1/jobs', { json, headers: { 'idempotency-key': key } });

  test('is the id of a job that has none, and the job is taken once', async () => {
    expect(await send('key-1', job)).toMatchObject({ status: 201, body: { jobId: 'key-1' } });
    expect(await send('key-1', job)).toMatchObject({
      status: 200,
      body: { jobId: 'key-1', created: false },
    });
  });

  test('H32 with another body is answered 409', async () => {
    await send('key-2', { ...job, jobId: 'named' });
    for (const other of [
      { ...job, jobId: 'other' },
      { ...job, timeoutMs: 1_000 },
    ])
      expect(await send('key-2', other)).toMatchObject({
        status: 409,
        body: { error: { code: 'conflict', field: 'Idempotency-Key' } },
      });
    expect(await send('key-2', { ...job, jobId: 'named' })).toMatchObject({ status: 200 });
    expect(await served.atManager.body('/v1/jobs/other')).toMatchObject({ status: 404 });
  });

  test.each(['', 'a b', 'x'.repeat(129), '../x', 'ключ'])('is an id: not %s', async (key) => {
    const text = JSON.stringify(job);
    const { status } = await exchange(
      served.atManager.port,
      Buffer.from(
        'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n' +
          `connection: close\r\nidempotency-key: ${key}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      ),
    );
    expect(status).toBe(400);
  });
});
