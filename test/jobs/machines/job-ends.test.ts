import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  acked,
  acquired,
  answersOf,
  assembling,
  atGate,
  cancel,
  changed,
  declared,
  endedMs,
  extend,
  failed,
  fresh,
  gateCancel,
  granted,
  type Job,
  lost,
  progressed,
  running,
  standing,
  toldWorkflows,
} from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

describe('JB-8 one end', () => {
  test('10.7.7: all workflows done is completed, and nothing happens later', () => {
    const job = running();
    job.until(40_000).take(changed('w1', 'COMPLETED'));
    expect(standing(job)).toEqual(['completed', null]);
    expect(job.state).toBe('completed');
    expect(job.isOver).toBe(true);
    expect(job.deadlines).toEqual({});
  });

  test('aggregated workflows have succeeded as well', () => {
    const job = running({ ids: ['w1', 'w2'] });
    job.take(changed('w1', 'AGGREGATED'));
    job.take(changed('w2', 'COMPLETED'));
    expect(job.state).toBe('completed');
  });

  test('S2: what comes after the end is late and changes nothing', () => {
    const job = running().until(60_001);
    fresh(job).take(changed('w1', 'CANCELLED', { lateEvent: 'result.received' }));
    expect(standing(job)).toEqual(['timedOut', 'overall']);
    expect(job.context.lateEvents).toMatchObject([{ type: 'result.received', detail: 'w1' }]);
    expect(job.context.lastProgressAt).toBe(SPAWNED_AT);
    expect(job.notes()).toMatchObject([{ event: 'event.late', kind: 'result.received' }]);
    expect(job.state).toBe('timedOut');
  });

  test('keeps the last 16 of what was late', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    for (let issue = 1; issue <= 20; issue += 1)
      job.until(issue * 1_000).take(declared({ decisionEpoch: [1, issue] }));
    expect(job.context.lateEvents).toHaveLength(16);
    expect(job.context.lateEvents[0]?.at).toBe(SPAWNED_AT + 5_000);
    expect(job.notes().filter(({ event }) => event === 'event.late')).toHaveLength(20);
    expect(standing(job)).toEqual(['completed', null]);
  });

  test('a finally failed workflow fails the job when all are terminal', () => {
    const job = running({ ids: ['w1', 'w2'] });
    job.take(failed('w1'));
    expect(standing(job)).toEqual(['running', null]);
    job.take(changed('w2', 'COMPLETED'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });

  test('a finally failed workflow fails the job at once where it is to fail fast', () => {
    const job = running({ ids: ['w1', 'w2'], failFast: true });
    job.take(failed('w1'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
    expect(toldWorkflows(job, 'workflow.cancel')).toEqual(['w2']);
    job.take(changed('w2', 'COMPLETED'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
    expect(job.isOver).toBe(true);
  });

  test('S38: the first final failure is the reason, not those of its dependents', () => {
    const job = running({ ids: ['w1', 'w2'], dependsOn: { 1: [0] } });
    job.take(failed('w1', 'dispatch'));
    job.take(failed('w2', 'parentFailed'));
    expect(standing(job)).toEqual(['failed', 'dispatchExhausted']);
  });

  test('the first of two that failed by themselves is the reason', () => {
    const job = running({ ids: ['w1', 'w2', 'w3'] });
    job.take(failed('w2', 'dispatch'));
    job.take(failed('w1'));
    job.take(changed('w3', 'CANCELLED'));
    expect(standing(job)).toEqual(['failed', 'dispatchExhausted']);
  });

  test('a workflow that was cancelled without its job has not succeeded', () => {
    const job = running();
    job.take(changed('w1', 'CANCELLED'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });

  test('a failure that may be tried again fails nothing', () => {
    const job = running({ failFast: true });
    job.take(changed('w1', 'FAILED_READY_FOR_RETRY'));
    job.take(changed('w1', 'FAILED', { final: false }));
    expect(standing(job)).toEqual(['running', null]);
  });

  test('a workflow that is not there cannot succeed', () => {
    const job = running({ ids: ['w1', 'w2', 'w3'], dependsOn: { 2: [1] } });
    const event = { type: 'workflow.ready' };
    fresh(job).take({
      type: 'message.refused',
      to: 'workflow/j1/w2@A',
      event,
      code: 'ACTOR_UNKNOWN',
    });
    expect(toldWorkflows(job, 'parent.failed')).toEqual(['w3']);
    job.take(changed('w1', 'COMPLETED'));
    job.take(failed('w3', 'parentFailed'));
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });
});

describe('ending', () => {
  test('lasts until every workflow is terminal', () => {
    const job = running({ ids: ['w1', 'w2'] });
    job.take(cancel());
    job.take(changed('w2', 'CANCELLED'));
    expect(job.state).toBe('ending');
    job.take(changed('w1', 'CANCELLING'));
    expect(job.state).toBe('ending');
    job.take(changed('w1', 'CANCELLED'));
    expect(job.state).toBe('cancelled');
  });

  test('of a gate job lasts until the gate has acknowledged the final as well', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    expect(job.state).toBe('ending');
    job.take(acked('progress.reported'));
    expect(job.state).toBe('ending');
    job.take(acked('final.reported'));
    expect(job.state).toBe('completed');
  });

  test('ends when the gate has ended its own before', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    const event = { type: 'final.reported' };
    job.take({ type: 'message.refused', to: 'gate-job/j1@gate-1', event, code: 'ACTOR_ENDED' });
    expect(job.isOver).toBe(true);
  });

  test('ends when a workflow that it cancels is not there any more', () => {
    const job = running();
    job.take(cancel());
    fresh(job);
    const event = { type: 'workflow.cancel' };
    job.take({ type: 'message.refused', to: 'workflow/j1/w1@A', event, code: 'ACTOR_UNKNOWN' });
    expect(job.state).toBe('cancelled');
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: null }]);
  });

  test('takes neither credit nor time', () => {
    const job = running();
    job.take(cancel());
    fresh(job).take(granted('W', 5_000));
    job.take(extend(5_000));
    const said = job.said();
    expect(said).toMatchObject([
      { answer: 'void' },
      { value: { accepted: false, reason: 'alreadyFinal' } },
    ]);
  });
});

describe('SU-7 cancel', () => {
  test('10.7.8: the status changes at once, the answer waits until nothing can start', () => {
    const job = running({ ids: ['w1', 'w2'] });
    job.until(25_000).take(cancel());
    expect([standing(job), endedMs(job)]).toEqual([['cancelled', null], 25_000]);
    expect(toldWorkflows(job, 'workflow.cancel')).toEqual(['w1', 'w2']);
    job.take(changed('w2', 'CANCELLED'));
    expect(answersOf(job.said())).toEqual([]);
    job.take(changed('w1', 'CANCELLING'));
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: null }]);
    job.take(changed('w1', 'CANCELLED'));
    expect(answersOf(job.said())).toEqual([]);
  });

  test('that comes again is answered alike, however often', () => {
    const job = running();
    job.take(cancel('session/a@A'));
    job.take(cancel('session/b@A'));
    fresh(job).take(changed('w1', 'CANCELLING'));
    expect(job.said().map(({ to, value }) => [to, value])).toEqual([
      ['session/a@A', { accepted: true, reason: null }],
      ['session/b@A', { accepted: true, reason: null }],
    ]);
    job.take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: true, reason: 'alreadyCancelled' }]);
  });

  test('of a job that has ended otherwise is refused, and late', () => {
    const job = running({ ids: ['w1', 'w2'], failFast: true });
    job.take(failed('w1'));
    fresh(job).take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: false, reason: 'alreadyFinal' }]);
    expect(job.context.lateEvents).toMatchObject([{ type: 'cancel.requested', detail: 'failed' }]);
    expect(standing(job)).toEqual(['failed', 'workflowFailed']);
  });

  test('after it no workflow is let to ask', () => {
    const job = running({ ids: ['w1', 'w2'], dependsOn: { 1: [0] } });
    job.take(cancel());
    fresh(job).take(changed('w1', 'COMPLETED'));
    expect(job.said('workflow.ready')).toEqual([]);
    expect(standing(job)).toEqual(['cancelled', null]);
  });
});

