/** A wait on the injected clock that a signal can end. It resolves either way. */

import type { Clock } from '../../runtime/clock.ts';
import { whenAborted } from '../../runtime/when-aborted.ts';

export function pause(clock: Clock, durationMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      unwatch?.();
      resolve();
    };
    const cancel = clock.schedule(clock.now() + durationMs, end);
    const unwatch = signal && whenAborted(signal, end);
  });
}
