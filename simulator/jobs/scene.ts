/** The scene of a run with a jobs system in it: its world, the system, and the clients that ask it. */

import type { Scene, Strike } from '../faults.ts';
import type { Clients } from './clients.ts';
import type { JobsShape } from './shape.ts';
import type { JobsSystem } from './system.ts';

export interface JobsScene extends Scene {
  readonly shape: JobsShape;
  readonly system: JobsSystem;
  readonly clients: Clients;
}

/** A nemesis at work on a jobs system. */
export type JobsStrike = Strike<JobsScene>;
