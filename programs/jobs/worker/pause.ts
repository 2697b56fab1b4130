/** A wait on the injected clock that a signal can end. It resolves either way. */

import type { Clock } from '../../../runtime/clock.ts';

export function pause(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(clock.now() + durationMs, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
