/**
 * The runs whose logs the guide for operators shows, by the name of their block: begun, and how long they are played.
 */

import { type Cluster, scripted, startCluster } from './cluster.ts';

export type LoggedRun = readonly [cluster: Cluster, untilMs: number];

const DAY = 86_400_000;
const job = (timeoutMs: number, script: Parameters<typeof scripted>[1]) => ({
  jobId: 'j1',
  timeoutMs,
  workflows: [scripted('w1', script)],
});
const one = { A: { workers: 1 } };
const two = { A: { workers: 1 }, B: { workers: 1 } };

/** A worker that asks so, at these seconds. */
function asking(
  cluster: Cluster,
  requests: ReadonlyArray<readonly [seconds: number, progress: number]>,
): void {
  for (const [seconds, progress] of requests)
    cluster.at(seconds * 1_000, () => cluster.extend('A.worker-1', { progress }));
}

export const LOGGED_RUNS: Readonly<Record<string, () => Promise<LoggedRun>>> = {
  async overall() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(60_000, { runs: 'never' }));
    return [cluster, 70_000];
  },
  async stuck() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(DAY, { runs: 'never', stopsProgressAt: 30_000 }));
    return [cluster, 160_000];
  },
  async 'extension-granted'() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(60_000, { runs: 75_000 }));
    asking(cluster, [[20, 0.3]]);
    return [cluster, 100_000];
  },
  async 'extension-exhausted'() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(120_000, { runs: 'never' }));
    asking(cluster, [
      [10, 0.1],
      [20, 0.2],
      [30, 0.3],
      [40, 0.4],
      [50, 0.5],
      [60, 0.6],
    ]);
    return [cluster, 190_000];
  },
  async 'extension-denied'() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(60_000, { runs: 'never' }));
    asking(cluster, [
      [20, 0.3],
      [30, 0.3],
      [40, 1.2],
    ]);
    return [cluster, 100_000];
  },
  async gate() {
    const cluster = await startCluster({ gates: 1, datacenters: two });
    const script = { runs: 'never', in: { A: { stopsProgressAt: 30_000 } } } as const;
    await cluster.begin('gate-1', job(DAY, script));
    return [cluster, 160_000];
  },
  async fallback() {
    const cluster = await startCluster({ gates: 1, datacenters: one });
    await cluster.begin('gate-1', job(200_000, { runs: 'never' }));
    cluster.at(60_000, () => cluster.crash('gate-1'));
    cluster.at(600_000, () => cluster.restart('gate-1'));
    return [cluster, 610_000];
  },
  async 'gate-restart'() {
    const cluster = await startCluster({ gates: 1, datacenters: one });
    await cluster.begin('gate-1', job(100_000, { runs: 'never' }));
    cluster.at(50_000, () => cluster.crash('gate-1'));
    asking(cluster, [[80, 0.5]]);
    cluster.at(110_000, () => cluster.restart('gate-1'));
    return [cluster, 140_000];
  },
  async 'cut-off'() {
    const cluster = await startCluster({ gates: 1, datacenters: two });
    await cluster.begin('gate-1', job(60_000, { runs: 'never' }));
    cluster.at(10_000, () => cluster.network.cut('B.manager-1', 'gate-1'));
    return [cluster, 130_000];
  },
  async 'dead-worker'() {
    const cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
    await cluster.begin('A', job(DAY, { runs: 60_000 }));
    cluster.at(20_200, () => cluster.crash('A.worker-1'));
    return [cluster, 150_000];
  },
  async 'worker-lost'() {
    const cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
    await cluster.begin('A', job(120_000, { runs: 'never' }));
    asking(cluster, [[20, 0.5]]);
    cluster.at(20_200, () => cluster.crash('A.worker-1'));
    return [cluster, 150_000];
  },
  async takeover() {
    const cluster = await startCluster({ datacenters: { A: { managers: 2, workers: 1 } } });
    await cluster.begin('A', job(120_000, { runs: 60_000 }));
    cluster.at(20_000, () => cluster.crash('A.manager-1'));
    return [cluster, 70_000];
  },
};
