/**
 * The real clock, which a test can put forward: what would come in a minute comes at once, with real processes, disks
 * and sockets around it.
 *
 * Between two skips time goes on as usual. So limits can be long, and a test neither waits for them nor
 * depends on how quick its machine is.
 */

import { type SystemClock, systemClock } from '../../runtime/system/clock.ts';

export interface SkippingClock {
  readonly clock: SystemClock;
  skip(ms: number): void;
}

export function skippingClock(): SkippingClock {
  let skippedMs = 0;
  const sources = {
    wall: () => Date.now() + skippedMs,
    monotonic: () => performance.now() + skippedMs,
    // Unknown: a skip is no suspension.
    uptime: () => Number.NaN,
  };
  const clock = systemClock({ sources });
  return {
    clock,
    skip: (ms) => {
      skippedMs += ms;
      // It sleeps until its next task as that was seen before; one that is due wakes it.
      clock.schedule(0, () => {});
    },
  };
}
