/** Scenarios of the jobs system over WebSocket, all of them. */

import { describe, expect, test } from 'vitest';
import { scripted, startCluster } from './cluster.ts';
import { repeatOverSockets } from './over-websocket.ts';

describe('over WebSocket', async () => {
  await repeatOverSockets('scenarios');

  test('frames do travel over sockets', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const client = await cluster.begin('A', {
      jobId: 'j1',
      timeoutMs: 60_000,
      // In fragments: a client's frames are smaller than that.
      workflows: [{ ...scripted('w1', { runs: 5_000 }) }, large('w2'), large('w3')],
    });
    await cluster.runUntil(10_000);
    const view = await cluster.time.during(client.get('j1'));
    expect(view).toMatchObject({ workflowsTotal: 3 });
    expect(cluster.passport.sockets?.carried).toBeGreaterThan(20);
  });
});

function large(id: string) {
  return { id, handler: 'none', payload: 'x'.repeat(60_000), dependsOn: ['w1'] };
}
