/**
 * Handlers of the demo's workers: work that goes well, and work that does not.
 *
 * Each takes the milliseconds it is to last as JSON, `{"ms": 1500}`, so that the load, which
 * submits a job, knows what must come of it.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Handler, HandlerContext } from '../programs/jobs/worker.ts';

const STEP_MS = 250;
/** Shares of its work at which a render asks for more time. */
const ASKING_SHARES = [0.3, 0.6];
const payload = z.strictObject({ ms: z.int().min(0).max(3_600_000) });

/** Does its work in steps and says how far it is. */
export const work: Handler = async (context) => {
  await inSteps(context, () => {});
  return { workflow: context.workflowId, run: context.run };
};

/** Takes longer than its job has, and asks for more time on the way. */
export const render: Handler = async (context) => {
  const asked: Array<Promise<unknown>> = [];
  await inSteps(context, (share, leftMs) => {
    if (share < (ASKING_SHARES[asked.length] ?? Number.POSITIVE_INFINITY)) return;
    const answer = context
      .extend({ reason: 'long_workflow', progress: share, estimatedRemainingMs: leftMs })
      .catch((thrown: unknown) => context.log.warn({ error: String(thrown) }, 'no more time'));
    asked.push(answer);
  });
  await Promise.all(asked);
  return { frames: Math.ceil(msOf(context) / STEP_MS) };
};

/** Begins, and never gets any further: only a timeout ends it. */
export const freeze: Handler = async ({ progress, signal }) => {
  progress(0.3);
  await pause(3_600_000, undefined, { signal });
};

/** Fails for good: what depends on it can never run. */
export const spoil: Handler = async (context) => {
  await inSteps(context, () => {});
  throw Object.assign(new Error('the source is damaged'), { retryable: false });
};

/** Fails the first time and works the second. */
export const stumble: Handler = async (context) => {
  await inSteps(context, () => {});
  if (context.run === 1) throw new Error('the connection was lost');
  return { run: context.run };
};

async function inSteps(
  context: HandlerContext,
  onStep: (share: number, leftMs: number) => void,
): Promise<void> {
  const totalMs = msOf(context);
  const startedAt = performance.now();
  for (let spentMs = 0; spentMs < totalMs; spentMs = performance.now() - startedAt) {
    await pause(Math.min(STEP_MS, totalMs - spentMs), undefined, { signal: context.signal });
    const share = Math.min(1, (performance.now() - startedAt) / totalMs);
    context.progress(share);
    onStep(share, Math.round(totalMs * (1 - share)));
  }
}

function msOf({ payload: text }: HandlerContext): number {
  return payload.parse(JSON.parse(text)).ms;
}
