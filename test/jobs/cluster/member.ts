/**
 * One node of a cluster: it can crash and come back, be paused, and have a clock that is off.
 *
 * Guarantees: what crashed does nothing any more, neither by a timer nor on the lease store,
 * and tells nobody; only its store is what it was. What is started again under its name knows
 * what is in that store and nothing else.
 */

import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import type { Store } from '../../../runtime/ports/store.ts';
import type { Transport } from '../../../runtime/ports/transport.ts';
import type { LeaseCounter, LeaseOffice } from '../../../simulator/world/lease-office.ts';
import type { SimulatedNetwork } from '../../../simulator/world/network/network.ts';
import { NodeClock } from '../../../simulator/world/node-clock.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';

/** What is running, as far as all programs have it. */
export interface RunningProgram {
  readonly runtime: { readonly isHosting: boolean; crash(): void };
  stop(): Promise<void>;
}

/** What a program is started with, for one life of its node. */
export interface MemberPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly store: Store;
  /** The way of this life to the lease store. */
  readonly counter: LeaseCounter;
  readonly logger: Logger;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly network: SimulatedNetwork;
  /** A node's way into the network, for one life of it. */
  join(node: string): Transport;
  readonly office: LeaseOffice;
  readonly seed: number;
  logger(node: string): Logger;
}

interface Life<TProgram> {
  readonly clock: NodeClock;
  readonly counter: LeaseCounter;
  readonly program: TProgram;
  /** Ends what it logs. */
  readonly silence: () => void;
}

export class Member<TProgram extends RunningProgram = RunningProgram> {
  readonly node: string;
  /** How far its wall clock is ahead; it is read when the node starts. */
  skewMs = 0;
  readonly #surroundings: Surroundings;
  readonly #store: () => Store;
  readonly #begin: (ports: MemberPorts) => Promise<TProgram>;
  #life: Life<TProgram> | undefined;
  #lives = 0;

  constructor(
    node: string,
    surroundings: Surroundings,
    store: () => Store,
    begin: (ports: MemberPorts) => Promise<TProgram>,
  ) {
    this.node = node;
    this.#surroundings = surroundings;
    this.#store = store;
    this.#begin = begin;
  }

  get isRunning(): boolean {
    return this.#life !== undefined;
  }

  /** @throws {Error} when the node is down. */
  get program(): TProgram {
    if (this.#life === undefined) throw new Error(`Node "${this.node}" is down.`);
    return this.#life.program;
  }

  async start(): Promise<void> {
    if (this.#life !== undefined) throw new Error(`Node "${this.node}" is running already.`);
    const { office, seed, clock: below, logger } = this.#surroundings;
    const clock = new NodeClock(below, this.skewMs);
    const counter = office.counter(clock);
    const [ownLogger, silence] = mortal(logger(this.node));
    this.#lives += 1;
    const program = await this.#begin({
      clock,
      counter,
      // Another life draws other numbers: its ids are not those of the one before.
      random: new SeededRandom(seed, `${this.node}/${this.#lives}`),
      transport: this.#surroundings.join(this.node),
      store: this.#store(),
      logger: ownLogger,
    });
    this.#life = { clock, counter, program, silence };
  }

  crash(): void {
    if (this.#life === undefined) throw new Error(`Node "${this.node}" is down already.`);
    const { clock, counter, program, silence } = this.#life;
    this.#life = undefined;
    clock.end();
    counter.isOpen = false;
    silence();
    program.runtime.crash();
  }

  /** Stops in order. */
  async stop(): Promise<void> {
    const { program } = this;
    this.#life = undefined;
    await program.stop();
  }

  /** Freezes the process for so long. */
  pause(durationMs: number): void {
    const { network, clock } = this.#surroundings;
    this.#life?.clock.pause(durationMs);
    network.freeze(this.node);
    clock.schedule(clock.now() + durationMs, () => network.thaw(this.node));
  }

  /** Cuts the node off from the lease store, or lets it reach it again. */
  reachLeaseStore(isOpen: boolean): void {
    if (this.#life !== undefined) this.#life.counter.isOpen = isOpen;
  }
}

/** A log until it is silenced. */
function mortal(logger: Logger): readonly [Logger, () => void] {
  let isSilent = false;
  const pass = (level: keyof Logger) => (fields: object, message: string) => {
    if (!isSilent) logger[level](fields, message);
  };
  const own = {
    debug: pass('debug'),
    info: pass('info'),
    warn: pass('warn'),
    error: pass('error'),
  };
  return [
    own,
    () => {
      isSilent = true;
    },
  ];
}

/** @throws {Error} when there is no such node, or it is down. */
export function programOf<TProgram extends Member['program']>(
  members: ReadonlyMap<string, Member<TProgram>>,
  node: string,
): TProgram {
  const member = members.get(node);
  if (member === undefined) throw new Error(`There is no such node as "${node}".`);
  return member.program;
}
