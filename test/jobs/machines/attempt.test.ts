import { describe, expect, test } from 'vitest';
import { type AttemptInput, attemptMachine } from '../../../machines/jobs/attempt.ts';
import { WorkerStepper } from './worker-stepper.ts';

const input: AttemptInput = {
  jobId: 'j1',
  attemptId: 'w1#2',
  workerId: 'A.worker-1',
  cause: 'cancelled',
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
const report = (outcome: object) => [
  'sendReport',
  { type: 'result.received', ...named, ...outcome },
];
const stopped = (killed: boolean) => ['sendReport', { type: 'attempt.stopped', ...named, killed }];
const left = {
  ...failed,
  error: { code: 'workerStopped', detail: 'The worker stopped before the handler was done.' },
};

/** An attempt that is told to stop, and asked its process for that. */
const stopping = (cause: AttemptInput['cause'], given: Partial<AttemptInput> = {}): WorkerStepper =>
  new WorkerStepper(attemptMachine, { ...input, ...given, cause });

const effects = (attempt: WorkerStepper) =>
  attempt.asked().map(([name, params]) => (name === 'sendReport' ? [name, params] : name));

describe('an attempt that is told to stop', () => {
  test('aborts its handler once, however often it is told', () => {
    const attempt = stopping('cancelled').advance(5_000).take(stop('cancelled'));
    expect(effects(attempt)).toEqual(['abortHandler']);
    // The grace counts from the first time.
    expect(attempt.dueIn('cancelGrace')).toBe(5_001);
  });

  test.each([
    ['an error', failed],
    ['a result after all', done],
  ])('has stopped when its handler ends, whatever with: %s', (_, outcome) => {
    const attempt = stopping('cancelled').take(ended(outcome));
    expect(effects(attempt)).toEqual(['abortHandler', stopped(false)]);
    expect(attempt.value).toBe('stopped');
    expect(attempt.dueIn('cancelGrace')).toBeUndefined();
  });

  test('is abandoned after the grace and not within it', () => {
    const attempt = stopping('cancelled').advance(10_000);
    expect(attempt.value).toBe('stopping');
    expect(effects(attempt)).toEqual(['abortHandler']);
    attempt.advance(1);
    expect(attempt.value).toBe('abandoned');
    expect(effects(attempt)).toEqual(['abandonHandler', stopped(true)]);
    // Whatever the handler says now is too late.
    expect(attempt.snapshot.status).toBe('done');
  });

  test('may have no grace at all', () => {
    const attempt = stopping('cancelled', { cancelGraceMs: 0 });
    expect(attempt.dueIn('cancelGrace')).toBe(1);
  });
});

test('that was over before it was told to stop is reported once, by the process', () => {
  const attempt = stopping('cancelled').take({ type: 'handler.reported' });
  expect(effects(attempt)).toEqual(['abortHandler']);
  expect([attempt.value, attempt.snapshot.status]).toEqual(['late', 'done']);
});

describe('an attempt that nobody wants', () => {
  test('says nothing when its handler ends', () => {
    const attempt = stopping('unwanted').take(ended());
    expect(attempt.value).toBe('dropped');
    expect(effects(attempt)).toEqual(['abortHandler', 'closeAttempt']);
  });

  test('says nothing when its handler does not end', () => {
    const attempt = stopping('unwanted').advance(10_001);
    expect(attempt.value).toBe('dropped');
    expect(effects(attempt)).toEqual(['abortHandler', 'abandonHandler', 'closeAttempt']);
  });

  test('is wanted again when its workflow cancels it, and hears that it has stopped', () => {
    const attempt = stopping('unwanted').take(stop('cancelled')).take(ended());
    expect(effects(attempt)).toEqual(['abortHandler', stopped(false)]);
  });

  test('is unwanted also when it was cancelled before', () => {
    const attempt = stopping('cancelled').take(stop('unwanted')).take(ended());
    expect(effects(attempt)).toEqual(['abortHandler', 'closeAttempt']);
  });
});

describe('an attempt of a worker that leaves', () => {
  test('fails so that it is run elsewhere', () => {
    const attempt = stopping('leaving').take(ended(failed));
    expect(attempt.value).toBe('finished');
    expect(effects(attempt)).toEqual(['abortHandler', report(left)]);
  });

  test('succeeds when its handler did, all the same', () => {
    const attempt = stopping('leaving').take(ended(done));
    expect(attempt.value).toBe('finished');
    expect(effects(attempt)).toEqual(['abortHandler', report(done)]);
  });

  test('fails when its handler does not heed the signal', () => {
    const attempt = stopping('leaving').advance(10_001);
    expect(attempt.value).toBe('abandoned');
    expect(effects(attempt)).toEqual(['abortHandler', 'abandonHandler', report(left)]);
  });

  test.each(['cancelled', 'unwanted'] as const)('stays what it was: %s', (cause) => {
    const attempt = stopping(cause).take(stop('leaving')).take(ended());
    const said = effects(attempt);
    expect(said).not.toContainEqual(report(done));
    expect(said).not.toContainEqual(report(left));
  });
});
