/** A listener of log events that throws: no line and no count is lost by it, and the log tells of it. */

import { expect, test } from 'vitest';
import { Counters } from '../../programs/jobs/counters.ts';
import { logPerformer } from '../../programs/jobs/log-events.ts';
import type { Performer } from '../../runtime/actor/kind.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';

test('what a listener throws swallows no line', () => {
  const lines: string[] = [];
  const heard: string[] = [];
  const logger = {
    ...SILENT_LOGGER,
    warn: (_: unknown, message?: string) => lines.push(`${message}`),
  };
  const counters = new Counters();
  const perform = logPerformer(
    logger,
    counters,
    () => {
      throw new Error('full');
    },
    ({ event }) => heard.push(event),
  );
  const params = { event: 'worker.evicted', at: 0, reason: 'silent' };
  perform({ params } as unknown as Parameters<Performer>[0]);
  expect(lines).toEqual(['worker.evicted', 'onNote threw']);
  expect(heard).toEqual(['worker.evicted']);
  expect(counters.value('workers_evicted_total', { reason: 'silent' })).toBe(1);
});
