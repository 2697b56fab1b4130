/**
 * A network that loses, repeats, delays and reorders frames, from one seed.
 *
 * It wraps the transports of an in-process network: what goes wrong happens to a frame on
 * its way in, so links, cuts and heals stay those of the network below. It is worse than
 * any transport may be: frames of one connection overtake each other.
 */

import type { Transport } from '../../runtime/ports/transport.ts';
import type { SimulatedClock } from '../../simulator/world/clock.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

export interface Faults {
  /** Share of the frames that are lost, and of those that arrive twice. */
  readonly lost: number;
  readonly doubled: number;
  readonly delayMaxMs: number;
}

export const NO_FAULTS: Faults = { lost: 0, doubled: 0, delayMaxMs: 0 };

export class LossyNetwork {
  faults: Faults;
  /** Sees every frame before anything happens to it; false loses it. */
  filter: (from: string, to: string, frame: string) => boolean = () => true;
  frames = 0;
  /** What every frame takes at least; with this alone they keep their order. */
  delayMs = 0;
  readonly #clock: SimulatedClock;
  readonly #random: SeededRandom;
  readonly #network = inProcessNetwork();

  constructor(clock: SimulatedClock, seed: number, faults: Faults = NO_FAULTS) {
    this.#clock = clock;
    this.#random = new SeededRandom(seed, 'network');
    this.faults = faults;
  }

  cut(node: string, other: string): void {
    this.#network.cut(node, other);
  }

  heal(node: string, other: string): void {
    this.#network.heal(node, other);
  }

  join(node: string): Transport {
    const inner = this.#network.join(node);
    let isStopped = false;
    return {
      start: (listener) => inner.start(listener),
      peers: () => inner.peers(),
      stop: () => {
        isStopped = true;
        return inner.stop();
      },
      send: (to, frame) => {
        this.frames += 1;
        if (!inner.peers().includes(to)) return false;
        const { lost, doubled, delayMaxMs } = this.faults;
        if (!this.filter(node, to, frame) || this.#random.next() < lost) return true;
        const copies = this.#random.next() < doubled ? 2 : 1;
        for (let copy = 0; copy < copies; copy += 1) {
          const delayMs = this.delayMs + Math.floor(this.#random.next() * (delayMaxMs + 1));
          if (delayMs === 0) inner.send(to, frame);
          else
            this.#clock.schedule(this.#clock.now() + delayMs, () => {
              if (!isStopped) inner.send(to, frame);
            });
        }
        return true;
      },
    };
  }
}
