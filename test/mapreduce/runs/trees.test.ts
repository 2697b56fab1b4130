/** Trees of processes that do not want to end: a thousand items, of which three hundred fork, hang and ignore SIGTERM. */

import { expect } from 'vitest';
import { test } from './scene.ts';

const ITEMS = 1_000;
/** Three of ten; the others end at once. */
const SHELL = `if [ $ESCAPEMENT_ATTEMPT = 1 ] && [ \${item} -lt 300 ]; then
  trap "" TERM
  (trap "" TERM; while :; do sleep 5; done) &
  (trap "" TERM; setsid sleep 600) &
  while :; do sleep 5; done
fi`;

test('of a thousand items three hundred are killed with all they have started', async ({
  scene,
}) => {
  const items = Array.from({ length: ITEMS }, (_, index) => index);
  const map = { agent_timeout_secs: 3, max_parallel: 100 };
  let lastEnd = 0;
  const onEvent = ({
    event,
    resolution,
    at,
  }: {
    event: string;
    resolution?: unknown;
    at: number;
  }) => {
    if (event === 'TimeoutResolved' && resolution === 'CleanupCompleted') lastEnd = at;
  };
  const document = await scene.run({ items, map, shell: SHELL }, { onEvent: onEvent as never });
  expect(scene.processesLeft()).toEqual([]);
  expect(lastEnd).toBeGreaterThan(0);
  const slow = document.items.slice(0, 300);
  expect(new Set(slow.map(({ outcome }) => outcome))).toEqual(new Set(['dlq']));
  expect(
    slow.every(({ attempts }) => attempts[0]?.timeout?.resolution === 'ForceTermination'),
  ).toBe(true);
  // Others may be slow to start where hundreds are at work, and none of them is left out.
  expect(document.summary.done + document.summary.dlq).toBe(ITEMS);
});
