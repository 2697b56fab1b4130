import { describe, expect, test } from 'vitest';
import { viewOf } from '../../../machines/jobs/job/table.ts';
import {
  accepted,
  changed,
  failed,
  fresh,
  type Job,
  progressed,
  standing,
  toldWorkflows,
} from './job-scenes.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index}`);

const ready = (job: Job): string[] => toldWorkflows(job, 'workflow.ready');

describe('WP-6 workflows that ask for a worker', () => {
  test('are at most 16 of a job at a time, in the order of the submission', () => {
    const job = accepted({ ids: many(40) });
    expect(ready(job)).toEqual(many(16));
    job.take(changed('w3', 'DISPATCHED'));
    job.take(changed('w9', 'DISPATCHED'));
    expect(ready(job)).toEqual(['w16', 'w17']);
  });

  test('hold back nobody while they wait for another try', () => {
    const job = accepted({ ids: many(20) });
    fresh(job).take(changed('w0', 'FAILED_READY_FOR_RETRY'));
    expect(ready(job)).toEqual(['w16']);
    job.take(changed('w0', 'PENDING', { run: 2 }));
    job.take(failed('w0'));
    expect(ready(job)).toEqual([]);
  });

  test('are this many of each handler and number of cores: who waits for one worker keeps no other idle', () => {
    const lanes = many(40).map((_, index) => (index < 30 ? 0 : 1));
    const job = accepted({ ids: many(40), lanes });
    expect(ready(job)).toEqual([...many(16), ...many(40).slice(30)]);
    job.take(changed('w35', 'DISPATCHED'));
    expect(ready(job)).toEqual([]);
    job.take(changed('w0', 'DISPATCHED'));
    expect(ready(job)).toEqual(['w16']);
  });

  test('are as many as the rules of the job say', () => {
    const job = accepted({ ids: many(9), rules: { readyMax: 2 } });
    expect(ready(job)).toEqual(['w0', 'w1']);
  });

  test('are those whose parents have all succeeded', () => {
    const job = accepted({ ids: many(4), dependsOn: { 2: [0, 1], 3: [2] } });
    expect(ready(job)).toEqual(['w0', 'w1']);
    job.take(changed('w0', 'COMPLETED'));
    expect(ready(job)).toEqual([]);
    job.take(changed('w1', 'AGGREGATED'));
    expect(ready(job)).toEqual(['w2']);
    job.take(changed('w2', 'RUNNING'));
    expect(ready(job)).toEqual([]);
    job.take(changed('w2', 'COMPLETED'));
    expect(ready(job)).toEqual(['w3']);
  });

  test('may be told of in any order of the submission', () => {
    const job = accepted({ ids: many(3), dependsOn: { 0: [1], 1: [2] } });
    expect(ready(job)).toEqual(['w2']);
    job.take(changed('w2', 'COMPLETED'));
    expect(ready(job)).toEqual(['w1']);
  });
});

describe('dependents of a workflow that failed for good', () => {
  const chain = { ids: many(5), dependsOn: { 1: [0], 2: [1], 3: [0, 4] } };

  test('are all told, however far down, and each once', () => {
    const job = accepted(chain);
    fresh(job).take(failed('w0'));
    expect(toldWorkflows(job, 'parent.failed').toSorted()).toEqual(['w1', 'w2', 'w3']);
    for (const id of ['w1', 'w2', 'w3']) job.take(failed(id, 'parentFailed'));
    expect(toldWorkflows(job, 'parent.failed')).toEqual([]);
    job.take(changed('w4', 'COMPLETED'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });

  test('are told nothing while it may be tried again', () => {
    const job = accepted(chain);
    fresh(job).take(changed('w0', 'FAILED_READY_FOR_RETRY', { cause: 'failed' }));
    expect(job.said()).toEqual([]);
  });

  test('of two that failed are told of each at most', () => {
    const job = accepted(chain);
    fresh(job).take(failed('w0'));
    job.take(failed('w4'));
    expect(toldWorkflows(job, 'parent.failed').filter((id) => id === 'w2')).toHaveLength(1);
  });

  test('are not told again once they are over', () => {
    const job = accepted({ ids: many(4), dependsOn: { 3: [0, 1] } });
    fresh(job).take(failed('w0'));
    expect(toldWorkflows(job, 'parent.failed')).toEqual(['w3']);
    job.take(failed('w3', 'parentFailed'));
    fresh(job).take(failed('w1'));
    expect(toldWorkflows(job, 'parent.failed')).toEqual([]);
  });

  test('are found fast in a chain of ten thousand, in whatever order it is submitted', () => {
    const ids = many(10_000);
    for (const step of [-1, 1]) {
      const dependsOn: Record<number, number[]> = {};
      for (let index = 1; index < ids.length; index += 1)
        dependsOn[step < 0 ? index : index - 1] = [step < 0 ? index - 1 : index];
      const job = accepted({ ids, dependsOn });
      const first = step < 0 ? 'w0' : 'w9999';
      expect(ready(job)).toEqual([first]);
      job.take(failed(first));
      // Not all of them in one turn: the next ones when half of these were heard.
      const told = toldWorkflows(job, 'parent.failed');
      expect(told).toHaveLength(256);
      expect(viewOf(job.context.table).standing).toMatch(/^[fkK]+$/);
    }
  });
});

describe('the phase', () => {
  test('is running from the first dispatch on, which is a change of status', () => {
    const job = accepted();
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.states).toContain('phase.submitted');
    job.take(changed('w1', 'DISPATCHED'));
    expect(standing(job)).toEqual(['running', null]);
    expect([job.context.seq, job.states.includes('phase.running')]).toEqual([2, true]);
    job.take(changed('w1', 'PENDING', { run: 2 }));
    job.take(changed('w1', 'DISPATCHED', { run: 2 }));
    expect([standing(job), job.context.seq]).toEqual([['running', null], 2]);
  });

  test('does not go by progress', () => {
    const job = accepted();
    job.take(progressed());
    expect(standing(job)).toEqual(['submitted', null]);
  });
});

describe('the table of workflows', () => {
  test('N15: takes nothing of a workflow that it does not have, or that has ended', () => {
    const job = accepted({ ids: ['w1', 'w2'] });
    job.take(changed('w1', 'COMPLETED'));
    const { table } = job.context;
    job.take(changed('stranger', 'RUNNING'));
    job.take(changed('w1', 'RUNNING'));
    job.take(failed('w1'));
    expect(job.context.table).toEqual(table);
    expect(standing(job)).toEqual(['submitted', null]);
  });
});
