/** A job whose submission was long on its way: it begins when its gate counts on it, or never. */

import { describe, expect, test } from 'vitest';
import { viewOf } from '../../../machines/jobs/job/table.ts';
import { acked, assembling, GATE, gateCancel, type Job } from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

/** Of a gate that had the clock of this leader in mind, which reads `SPAWNED_AT` now. */
const submitted = (beginsBefore?: { readonly term: number; readonly at: number }): Job => {
  const more = beginsBefore === undefined ? {} : { beginsBefore };
  const job = assembling({ gateId: 'gate-1', decisionEpoch: [1, 0], timeoutMs: 600_000, ...more });
  job.take({ type: 'job.assembled' });
  return job;
};
const LATE = { term: 3, at: SPAWNED_AT };
const types = (job: Job) => job.said().map(({ type }) => type);

describe('a submission', () => {
  test.each([
    ['in time', { term: 3, at: SPAWNED_AT + 1 }],
    ['of a gate of an earlier release', undefined],
  ])('%s begins at once, and is reported', (_, beginsBefore) => {
    const job = submitted(beginsBefore);
    expect(types(job)).toEqual(['workflow.ready', 'progress.reported']);
    expect(viewOf(job.context.table).standing).toBe('a');
  });

  test.each([
    ['that came too late', LATE],
    ['for the clock of another leader', { term: 2, at: SPAWNED_AT + 60_000 }],
  ])('%s is reported and begins nothing', (_, beginsBefore) => {
    const job = submitted(beginsBefore);
    expect(types(job)).toEqual(['progress.reported']);
    expect(viewOf(job.context.table).standing).toBe('w');
  });
});

describe('a job that awaits its gate', () => {
  test('begins when the gate has taken a report, and its time runs since it was accepted', () => {
    const job = submitted(LATE);
    job.said();
    job.advance(2_000).take(acked('progress.reported'));
    expect(types(job)).toEqual(['workflow.ready']);
    job.until(600_001);
    expect(job.said('timeout.reported')).toMatchObject([{ reason: 'overall' }]);
  });

  test('does not begin because the gate refuses a report, and ends by its cancel', () => {
    const job = submitted(LATE);
    job.said();
    const refused = { accepted: false, reason: 'notTarget', reportSeq: 1 };
    job.take(acked('progress.reported', refused));
    expect(types(job)).toEqual([]);
    job.take(gateCancel());
    expect(types(job)).toEqual(['ack.received', 'workflow.cancel', 'final.reported']);
    expect(job.context.status).toBe('cancelled');
  });

  test('is given up when the gate has closed the job', () => {
    const job = submitted(LATE);
    job.said();
    const event = { type: 'progress.reported' };
    job.take({ type: 'message.refused', to: GATE, event, code: 'ACTOR_ENDED' });
    expect(types(job)).toEqual(['workflow.cancel']);
    expect(job.context).toMatchObject({ status: 'cancelled', reason: null, isFinalKnown: true });
    expect(job.notes().map(({ event: name }) => name)).toContain('event.late');
  });
});
