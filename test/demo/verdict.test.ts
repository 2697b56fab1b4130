import { describe, expect, test } from 'vitest';
import type { Fault } from '../../demo/faults.ts';
import { JobBook } from '../../demo/job-book.ts';
import { JOB_KINDS, type JobKind } from '../../demo/job-kinds.ts';
import { findWrong, type TrackedJob } from '../../demo/verdict.ts';
import type { JobView } from '../../machines/jobs/messages/client.ts';

const NOW = 1_000_000;

function kind(name: string): JobKind {
  const found = JOB_KINDS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no kind ${name}.`);
  return found;
}

function job(name: string, more: Partial<TrackedJob> = {}): TrackedJob {
  return {
    jobId: `${name}-1-0001`,
    kind: kind(name),
    datacenters: ['A'],
    submittedAt: NOW - 20_000,
    isResumed: false,
    ...more,
  };
}

function view(
  status: JobView['status'],
  reason: JobView['reason'] = null,
  more: Partial<JobView> = {},
): JobView {
  return {
    ...{ jobId: 'short-1-0001', status, reason, localReason: null, gateReason: null },
    ...{ authority: 'gateCoordinated', enforce: true, elapsedMs: 9_000, timeoutMs: 8_000 },
    ...{ extensionsMs: 0, dueInMs: null, sinceProgressMs: 0, queued: false, leader: 'gate' },
    ...{ leaderFence: 1, shadow: null, seq: 3, page: 1, pages: 1 },
    ...{ workflowsTotal: 1, workflowsCompleted: 1, workflowsFailed: 0, workflows: [] },
    ...more,
  };
}

const workflow = (
  workflowId: string,
  status: 'completed' | 'running' | 'failed',
  attempts = 1,
) => ({
  ...{ workflowId, status, attempts, workerId: null, result: null, truncated: false, error: null },
});

const killed: Fault = {
  kind: 'managerKilled',
  target: 'A.manager-1',
  datacenter: 'A',
  at: NOW - 5_000,
};
const cutOff: Fault = { kind: 'partition', target: 'A', datacenter: 'A', at: NOW - 5_000 };

describe('what a job of the demo ended as', () => {
  test('is right when it is what its kind must end as', () => {
    expect(findWrong(job('short'), view('completed'), [], NOW)).toBeUndefined();
    expect(findWrong(job('failing'), view('failed', 'workflowFailed'), [], NOW)).toBeUndefined();
    expect(findWrong(job('late'), view('timedOut', 'overall'), [], NOW)).toBeUndefined();
    expect(findWrong(job('stuck'), view('timedOut', 'datacenterTimeout'), [], NOW)).toBeUndefined();
  });

  test('is wrong when it is anything else, and says what it must have been', () => {
    expect(findWrong(job('short'), view('timedOut', 'overall'), [], NOW)).toBe(
      'must be completed, is timedOut (overall)',
    );
    expect(findWrong(job('stuck'), view('completed'), [killed], NOW)).toBe(
      'must be timedOut (datacenterTimeout), is completed',
    );
  });

  test('is excused by a fault only where the kind says so, and the fault was in its way', () => {
    const late = view('timedOut', 'overall');
    expect(findWrong(job('long'), late, [], NOW)).toBeDefined();
    expect(findWrong(job('long'), late, [killed], NOW)).toBeUndefined();
    expect(findWrong(job('long', { datacenters: ['B'] }), late, [killed], NOW)).toBeDefined();
    expect(findWrong(job('short'), late, [killed], NOW)).toBeDefined();
    const longAgo = { ...killed, at: NOW - 300_000, endedAt: NOW - 200_000 };
    expect(findWrong(job('long'), late, [longAgo], NOW)).toBeDefined();
    // The gate is in everybody's way.
    const restart: Fault = { kind: 'gateRestarted', target: 'gate', at: NOW - 5_000 };
    expect(findWrong(job('long', { datacenters: ['B'] }), late, [restart], NOW)).toBeUndefined();
  });

  test('may be that no datacenter took it, when its own was cut off', () => {
    const refused = view('failed', 'noDatacenter');
    expect(findWrong(job('short'), refused, [killed], NOW)).toBeDefined();
    expect(findWrong(job('short'), refused, [cutOff], NOW)).toBeUndefined();
  });

  test('may be that its time passed, when nothing ran for a part of it', () => {
    const late = view('timedOut', 'overall');
    expect(findWrong(job('short', { isResumed: true }), late, [], NOW)).toBeUndefined();
  });

  test('depends on what the gate said to a cancel', () => {
    const done = view('completed');
    expect(findWrong(job('dropped', { isCancelTaken: false }), done, [], NOW)).toBeUndefined();
    expect(findWrong(job('dropped', { isCancelTaken: true }), done, [], NOW)).toBeDefined();
  });

  test('is wrong when the workflows say otherwise', () => {
    const workflows = [workflow('split', 'completed'), workflow('join', 'running')];
    expect(findWrong(job('pipeline'), view('completed', null, { workflows }), [], NOW)).toBe(
      'is completed although join is running',
    );
    const ran = [workflow('extract', 'failed'), workflow('transform', 'failed', 1)];
    const failed = view('failed', 'workflowFailed', { workflows: ran });
    expect(findWrong(job('failing'), failed, [], NOW)).toContain('transform ran');
  });
});

describe('the book of jobs', () => {
  test('judges each job once and finds an end that is taken back', () => {
    const book = new JobBook(1);
    book.submit(job('short'));
    book.end(view('completed'), [], NOW);
    book.end(view('failed', 'workflowFailed'), [], NOW);
    expect([book.ended, book.outcomes.completed, book.wrong]).toEqual([1, 1, []]);
    book.compare(view('failed', 'workflowFailed'));
    expect(book.wrong).toEqual([
      { jobId: 'short-1-0001', what: 'ended completed and is failed later' },
    ]);
  });

  test('counts what was lost, and what does not end', () => {
    const book = new JobBook(1);
    book.submit(job('short'));
    book.submit(job('long'));
    book.lose('short-1-0001');
    book.giveUpOpen();
    expect(book.wrong.map(({ what }) => what)).toEqual([
      'was accepted and is unknown',
      'has not ended',
    ]);
  });

  test('takes over the jobs of earlier runs, and leaves those of others alone', () => {
    const book = new JobBook(2);
    book.resume(view('running', null, { jobId: 'stuck-1-0003', elapsedMs: 5_000 }), NOW);
    book.resume(view('running', null, { jobId: 'stuck-2-0003' }), NOW);
    book.resume(view('running', null, { jobId: 'report-2026-11' }), NOW);
    expect([...book.open.keys()]).toEqual(['stuck-1-0003']);
    expect(book.open.get('stuck-1-0003')?.submittedAt).toBe(NOW - 5_000);
    expect(book.resumed).toBe(1);
  });
});
