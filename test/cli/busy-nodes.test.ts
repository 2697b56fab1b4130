/** Commands and a node that is busy, or not ready: how long it is waited for, and what is said of it. */

import { describe, expect, test } from 'vitest';
import { escapement } from './command-line.ts';
import { answer, serve, type Take } from './pretend-node.ts';

describe('a node that has too much to do', () => {
  const full = (times: number): { readonly take: Take; readonly asked: string[] } => {
    const asked: string[] = [];
    const answers = { jobId: 'j1', accepted: true, created: true, status: 'submitted' };
    const take: Take = (request, response) => {
      asked.push(String(request.headers['idempotency-key']));
      const error = { code: 'overloaded', message: 'Too much waits.' };
      if (asked.length > times) answer(201, answers)(request, response);
      else answer(503, { error }, { 'retry-after': '1' })(request, response);
    };
    return { take, asked };
  };
  const submit = (url: string, ...more: string[]) =>
    escapement([
      ...['submit', '--id', 'j1', '--timeout', '1m', '--workflow', 'a=echo', '--url', url],
      ...more,
    ]);

  test('is asked again when it said, with the same name, and that is said', async () => {
    const { take, asked } = full(2);
    const begunAt = performance.now();
    const { code, out, err } = await submit(await serve(take));
    expect([code, out]).toEqual([0, expect.stringContaining('job j1 accepted')]);
    expect(asked).toEqual(['j1', 'j1', 'j1']);
    expect(performance.now() - begunAt).toBeGreaterThan(1_990);
    expect(err.match(/Too much waits\. \(503 overloaded\)\nAsks again in 1s\./g)).toHaveLength(2);
  });

  test.each([
    ['0s', 1],
    ['1500ms', 2],
  ] as const)(
    'is waited for up to --wait %s, and then exit 69 with nothing taken',
    async (wait, tries) => {
      const { take, asked } = full(Number.POSITIVE_INFINITY);
      const { code, out, err } = await submit(await serve(take), '--wait', wait);
      expect([code, out]).toEqual([69, '']);
      expect(err).toContain('error: Too much waits. (503 overloaded)\n');
      expect(asked).toHaveLength(tries);
    },
  );
});

test('a node says how it is: ready or not, with what waits there', async () => {
  const backlog = { workflows: 12, clients: 3, waitMs: 40_000, isShedding: true };
  const certificate = { expiresAt: '2030-01-01T00:00:00.000Z', daysLeft: 45, isExpiring: false };
  const said = { status: 'ready', hosting: true, latenessMs: 2_500, backlog, certificate };
  const url = await serve(answer(200, said));
  const text = await escapement(['status', '--url', url]);
  expect([text.code, text.out]).toEqual([
    0,
    [
      'ready, leads',
      'deadlines are up to 2s late',
      '12 workflows of 3 clients to begin, for about 40s',
      'jobs are refused, because too much waits',
      'its certificate expires in 45 days, at 2030-01-01T00:00:00.000Z',
      '',
    ].join('\n'),
  ]);
  expect(JSON.parse((await escapement(['status', '--json', '--url', url])).out)).toEqual(said);
  const ill = { status: 'notReady', hosting: false, reason: 'commitsRefused' };
  const sick = await escapement(['status', '--url', await serve(answer(503, ill))]);
  expect([sick.code, sick.out]).toEqual([69, 'notReady, stands by: commitsRefused\n']);
  const other = await escapement(['status', '--url', await serve(answer(503, { a: 1 }))]);
  expect([other.code, other.err]).toEqual([69, expect.stringContaining('that is no node')]);
});
