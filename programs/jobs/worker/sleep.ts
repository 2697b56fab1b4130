/**
 * Built-in handler `sleep`: waits, reports how far it is, and heeds its signal.
 *
 * Its payload is a number of milliseconds, or `{"ms": 60000, "progressEveryMs": 1000}`.
 */

import { excerpt } from '../../../runtime/base/errors.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import { pause } from '../client/pause.ts';
import type { Handler } from './handlers.ts';

const PROGRESS_EVERY_MS = 1_000;

export function sleepHandler(clock: Clock): Handler {
  return async ({ payload, signal, progress }) => {
    const { ms, progressEveryMs } = parsed(payload);
    const startedAt = clock.now();
    const endsAt = startedAt + ms;
    while (clock.now() < endsAt) {
      await pause(clock, Math.min(progressEveryMs, endsAt - clock.now()), signal);
      if (signal.aborted) throw signal.reason;
      progress((clock.now() - startedAt) / Math.max(ms, clock.now() - startedAt));
    }
    return `slept ${ms} ms`;
  };
}

function parsed(payload: string): { readonly ms: number; readonly progressEveryMs: number } {
  let given: unknown;
  try {
    given = JSON.parse(payload);
  } catch {
    given = undefined;
  }
  const fields = typeof given === 'number' ? { ms: given } : ((given ?? {}) as object);
  const { ms, progressEveryMs = PROGRESS_EVERY_MS } = fields as Record<string, unknown>;
  if (isCount(ms, 0) && isCount(progressEveryMs, 1)) return { ms, progressEveryMs };
  const what = `"sleep" takes milliseconds, or {"ms": …, "progressEveryMs": …}; got ${excerpt(payload)}.`;
  throw Object.assign(new Error(what), { code: 'payloadInvalid', retryable: false });
}

function isCount(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}
