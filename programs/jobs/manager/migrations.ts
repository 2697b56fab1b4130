/**
 * Records of earlier releases, brought to the form that this one knows.
 *
 * Version 2 of `workflow`: one that waits for cores is `queued`, whether the pool knows of it or not.
 * Version 2 of `worker-pool`: requests lie in lanes instead of one queue.
 */

import type { SlotRequested } from '../../../machines/jobs/messages/local.ts';
import {
  asWaiting,
  inserted,
  type Lane,
  newLane,
} from '../../../machines/jobs/worker-pool/lanes.ts';
import { laneOf } from '../../../machines/jobs/worker-pool/steps.ts';
import type { MigratedState } from '../../../runtime/kind.ts';

interface Persisted {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

const WAITED = ['asking', 'turnedAway'];

export function workflowToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { PENDING } = ((snapshot as Persisted).value ?? {}) as { readonly PENDING?: string };
  if (PENDING === undefined || !WAITED.includes(PENDING)) return { snapshot, timers };
  return { snapshot: { ...(snapshot as Persisted), value: { PENDING: 'queued' } }, timers };
}

/** How many it keeps is told it by whoever leads. */
const QUEUE_MAX = 256;

export function poolToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { queue, hasTurnedAway: _, ...others } = context;
  const lanes: Record<string, Lane> = {};
  for (const asked of queue as ReadonlyArray<Omit<SlotRequested, 'type'>>) {
    const name = laneOf(asked);
    lanes[name] = inserted(lanes[name] ?? newLane(name, true), asWaiting(asked));
  }
  const serving = { placing: 'waiting', searching: 'idle' };
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value: value === 'suspended' ? value : { serving },
      context: {
        ...others,
        ...{ queueMax: QUEUE_MAX, lanes, unexplored: [], search: null, searches: 0 },
      },
    },
    timers,
  };
}
