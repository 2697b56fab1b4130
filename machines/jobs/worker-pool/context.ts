/**
 * Record of the worker pool of a datacenter, and the events that it takes.
 */

import type { Timed } from '../../../runtime/machine.ts';
import type {
  LanesFound,
  LeadershipAcquired,
  LimitsTold,
  MessageRefused,
  SlotReleased,
  SlotRequested,
  SlotWithdrawn,
  WaitingFound,
  WorkerChanged,
  WorkerLost,
} from '../messages/local.ts';
import type { WorkerRegistered } from '../messages/worker.ts';
import type { HealthRules } from '../rules.ts';
import type { Lanes } from './lanes.ts';
import type { Workers } from './placement.ts';
import type { Known } from './searching.ts';

export type WorkerPoolEvent = Timed<
  | WorkerRegistered
  | WorkerChanged
  | WorkerLost
  | SlotRequested
  | SlotWithdrawn
  | SlotReleased
  | LanesFound
  | WaitingFound
  | LimitsTold
  | LeadershipAcquired
  | MessageRefused
>;

export interface WorkerPoolInput {
  readonly datacenter: string;
  readonly term: number;
  /** Rules for the workers' health, which is created here. */
  readonly rules: HealthRules;
  /** Workflows kept in memory that wait. */
  readonly queueMax: number;
}

export interface WorkerPoolContext extends WorkerPoolInput, Known {
  readonly workers: Workers;
  readonly lanes: Lanes;
  /** The number of the last registration of any worker. */
  readonly registrations: number;
  /** The number of the last search. */
  readonly searches: number;
}
