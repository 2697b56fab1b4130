/**
 * One way between two nodes of a simulated network: what goes from the one to the other.
 *
 * Guarantees: what is sent in order arrives in that order, over all connections there ever are between
 * the two. While the way is clogged nothing arrives, and when it is released all of it does; so does what
 * waits for a slow reader once that is slow no more. What
 * chance decides here is drawn from streams of this way. Which links there are is not its business.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import { ClockLine, type LineTask } from '../clock-line.ts';
import { type Delay, drawDelay } from '../delay.ts';
import type { SeededRandom } from '../random.ts';
import type { NoiseSource, WayNoise } from './noise.ts';

const QUIET: readonly WayNoise[] = [];
const isSlow = ({ source }: WayNoise): boolean => source.noise.bytesPerSecond !== undefined;

export class NetworkWay {
  readonly from: string;
  readonly to: string;
  /** Nothing gets through, and nobody is told. */
  isSilent = false;
  /** What acts on frames that go this way. */
  noises: readonly WayNoise[] = QUIET;
  readonly #clock: Clock;
  readonly #line: ClockLine;
  readonly #delay: Delay;
  readonly #random: SeededRandom;

  constructor(from: string, to: string, clock: Clock, delay: Delay, random: SeededRandom) {
    this.from = from;
    this.to = to;
    this.#clock = clock;
    this.#line = new ClockLine(clock);
    this.#delay = delay;
    this.#random = random.stream(`delay/${from}>${to}`);
  }

  /** Behind all that was sent in order before. */
  bring(task: LineTask, extraMs = 0): void {
    this.#line.add(this.#clock.now() + this.#drawDelay() + extraMs, task);
  }

  /** On its own: others may overtake it, and it them. */
  bringApart(task: LineTask, extraMs: number): void {
    const at = this.#clock.now() + this.#drawDelay() + extraMs;
    this.#clock.schedule(at, () => this.#line.pass(task));
  }

  clog(): void {
    this.#line.hold();
  }

  release(): void {
    this.#line.release();
  }

  /** Noise that was here before goes on where it was in its streams. */
  listen(sources: Iterable<NoiseSource>): void {
    const noises: WayNoise[] = [];
    for (const source of sources) {
      if (!source.isAbout(this.from, this.to)) continue;
      const known = this.noises.find((noise) => noise.source === source);
      noises.push(known ?? source.onWay(this.from, this.to));
    }
    const wasSlow = this.noises.some((noise) => isSlow(noise) && !noises.includes(noise));
    this.noises = noises.length === 0 ? QUIET : noises;
    // Nothing waits any more for a reader that was slow.
    if (wasSlow && !noises.some(isSlow)) this.#line.hurry();
  }

  #drawDelay(): number {
    return this.#delay.shape === 'fixed' ? this.#delay.ms : drawDelay(this.#delay, this.#random);
  }
}
