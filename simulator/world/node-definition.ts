/** Definition of a node of a pretend world: what it runs, and what it gives to that. */

import type { InspectionReader } from '../../runtime/base/inspection.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { SnapshotObserver, Subscription } from '../../runtime/effects.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import type { LeaseCounter } from './lease-office.ts';

/** What is running, as far as all programs have it. */
export interface RunningProgram {
  readonly runtime: {
    readonly isHosting: boolean;
    /** Its inspection stream; returns what ends the reading. */
    inspect(reader: InspectionReader): () => void;
    actor(address: string): { subscribe(observer: SnapshotObserver): Subscription };
    crash(): void;
  };
  /** Where it differs from crashing its runtime. */
  crash?(): void;
  stop(): Promise<void>;
}

/** What a program is started with, for one life of its node. */
export interface NodePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly store: Store;
  /** The way of this life to the lease store. */
  readonly counter: LeaseCounter;
  readonly logger: Logger;
  readonly inspect: InspectionReader;
  /** Its store has failed: the process ends. */
  readonly onFatal: (failure: Error) => void;
}

export interface NodeDefinition<TProgram extends RunningProgram = RunningProgram> {
  readonly node: string;
  /** The place that it hosts, or stands by for; its disk is that of the place. */
  readonly place: string;
  readonly start: (ports: NodePorts) => Promise<TProgram>;
}
