/** The paths of a manager's leadership: a lease store that answers in time, late, with no, or not at all. */

import { leadershipMachine } from '../../../machines/leadership.ts';
import type { PathPlan } from '../../paths/plan.ts';

const rules = { leaseMs: 6_000, leaseRenewMs: 2_000, leaseMarginMs: 500, leaseJitterMs: 1_000 };

interface Context {
  readonly request: number;
  readonly fence: number;
  readonly wantedFence: number;
  readonly hasChanged: boolean;
}

/** The answers to the last request, and to one before it. */
const answers = ({ request, fence }: Context) =>
  [request, request - 1].flatMap((asked) => [
    { type: 'lease.granted', request: asked, fence: fence + 1 },
    { type: 'lease.renewed', request: asked },
    { type: 'lease.raised', request: asked, fence: fence + 2 },
    { type: 'lease.refused', request: asked, jitter: 0.5 },
    { type: 'leaseStore.failed', request: asked, jitter: 0.5 },
  ]);

export const leadershipPlan: PathPlan = {
  machine: leadershipMachine,
  inputs: { manager: { rules } },
  events: (context: Context) => [
    ...answers(context),
    { type: 'leaseStore.changed' },
    { type: 'lease.expired' },
    { type: 'fence.raise', atLeast: context.fence + 2 },
    { type: 'fence.raise', atLeast: 0 },
    { type: 'lease.resign' },
  ],
  // Longer under way than the lease holds.
  late: ({ request, fence }: Context) => [
    { event: { type: 'lease.granted', request, fence: fence + 1 } as never, lateMs: 6_000 },
    { event: { type: 'lease.renewed', request } as never, lateMs: 6_000 },
  ],
  key: ({ hasChanged, wantedFence, fence }: Context) => [hasChanged, wantedFence > fence],
};
