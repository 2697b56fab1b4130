/**
 * Ports of a node: its identity, its adapters and limits, and a listener to its life.
 */

import type { Inspection, InspectionReader } from '../base/inspection.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lease } from '../ports/lease.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { Transport } from '../ports/transport.ts';

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

export interface StartPorts<TRuntime> extends NodePorts {
  readonly signal?: AbortSignal | undefined;
  /** Registers the kinds that have to be known before the first message. */
  readonly prepare?: ((runtime: TRuntime) => void) | undefined;
}
