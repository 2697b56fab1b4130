/**
 * Faults made by hand, by a key or by a button of the page: each hits the next datacenter in turn.
 */

import type { Faults } from './faults.ts';
import type { Happenings } from './happenings.ts';
import { DATACENTERS, type Datacenter } from './topology.ts';

const WORKER_PAUSE_MS = 9_000;
const LEADER_AWAY_MS = 3_000;

export class FaultsByHand {
  readonly #faults: Faults;
  readonly #happenings: Happenings;
  readonly #makings: Readonly<Record<string, () => boolean>> = {
    partition: () => this.#togglePartition(),
    leader: () => DATACENTERS.some(() => this.#faults.killLeader(this.#next(), LEADER_AWAY_MS)),
    worker: () => DATACENTERS.some(() => this.#faults.pauseWorker(this.#next(), WORKER_PAUSE_MS)),
    gate: () => this.#faults.restartGate(),
  };
  #turn = 0;

  constructor(faults: Faults, happenings: Happenings) {
    this.#faults = faults;
    this.#happenings = happenings;
  }

  /** Makes the fault of this name; undefined when there is none of it. */
  make(name: string): { readonly isDone: boolean; readonly text: string } | undefined {
    if (!Object.hasOwn(this.#makings, name)) return undefined;
    const isDone = this.#makings[name]?.() === true;
    const { text = '' } = this.#happenings.all.at(-1) ?? {};
    return { isDone, text: isDone ? text : 'There is nothing now to do it to.' };
  }

  /** The next datacenter is cut off; one that is cut off already is healed. */
  #togglePartition(): boolean {
    const { cutOff } = this.#faults;
    if (cutOff === undefined) return this.#faults.cutOffDatacenter(this.#next());
    this.#faults.heal(cutOff);
    return true;
  }

  #next(): Datacenter {
    this.#turn += 1;
    return DATACENTERS[this.#turn % DATACENTERS.length] ?? 'A';
  }
}
