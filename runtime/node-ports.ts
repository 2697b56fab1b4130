/** What a node is given: who it is, its ports, its limits, and who hears of its life. */

import type { Clock } from './clock.ts';
import type { Inspection, InspectionReader } from './inspection.ts';
import type { Lease } from './lease.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import type { Random } from './random.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';

export interface NodePorts {
  readonly node: string;
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly transport: Transport;
  readonly lease: Lease;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  /** Reports every context that JSON would change; default: one per kind, and looks at some. */
  readonly reportsEveryLoss?: boolean | undefined;
  /** Told when the store has failed after the start; the node has ended then. */
  readonly fatal: (failure: Error) => void;
  /** Told each time this node begins to host its place, under which fence. */
  readonly hosting?: ((fence: number) => void) | undefined;
  /** Told each time it has ceased to host it, under which fence. */
  readonly hostingEnded?: ((fence: number) => void) | undefined;
  /** Called before each batch of turns, and before a fact outside of one: the moment to begin or end reading. */
  readonly attend?: ((inspection: Inspection) => void) | undefined;
  /** Reads the inspection stream from its first record on. */
  readonly inspect?: InspectionReader | undefined;
}
