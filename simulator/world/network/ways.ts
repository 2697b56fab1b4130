/**
 * All ways of a simulated network, and what is done to those that go from some nodes to others.
 *
 * Guarantees: a way that is first used later is as the others are by then: clogged, silent or
 * disturbed. It exists from then on, so its streams of chance are never begun again.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Delay } from '../delay.ts';
import type { SeededRandom } from '../random.ts';
import { matchesNode, type Nodes } from './interception.ts';
import { type Disturbance, type NoiseRule, NoiseSource } from './noise.ts';
import { NetworkWay } from './way.ts';

export interface WaysOptions {
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly delay: Delay;
  /** Nothing gets through between these two, and nobody is told. */
  isSilent(from: string, to: string): boolean;
}

interface Clog {
  readonly from: Nodes;
  readonly to: Nodes;
  readonly ways: Set<NetworkWay>;
}

export class NetworkWays {
  readonly #options: WaysOptions;
  readonly #ways = new Map<string, Map<string, NetworkWay>>();
  readonly #noises = new Set<NoiseSource>();
  readonly #clogs = new Set<Clog>();

  constructor(options: WaysOptions) {
    this.#options = options;
  }

  way(from: string, to: string): NetworkWay {
    const known = this.#ways.get(from)?.get(to);
    if (known !== undefined) return known;
    const { clock, random, delay, isSilent } = this.#options;
    const way = new NetworkWay(from, to, clock, delay, random);
    way.isSilent = isSilent(from, to);
    way.listen(this.#noises);
    for (const clog of this.#clogs) obstruct(clog, way);
    const waysFrom = this.#ways.get(from) ?? new Map<string, NetworkWay>();
    this.#ways.set(from, waysFrom.set(to, way));
    return way;
  }

  /** Asks again which of them are silent. */
  review(): void {
    const { isSilent } = this.#options;
    for (const way of this.#all()) way.isSilent = isSilent(way.from, way.to);
  }

  /** @throws {RangeError} */
  disturb(rule: NoiseRule): Disturbance {
    const source = new NoiseSource(rule, this.#options.random);
    this.#noises.add(source);
    this.#listen();
    return {
      get hits() {
        return source.hits;
      },
      change: (noise) => source.change(noise),
      end: () => {
        if (this.#noises.delete(source)) this.#listen();
      },
    };
  }

  clog(from: Nodes, to: Nodes): { end(): void } {
    const clog: Clog = { from, to, ways: new Set() };
    this.#clogs.add(clog);
    for (const way of this.#all()) obstruct(clog, way);
    return { end: () => this.#release(clog) };
  }

  calm(): void {
    for (const clog of this.#clogs) this.#release(clog);
    this.#noises.clear();
    this.#listen();
  }

  *#all(): Iterable<NetworkWay> {
    for (const ways of this.#ways.values()) yield* ways.values();
  }

  #listen(): void {
    for (const way of this.#all()) way.listen(this.#noises);
  }

  #release(clog: Clog): void {
    if (!this.#clogs.delete(clog)) return;
    for (const way of clog.ways) way.release();
  }
}

function obstruct(clog: Clog, way: NetworkWay): void {
  if (!matchesNode(clog.from, way.from) || !matchesNode(clog.to, way.to)) return;
  clog.ways.add(way);
  way.clog();
}