describe('a submission that is never completed', () => {
  test('ends after a minute, and its gate hears nothing of it', () => {
    const job = assembling({ gateId: 'gate-1' }).until(60_000);
    expect(standing(job)).toEqual(['cancelled', null]);
    expect(job.heard()).toEqual(['workflow.cancel']);
    const event = { type: 'workflow.cancel' };
    job.take({ type: 'message.refused', to: 'workflow/j1/w1@A', event, code: 'ACTOR_UNKNOWN' });
    expect(job.state).toBe('cancelled');
    expect(job.heard()).toEqual([]);
  });

  test('knows who leads when it is completed after a takeover', () => {
    const job = assembling();
    job.take(acquired(8, 'A.manager-2'));
    job.take({ type: 'job.assembled' });
    expect(job.context).toMatchObject({ term: 8, managerId: 'A.manager-2', leaderFence: 1 });
  });
});

const EVENTS = [
  (id: string) => changed(id, 'DISPATCHED'),
  (id: string) => changed(id, 'RUNNING'),
  (id: string) => changed(id, 'COMPLETED'),
  (id: string) => failed(id),
  (id: string) => changed(id, 'CANCELLED'),
  () => progressed(),
  () => granted('W', 20_000),
  () => lost('W'),
  () => extend(30_000),
  (_: string, number: number) =>
    declared({ decisionEpoch: [1, number], leaderFence: 1 + (number % 2) }),
  (_: string, number: number) => gateCancel({ decisionEpoch: [1, number] }),
  () => cancel(),
  (_: string, number: number) => acquired(3 + number),
  () => acked('progress.reported'),
  () => ({ type: 'status.requested', jobId: 'j1', datacenter: 'A' }),
] as const;

describe('JB-12 the end of everything', () => {
  const act = fc.tuple(fc.nat(EVENTS.length - 1), fc.nat(2), fc.nat(4), fc.nat(60_000));
  const play = (job: Job, acts: ReadonlyArray<readonly [number, number, number, number]>) => {
    let end: unknown;
    for (const [which, workflow, number, pauseMs] of acts) {
      job.advance(pauseMs).take(EVENTS[which]?.(`w${workflow + 1}`, number) as never);
      const now = [...standing(job), endedMs(job), job.context.gateReason];
      if (job.context.endedAt === null) continue;
      end ??= now;
      expect(now).toEqual(end);
      expect(Object.keys(job.deadlines)).toEqual([]);
    }
  };

  test('no deadline waits after an end, and no end ever changes', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40, size: 'max' }), fc.boolean(), (acts, isLocal) => {
        const more = { ids: ['w1', 'w2', 'w3'], timeoutMs: 400_000 };
        play(isLocal ? accepted(more) : atGate(more), acts);
      }),
      { numRuns: 100 },
    );
  });
});
