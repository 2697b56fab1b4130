import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globalOutcome, type LocalEnd } from '../../../machines/jobs/gate-job/global-outcome.ts';
import type { Outcome, Reason } from '../../../machines/jobs/words.ts';

const end = (status: Outcome, reason: Reason | null = null, gateReason: Reason | null = null) => ({
  status,
  reason,
  gateReason,
});

const completed = end('completed');
const failed = end('failed', 'workflowFailed');
const cancelled = end('cancelled');
const timedOut = end('timedOut', 'global', 'overall');

test.each([
  ['completed', [completed, completed]],
  ['timedOut', [completed, timedOut]],
  ['timedOut', [failed, timedOut, cancelled]],
  ['failed', [completed, failed, cancelled]],
  ['cancelled', [completed, cancelled]],
  ['cancelled', [cancelled]],
] as const)('%s', (status, ends) => {
  expect(globalOutcome(ends).status).toBe(status);
});

test.each([
  ['overall', [end('timedOut', 'fallback'), end('timedOut', 'overall')]],
  [
    'datacenterTimeout',
    [end('timedOut', 'fallback'), end('timedOut', 'global', 'datacenterTimeout')],
  ],
  [
    'allDatacentersStuck',
    [end('timedOut', 'fallback'), end('timedOut', 'global', 'allDatacentersStuck')],
  ],
  ['fallback', [end('timedOut', 'fallback'), end('timedOut', 'stuck')]],
  ['workflowFailed', [end('failed', 'dispatchExhausted'), end('failed', 'workflowFailed')]],
  [null, [completed, cancelled]],
] as const)('the reason is %s', (reason, ends) => {
  expect(globalOutcome(ends).reason).toBe(reason);
});

const anyEnd: fc.Arbitrary<LocalEnd> = fc.oneof(
  fc.constant(completed),
  fc.constant(cancelled),
  fc.record({
    status: fc.constant('failed' as const),
    reason: fc.constantFrom<Reason>('workflowFailed', 'dispatchExhausted'),
    gateReason: fc.constant(null),
  }),
  fc.record({
    status: fc.constant('timedOut' as const),
    reason: fc.constantFrom<Reason>('overall', 'stuck', 'fallback', 'global'),
    gateReason: fc.constantFrom<Reason | null>(
      null,
      'overall',
      'datacenterTimeout',
      'allDatacentersStuck',
    ),
  }),
);

test('neither order nor repetition matters', () => {
  const ends = fc.array(anyEnd, { minLength: 1, maxLength: 6 });
  const shuffled = ends.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.array(fc.constantFrom(...all), { maxLength: 4 }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([all, others, again]) => {
      expect(globalOutcome([...others, ...again])).toEqual(globalOutcome(all));
    }),
  );
});
