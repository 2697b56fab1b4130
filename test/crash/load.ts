/**
 * The load of the crash rig: a fixed number of adds in flight, each to a counter drawn by chance.
 *
 * Closed loop: when one is acknowledged the next is sent. An add that is not acknowledged is
 * repeated by the runtime's own delivery, under the same id, for as long as it takes.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Role } from './machines.ts';
import { PARENT, VICTIM } from './places.ts';
import type { Add } from './tally.ts';

/** Of twenty counters two charge, two spawn, two tick, and the others only add. */
const ROLES: readonly Role[] = ['charging', 'visiting', 'ticking'];
const ROLE_EVERY = 10;
const AMOUNT_MAX = 1_000;
const SINKS = 32;

export interface Counter {
  readonly address: string;
  readonly role: Role;
}

export interface LoadOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly counters: readonly Counter[];
  readonly inFlight: number;
  readonly acknowledged: (add: Add) => void;
}

export function countersOf(count: number): readonly Counter[] {
  return Array.from({ length: count }, (_, index) => ({
    address: `counter/${index}@${VICTIM}`,
    role: ROLES[index % ROLE_EVERY] ?? 'plain',
  }));
}

/** Spawns all sinks, here, and to all counters, at the victim. */
export async function spawnIt(runtime: Runtime, counters: readonly Counter[]): Promise<void> {
  const births = Array.from({ length: SINKS }, (_, sink) => born(runtime, `sink/${sink}`));
  for (const [index, { address, role }] of counters.entries()) {
    const sink = `sink/${index % SINKS}@${PARENT}`;
    births.push(born(runtime, address, { role, sink }));
  }
  await Promise.all(births);
}

async function born(runtime: Runtime, address: string, input?: object): Promise<void> {
  // A victim that dies meanwhile makes its spawn come twice: the second finds the actor there.
  await runtime.spawn(address, { input, ifAbsent: true });
}

export class Load {
  readonly #options: LoadOptions;
  readonly #runs: Promise<void>[] = [];
  /** What was refused for good, which nothing here gives a reason for. */
  readonly refused: string[] = [];
  #sent = 0;
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    for (let run = 0; run < options.inFlight; run += 1) this.#runs.push(this.#run());
  }

  get sent(): number {
    return this.#sent;
  }

  /** No further adds; resolves when all that are in flight are acknowledged. */
  async end(): Promise<void> {
    this.stop();
    await Promise.all(this.#runs);
  }

  /** No further adds: a run that has failed would be refused each of them at once, for ever. */
  stop(): void {
    this.#isOver = true;
  }

  async #run(): Promise<void> {
    const { runtime, random, counters, acknowledged } = this.#options;
    while (!this.#isOver) {
      const counter = counters[Math.floor(random.next() * counters.length)] as Counter;
      const n = 1 + Math.floor(random.next() * AMOUNT_MAX);
      this.#sent += 1;
      const token = `t${this.#sent}`;
      try {
        const event = { type: 'counter.add', n, token };
        await runtime.actor(counter.address).send(event, { id: token });
        acknowledged({ token, counter: counter.address, role: counter.role, n });
      } catch (thrown) {
        this.refused.push(`${token}: ${messageOf(thrown)}`);
      }
    }
  }
}
