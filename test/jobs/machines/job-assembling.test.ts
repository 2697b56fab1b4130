/** Answers of a job to questions before it is accepted. */

import { describe, expect, test } from 'vitest';
import { viewOf } from '../../../machines/jobs/job/table.ts';
import {
  acked,
  answersOf,
  assembling,
  cancel,
  changed,
  extend,
  fresh,
  gateCancel,
  standing,
  toldWorkflows,
} from './job-scenes.ts';
import { type Saying, SPAWNED_AT } from './stepper.ts';
import { rules as workflowRules } from './workflow-scenes.ts';

/** Terms of a job that is given its workflows with its spawn. */
const whole = (more: object = {}) => ({
  ids: ['w1', 'w2'],
  dependsOn: { 1: [0] },
  births: {
    rules: workflowRules,
    workflows: [
      { handler: 'sleep', payload: 'p1', cores: 1 },
      { handler: 'shell', payload: 'p2', cores: 2 },
    ],
  },
  ...more,
});

describe('a submission with few workflows', () => {
  test('is accepted with its birth, which spawns them: those that depend on nothing are ready', () => {
    const job = assembling(whole());
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.state).toBe('active');
    const named = { jobId: 'j1', datacenter: 'A', acceptedAt: SPAWNED_AT, rules: workflowRules };
    expect(job.said()).toMatchObject([
      {
        ...{ to: 'workflow/j1/w1@A', type: 'escapement.spawn' },
        input: { ...named, index: 0, handler: 'sleep', payload: 'p1', cores: 1, isReady: true },
      },
      {
        ...{ to: 'workflow/j1/w2@A', type: 'escapement.spawn' },
        input: { ...named, index: 1, handler: 'shell', payload: 'p2', cores: 2 },
      },
    ]);
    expect(viewOf(job.context.table).standing).toBe('aw');
    expect(job.notes()).toMatchObject([{ event: 'job.accepted' }]);
    expect(JSON.stringify(job.context)).not.toContain('p1');
  });

  test('tells the others when what they depend on has succeeded', () => {
    const job = fresh(assembling(whole()));
    job.take(changed('w1', 'DISPATCHED'));
    job.take(changed('w1', 'COMPLETED'));
    expect(toldWorkflows(job, 'workflow.ready')).toEqual(['w2']);
  });

  test('spawns them all the same when it has to await its gate, and tells them later', () => {
    const job = assembling(
      whole({ gateId: 'gate-1', decisionEpoch: [1, 0], beginsBefore: { term: 3, at: SPAWNED_AT } }),
    );
    const births = job.said('escapement.spawn');
    expect(births.map(({ to }) => to)).toEqual(['workflow/j1/w1@A', 'workflow/j1/w2@A']);
    expect(births.filter(({ input }) => (input as { isReady?: boolean }).isReady)).toEqual([]);
    job.take(acked('progress.reported'));
    expect(toldWorkflows(job, 'workflow.ready')).toEqual(['w1']);
  });

  test('loses a workflow whose birth was refused', () => {
    const job = assembling(whole());
    const [birth] = job.said('escapement.spawn');
    const { to, input } = birth as Saying;
    const event = { type: 'escapement.spawn', input };
    job.take({ type: 'message.refused', to, event, code: 'BIRTH_FAILED' });
    expect(viewOf(job.context.table).standing.toLowerCase()).toBe('fk');
  });
});

describe('a submission that is not complete yet', () => {
  test('is no job to those who cancel it or give it time, and they are told at once', () => {
    const job = assembling();
    job.take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: false, reason: 'unknown' }]);
    job.take(extend(1_000));
    expect(answersOf(job.said())).toMatchObject([{ accepted: false, reason: 'unknown' }]);
    expect(job.state).toBe('assembling');
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.context.operatorCredits).toEqual([]);
  });

  test('holds what its gate has decided, which is said once, until it can be taken', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel());
    expect(job.heard()).toEqual([]);
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['cancelled', null]);
    expect(job.context.heldDecision).toBeUndefined();
  });

  test('tells its gate when what it held was meant for an earlier leader', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel({ leaderFence: 0 }));
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.heard()).toContain('status.corrected');
  });

  test('tells its gate that there is no such job when it is given up with a decision held', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel({ leaderFence: 0 }));
    job.until(60_000);
    expect(job.context).toMatchObject({ status: 'cancelled', isAbandoned: true });
    expect(job.context.heldDecision).toBeUndefined();
    expect(job.said('ack.received')).toMatchObject([
      { ackOf: 'cancel.requested', accepted: false, reason: 'unknown', decisionEpoch: [1, 1] },
    ]);
  });

  test('says nothing to a gate that has decided nothing when it is given up', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.until(60_000);
    expect(job.heard()).toEqual(['workflow.cancel']);
  });
});
