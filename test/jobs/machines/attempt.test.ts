import { describe, expect, test } from 'vitest';
import { type AttemptInput, attemptMachine } from '../../../machines/jobs/attempt.ts';
import { WorkerStepper } from './worker-stepper.ts';

const input: AttemptInput = {
  jobId: 'j1',
  attemptId: 'w1#2',
  datacenter: 'A',
  workerId: 'A.worker-1',
  handler: 'sleep',
  payload: '100',
  cancelGraceMs: 10_000,
};
const named = { workerId: 'A.worker-1', jobId: 'j1', attemptId: 'w1#2' };
const done = { ok: true, result: '42', truncated: false, error: null, retryable: true };
const failed = {
  ok: false,
  result: null,
  truncated: false,
  error: { code: 'Error', detail: 'no' },
  retryable: true,
};
const ended = (outcome: object = done) => ({ type: 'handler.ended', ...outcome });
const stop = (cause: 'cancelled' | 'unwanted' | 'leaving') => ({ type: 'attempt.stop', cause });
const taken = { type: 'report.taken' };
const report = (outcome: object) => [
  'sendReport',
  { type: 'result.received', ...named, ...outcome },
];
const stopped = (killed: boolean) => ['sendReport', { type: 'attempt.stopped', ...named, killed }];
const left = {
  ...failed,
  error: { code: 'workerStopped', detail: 'The worker stopped before the handler was done.' },
};

/** An attempt whose handler runs, and whose first effects have been looked at. */
function run(given: Partial<AttemptInput> = {}): WorkerStepper {
  const attempt = new WorkerStepper(attemptMachine, { ...input, ...given });
  attempt.asked();
  return attempt;
}

const effects = (attempt: WorkerStepper) =>
  attempt.asked().map(([name, params]) => (name === 'sendReport' ? [name, params] : name));

test('begins its handler with the payload, which is in no context', () => {
  const attempt = new WorkerStepper(attemptMachine, input);
  const { cancelGraceMs: _, ...params } = input;
  expect(attempt.asked()).toEqual([['runHandler', params]]);
  expect(attempt.value).toBe('running');
  expect(attempt.snapshot.context).not.toHaveProperty('payload');
});

describe('a handler that ends by itself', () => {
  test.each([
    ['with success', done],
    ['with a failure', failed],
    ['with a failure for good', { ...failed, retryable: false }],
  ])('frees its cores, is reported, and ends once that is taken: %s', (_, outcome) => {
    const attempt = run().take(ended(outcome));
    expect(effects(attempt)).toEqual(['freeCores', report(outcome)]);
    expect(attempt.value).toEqual({ reporting: 'finished' });
    attempt.take(taken);
    expect(effects(attempt)).toEqual(['closeAttempt']);
    expect(attempt.snapshot.status).toBe('done');
  });

  test('keeps nothing of its result', () => {
    const attempt = run().take(ended({ ...done, result: 'x'.repeat(1_000) }));
    expect(JSON.stringify(attempt.snapshot.context)).not.toContain('xxx');
  });
});

describe('an attempt that is told to stop', () => {
  test('aborts its handler once, however often it is told', () => {
    const attempt = run().take(stop('cancelled')).advance(5_000).take(stop('cancelled'));
    expect(effects(attempt)).toEqual(['abortHandler']);
    // The grace counts from the first time.
    expect(attempt.dueIn('cancelGrace')).toBe(5_001);
  });

  test.each([
    ['an error', failed],
    ['a result after all', done],
  ])('has stopped when its handler ends, whatever with: %s', (_, outcome) => {
    const attempt = run().take(stop('cancelled')).take(ended(outcome));
    expect(effects(attempt)).toEqual(['abortHandler', 'freeCores', stopped(false)]);
    expect(attempt.value).toEqual({ reporting: 'stopped' });
    expect(attempt.dueIn('cancelGrace')).toBeUndefined();
  });

  test('is abandoned after the grace and not within it', () => {
    const attempt = run().take(stop('cancelled')).advance(10_000);
    expect(attempt.value).toBe('stopping');
    expect(effects(attempt)).toEqual(['abortHandler']);
    attempt.advance(1);
    expect(attempt.value).toEqual({ reporting: 'abandoned' });
    expect(effects(attempt)).toEqual(['abandonHandler', 'freeCores', stopped(true)]);
    // Whatever the handler says now is too late.
    attempt.take(ended());
    expect(effects(attempt)).toEqual([]);
    attempt.take(taken);
    expect(effects(attempt)).toEqual(['closeAttempt']);
  });

  test('may have no grace at all', () => {
    const attempt = run({ cancelGraceMs: 0 }).take(stop('cancelled'));
    expect(attempt.dueIn('cancelGrace')).toBe(1);
  });
});

describe('an attempt that nobody wants', () => {
  test('says nothing when its handler ends', () => {
    const attempt = run().take(stop('unwanted')).take(ended());
    expect(effects(attempt)).toEqual(['abortHandler', 'closeAttempt']);
  });

  test('says nothing when its handler does not end', () => {
    const attempt = run().take(stop('unwanted')).advance(10_001);
    expect(effects(attempt)).toEqual(['abortHandler', 'abandonHandler', 'closeAttempt']);
  });

  test.each([
    ['finished', run().take(ended())],
    ['stopped', run().take(stop('cancelled')).take(ended())],
    ['abandoned', run().take(stop('cancelled')).advance(10_001)],
  ])('drops its report when it is %s', (state, attempt) => {
    expect(attempt.value).toEqual({ reporting: state });
    attempt.asked();
    for (const cause of ['cancelled', 'leaving'] as const) {
      attempt.take(stop(cause));
      expect(effects(attempt)).toEqual([]);
    }
    attempt.take(stop('unwanted'));
    expect(effects(attempt)).toEqual(['closeAttempt']);
  });

  test('is wanted again when its workflow cancels it, and hears that it has stopped', () => {
    const attempt = run().take(stop('unwanted')).take(stop('cancelled')).take(ended());
    expect(effects(attempt)).toEqual(['abortHandler', 'freeCores', stopped(false)]);
  });

  test('is unwanted also when it was cancelled before', () => {
    const attempt = run().take(stop('cancelled')).take(stop('unwanted')).take(ended());
    expect(effects(attempt)).toEqual(['abortHandler', 'closeAttempt']);
  });
});

describe('an attempt of a worker that leaves', () => {
  test('fails so that it is run elsewhere', () => {
    const attempt = run().take(stop('leaving')).take(ended(failed));
    expect(effects(attempt)).toEqual(['abortHandler', 'freeCores', report(left)]);
  });

  test('succeeds when its handler did, all the same', () => {
    const attempt = run().take(stop('leaving')).take(ended(done));
    expect(effects(attempt)).toEqual(['abortHandler', 'freeCores', report(done)]);
  });

  test('fails when its handler does not heed the signal', () => {
    const attempt = run().take(stop('leaving')).advance(10_001);
    expect(attempt.value).toEqual({ reporting: 'abandoned' });
    expect(effects(attempt)).toEqual(['abortHandler', 'abandonHandler', 'freeCores', report(left)]);
  });

  test.each(['cancelled', 'unwanted'] as const)('stays what it was: %s', (cause) => {
    const attempt = run().take(stop(cause)).take(stop('leaving')).take(ended());
    const said = effects(attempt);
    expect(said).not.toContainEqual(report(done));
    expect(said).not.toContainEqual(report(left));
  });
});

test('takes no report for taken while its handler runs or stops', () => {
  expect(run().take(taken).value).toBe('running');
  expect(run().take(stop('cancelled')).take(taken).value).toBe('stopping');
});
