/** Pause on the injected clock that a signal can end. It resolves either way. */

import { whenAborted } from '../../../runtime/base/when-aborted.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';

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
