import { describe, expect, test } from 'vitest';
import {
  accepted,
  answersOf,
  assembling,
  cancel,
  changed,
  failed,
  fresh,
  type Job,
  standing,
  toldWorkflows,
} from './job-scenes.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index}`);

/** Every workflow that is told `type` does as it is told, until nobody is told any more. */
function obey(job: Job, type: string, answer: (id: string) => { readonly type: string }) {
  const turns: string[][] = [];
  const told: string[] = [];
  for (let next = toldWorkflows(job, type); ; ) {
    told.push(...next);
    const waiting: string[] = [];
    for (const id of next) {
      job.take(answer(id));
      const more = toldWorkflows(job, type);
      if (more.length > 0) turns.push(more);
      waiting.push(...more);
    }
    if (waiting.length === 0) return { told, turns };
    next = waiting;
  }
}

describe('the workflows of a large job that has ended', () => {
  test('are told some at a time, first those that could still start', () => {
    const dependsOn = Object.fromEntries(many(400).map((_, index) => [index, [999]]));
    const job = accepted({ ids: many(1_000), dependsOn });
    job.take(changed('w415', 'DISPATCHED'));
    fresh(job).take(cancel());
    const first = toldWorkflows(job, 'workflow.cancel');
    expect(first).toEqual([...many(417).slice(400), ...many(239)]);
    for (const id of first.slice(0, 127)) job.take(changed(id, 'CANCELLED'));
    expect(job.said('workflow.cancel')).toEqual([]);
    job.take(changed(first[127] as string, 'CANCELLED'));
    expect(toldWorkflows(job, 'workflow.cancel')).toHaveLength(128);
  });

  test('all come to their end, and so does the job', () => {
    const job = fresh(accepted({ ids: many(1_000) }));
    job.take(cancel());
    const { told, turns } = obey(job, 'workflow.cancel', (id) => changed(id, 'CANCELLED'));
    expect(told.toSorted()).toEqual(many(1_000).toSorted());
    expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(job.state).toBe('cancelled');
  });

  test('hold up no other: one that is stopping takes no place', () => {
    const job = accepted({ ids: many(600) });
    fresh(job).take(cancel());
    expect(toldWorkflows(job, 'workflow.cancel')).toHaveLength(256);
    for (const id of many(128)) job.take(changed(id, 'CANCELLING'));
    expect(toldWorkflows(job, 'workflow.cancel')).toHaveLength(128);
  });

  test('are not told again because of what they said before they heard it', () => {
    const job = accepted({ ids: ['w1', 'w2'] });
    fresh(job).take(cancel());
    expect(toldWorkflows(job, 'workflow.cancel')).toEqual(['w1', 'w2']);
    job.take(changed('w1', 'DISPATCHED'));
    job.take(changed('w1', 'RUNNING'));
    expect(job.heard()).toEqual([]);
    expect(answersOf(job.said())).toEqual([]);
    job.take(changed('w2', 'CANCELLED'));
    job.take(changed('w1', 'CANCELLING'));
    job.take(changed('w1', 'CANCELLED'));
    expect(job.state).toBe('cancelled');
  });

  test('SU-7: the answer waits for those that could still start, and not for the others', () => {
    const job = accepted({ ids: many(1_000) });
    fresh(job).take(cancel());
    for (const id of many(15)) job.take(changed(id, 'CANCELLED'));
    expect(answersOf(job.said())).toEqual([]);
    job.take(changed('w15', 'CANCELLED'));
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: null }]);
    job.take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: 'alreadyCancelled' }]);
    obey(job, 'workflow.cancel', (id) => changed(id, 'CANCELLED'));
    expect(answersOf(job.said())).toEqual([]);
  });

  test('are told as well when the submission was never completed', () => {
    const job = assembling({ ids: many(600) }).until(60_000);
    expect(standing(job)).toEqual(['cancelled', null]);
    const { told } = obey(job, 'workflow.cancel', (id) => changed(id, 'CANCELLED'));
    expect(told).toHaveLength(600);
    expect(job.state).toBe('cancelled');
  });
});

describe('the many dependents of a workflow that failed for good', () => {
  const fan = {
    ids: many(1_000),
    dependsOn: Object.fromEntries(
      many(1_000)
        .map((_, index) => [index, [0]])
        .slice(1),
    ),
  };

  test('are told some at a time, and each once', () => {
    const job = fresh(accepted(fan));
    job.take(failed('w0'));
    const { told, turns } = obey(job, 'parent.failed', (id) => failed(id, 'parentFailed'));
    expect(told.toSorted()).toEqual(many(1_000).slice(1).toSorted());
    expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });

  test('hear of an end of the job instead, when that comes first', () => {
    const job = fresh(accepted({ ...fan, timeoutMs: 60_000 }));
    job.take(failed('w0'));
    expect(toldWorkflows(job, 'parent.failed')).toHaveLength(256);
    job.take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: null }]);
    for (const id of many(257).slice(1)) job.take(failed(id, 'parentFailed'));
    const { told } = obey(job, 'workflow.cancel', (id) => changed(id, 'CANCELLED'));
    expect(told.every((id) => Number(id.slice(1)) > 256)).toBe(true);
    expect([job.state, standing(job)]).toEqual(['cancelled', ['cancelled', null]]);
  });

  test('are told of one they depend on', () => {
    const job = fresh(accepted({ ids: many(3), dependsOn: { 1: [0], 2: [1] } }));
    job.take(failed('w0'));
    const told = job.said('parent.failed').map(({ to, workflowId }) => [to, workflowId]);
    expect(told).toEqual([
      ['workflow/j1/w1@A', 'w0'],
      ['workflow/j1/w2@A', 'w1'],
    ]);
  });
});
