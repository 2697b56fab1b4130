/**
 * Workers of a datacenter as clients see them: read from committed records, changing nothing.
 *
 * Cores and state are the worker pool's, runs and the deadline those of the worker's health.
 */

import { workerHealthAddress, workerPoolAddress } from '../../../machines/jobs/addresses.ts';
import type {
  WorkerPage,
  WorkersAsked,
  WorkerView,
} from '../../../machines/jobs/messages/client.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { ManagerNode } from './node.ts';

export function listWorkers(node: ManagerNode, { limit, cursor = '' }: WorkersAsked): WorkerPage {
  const pool = read(() => node.runtime.actor(workerPoolAddress(node.datacenter)).getSnapshot());
  const workers = pool?.context.workers ?? {};
  const names = Object.keys(workers).filter((name) => name > cursor);
  const page = names.sort().slice(0, limit);
  return {
    workers: page.map((workerId) => workerView(node, workerId, workers[workerId] as Pooled)),
    cursor: names.length > limit ? (page.at(-1) ?? null) : null,
    unanswered: [],
  };
}

interface Pooled {
  readonly coresTotal: number;
  readonly coresReserved: number;
  readonly handlers: readonly string[];
  readonly state: WorkerView['state'];
  readonly heard: boolean;
}

function workerView(node: ManagerNode, workerId: string, pooled: Pooled): WorkerView {
  const { runtime, datacenter, clock } = node;
  const health = read(() => runtime.actor(workerHealthAddress(workerId, datacenter)).getSnapshot());
  const { operations, deadline = 0 } = health?.context ?? {};
  return {
    workerId,
    datacenter,
    state: pooled.state,
    heard: pooled.heard,
    cores: pooled.coresTotal,
    freeCores: pooled.coresTotal - pooled.coresReserved,
    attempts: operations?.size ?? 0,
    handlers: pooled.handlers.length,
    deadlineInMs: Math.max(0, deadline - clock.now()),
  };
}

function read<T>(reading: () => T): T | undefined {
  try {
    return reading();
  } catch (thrown) {
    // Its place was taken a moment ago, or the worker is about to be forgotten.
    if (thrown instanceof RuntimeError && thrown.code === 'ACTOR_UNKNOWN') return undefined;
    throw thrown;
  }
}
