/** Progress of a worker's attempts in its heartbeats. */

import { describe, expect, test } from 'vitest';
import type { HandlerContext } from '../../../programs/jobs/worker/handlers.ts';
import { datacenter } from './datacenter.ts';
import { held, running } from './held-runs.ts';

describe('progress', () => {
  test('is in the heartbeats, with how long ago it rose', async () => {
    const { dc, context } = await running();
    context.progress({ completedItems: 1, totalItems: 4 });
    await dc.rt.advance('1s');
    // It goes down: told as it is, and no progress.
    context.progress({ completedItems: 0, totalItems: 4 });
    await dc.rt.advance('5s');
    const attempts = dc.of('heartbeat.received').at(-1)?.event['attempts'] as object[];
    expect(attempts).toEqual([
      {
        jobId: 'j1',
        attemptId: 'w1#1',
        progress: 0,
        completedItems: 0,
        totalItems: 4,
        sinceProgressMs: expect.any(Number),
        finished: false,
      },
    ]);
    const [{ sinceProgressMs }] = attempts as [{ sinceProgressMs: number }];
    expect(sinceProgressMs).toBeGreaterThan(4_000);
  });

  test('is in the next heartbeat also where that lists others', async () => {
    const count = 130;
    const { handlers, contexts } = held();
    const dc = await datacenter({ handlers, cores: count });
    for (let number = 1; number <= count; number += 1) await dc.dispatch(`w${number}`);
    const last = contexts.find(({ workflowId }) => workflowId === 'w99') as HandlerContext;
    last.progress(0.5);
    await dc.rt.advance('5s');
    const beat = () => dc.of('heartbeat.received').at(-1)?.event as Record<string, unknown>;
    const listed = () => (beat()['attempts'] as object[]).length;
    expect(beat()['range']).toEqual({ from: '', to: expect.any(String) });
    expect(listed()).toBe(101);
    expect(beat()['attempts']).toContainEqual(
      expect.objectContaining({ attemptId: 'w99#1', progress: 0.5 }),
    );
    await dc.rt.advance('5s');
    expect(listed()).toBe(30);
    await dc.rt.advance('5s');
    expect(listed()).toBe(100);
  });
});
