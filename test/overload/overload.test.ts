/** The overload rig, small: real processes, and bounds that do not depend on how fast they are. */

import { expect, test } from 'vitest';
import { OVERLOAD_DEFAULTS } from './options.ts';
import { runOverload } from './run.ts';

test('what is too much is refused with a time, and nothing that was accepted is lost', async () => {
  const report = await runOverload({
    ...OVERLOAD_DEFAULTS,
    basePerSecond: 5,
    overloadPerSecond: 60,
    baseSeconds: 4,
    overloadSeconds: 8,
    afterSeconds: 8,
    cores: 2,
    timeoutMs: 600_000,
    settings: ['jobs.backlogWorkflowsMax=20'],
  });
  expect(report).toMatchObject({ lost: 0, shedButThere: 0, shedWithoutRetryAfter: 0 });
  expect(report.otherAnswers).toEqual({});
  expect(report.shed).toBeGreaterThan(0);
  expect(report.accepted + report.shed).toBe(report.sent);
  expect(report.done).toBe(report.accepted);
  expect(report.acceptedOfBaseClient).toBeGreaterThan(report.acceptedOfFlood);
});
