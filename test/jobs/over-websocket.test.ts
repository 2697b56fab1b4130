/**
 * Scenarios of the jobs system with its frames on real sockets, see cluster/socket-network.ts.
 *
 * These are a part of them, one file for each kind of trouble. All of them, and everything else that
 * starts a cluster, run that way with ESCAPEMENT_TEST_TRANSPORT=websocket.
 */

import { describe, expect, test, vi } from 'vitest';
import { scripted, startCluster } from './cluster.ts';

// Files of tests have a process, or a thread, of their own: nobody else sees it.
vi.stubEnv('ESCAPEMENT_TEST_TRANSPORT', 'websocket');
vi.setConfig({ testTimeout: 30_000 });

describe('over WebSocket', async () => {
  test('frames do travel over sockets', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const client = await cluster.begin('A', {
      jobId: 'j1',
      timeoutMs: 60_000,
      // In pieces: a client's frames are smaller than that.
      workflows: [{ ...scripted('w1', { runs: 5_000 }) }, large('w2'), large('w3')],
    });
    await cluster.runUntil(10_000);
    const view = await cluster.time.during(client.get('j1'));
    expect(view).toMatchObject({ workflowsTotal: 3 });
    expect(cluster.passport.sockets?.carried).toBeGreaterThan(20);
  });

  await import('./scenarios/acceptance-local.test.ts');
  await import('./scenarios/orphans-and-boots.test.ts');
  await import('./scenarios/old-copy.test.ts');
});

function large(id: string) {
  return { id, handler: 'none', payload: 'x'.repeat(60_000), dependsOn: ['w1'] };
}
