/**
 * Clusters whose gates and managers keep what they store in real LMDB files, and come back from them.
 */

import { onTestFinished } from 'vitest';
import { Disks } from '../cluster/disks.ts';
import type { ClusterPlan } from '../cluster/plan.ts';
import { type Cluster, startCluster } from '../cluster.ts';

export interface ClusterOnDisks {
  readonly cluster: Cluster;
  readonly disks: Disks;
  /** The node's process is gone from the one second to the other. */
  down(node: string, fromSeconds: number, toSeconds: number): void;
}

/** Stopped, and its files removed, when the test is over. */
export async function startOnDisks(
  plan: ClusterPlan,
  splitsGroups = false,
): Promise<ClusterOnDisks> {
  const disks = new Disks(splitsGroups);
  onTestFinished(() => disks.remove());
  const cluster = await startCluster({ ...plan, disks });
  onTestFinished(() => cluster.stop());
  return {
    cluster,
    disks,
    down(node, fromSeconds, toSeconds) {
      cluster.at(fromSeconds * 1_000, () => cluster.crash(node));
      cluster.at(toSeconds * 1_000, () => cluster.restart(node));
    },
  };
}
