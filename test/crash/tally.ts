/**
 * Tally of the crash rig: what was sent and acknowledged, and what the sinks noted.
 *
 * Guarantees: the verdict needs nothing but these notes and the stored counters. An acknowledged
 * add must have exactly one effect at a sink and count once in its counter; the numbers of a
 * counter must come without gaps, repetitions or changes of order; a deadline must have been
 * due when it was armed for, and not before.
 */

import { type CounterContext, type Noted, type Role, TICK_MS, type TickNoted } from './machines.ts';

export interface Add {
  readonly token: string;
  readonly counter: string;
  readonly role: Role;
  readonly n: number;
}

export interface Findings {
  readonly ackedLost: number;
  readonly duplicated: number;
  readonly timersLost: number;
  readonly timersEarly: number;
  /** One line each, the first few. */
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 20;
/** Two processes read the wall clock once each; between the readings it may be corrected a little. */
const CLOCKS_APART_MS = 50;

export class Tally {
  readonly #acked = new Map<string, Add>();
  readonly #added = new Map<string, number>();
  readonly #charged = new Map<string, Set<string>>();
  readonly #visited = new Map<string, number>();
  /** The last number that each counter gave to an add. */
  readonly #counts = new Map<string, number>();
  readonly #ticks = new Map<string, TickNoted>();
  readonly #examples: string[] = [];
  #ackedLost = 0;
  #duplicated = 0;
  #timersLost = 0;
  #timersEarly = 0;
  /** Notes so far that are not ticks: while it grows, something is still under way. */
  notes = 0;
  ticks = 0;

  get acked(): number {
    return this.#acked.size;
  }

  acknowledged(add: Add): void {
    this.#acked.set(add.token, add);
  }

  note(noted: Noted, now: number): void {
    if (noted.type === 'sink.ticked') {
      this.#tick(noted, now);
      return;
    }
    this.notes += 1;
    const { token } = noted;
    if (noted.type === 'sink.added') {
      increase(this.#added, token);
      const before = this.#counts.get(noted.counter) ?? 0;
      this.#counts.set(noted.counter, noted.count);
      if (noted.count <= before) {
        this.#duplicated += 1;
        this.#tell(`${noted.counter} gave number ${noted.count} after ${before} (${token})`);
      } else if (noted.count > before + 1) {
        this.#ackedLost += noted.count - before - 1;
        this.#tell(`${noted.counter} gave number ${noted.count} after ${before}`);
      }
    } else if (noted.type === 'sink.charged') {
      const effects = this.#charged.get(token) ?? new Set();
      this.#charged.set(token, effects.add(noted.effectId));
    } else {
      increase(this.#visited, token);
    }
  }

  /** True when everything acknowledged has left its traces. */
  isComplete(): boolean {
    for (const add of this.#acked.values()) if (this.#isMissing(add)) return false;
    return true;
  }

  /** True when each of these counters has ticked since that moment. */
  hasTickedSince(counters: readonly string[], moment: number): boolean {
    return counters.every((counter) => (this.#ticks.get(counter)?.firedAt ?? 0) >= moment);
  }

  /** Compares everything, at the end. `stored` reads a counter's context from the directory. */
  judge(
    counters: readonly string[],
    ticking: { readonly counters: readonly string[]; readonly since: number },
    stored: (counter: string) => CounterContext | undefined,
  ): Findings {
    const sums = new Map<string, { count: number; sum: number }>();
    for (const add of this.#acked.values()) {
      const { count, sum } = sums.get(add.counter) ?? { count: 0, sum: 0 };
      sums.set(add.counter, { count: count + 1, sum: sum + add.n });
      this.#judgeAdd(add);
    }
    for (const counter of counters) {
      const expected = sums.get(counter) ?? { count: 0, sum: 0 };
      const { count = 0, sum = 0 } = stored(counter) ?? {};
      if (count === expected.count && sum === expected.sum) continue;
      this.#tell(
        `${counter} holds ${count} adds (${sum}), ${expected.count} (${expected.sum}) are acknowledged`,
      );
      if (count > expected.count) this.#duplicated += count - expected.count;
      else this.#ackedLost += Math.max(1, expected.count - count);
    }
    for (const counter of ticking.counters) {
      if (this.hasTickedSince([counter], ticking.since)) continue;
      this.#timersLost += 1;
      this.#tell(`${counter} has not ticked since the last start`);
    }
    return {
      ackedLost: this.#ackedLost,
      duplicated: this.#duplicated,
      timersLost: this.#timersLost,
      timersEarly: this.#timersEarly,
      examples: this.#examples,
    };
  }

  #judgeAdd(add: Add): void {
    const { token, role } = add;
    if (this.#isMissing(add)) {
      this.#ackedLost += 1;
      this.#tell(`add ${token} of ${add.counter} (${role}) was acknowledged and left no trace`);
    }
    const effects = this.#charged.get(token)?.size ?? 0;
    for (const times of [this.#added.get(token) ?? 0, this.#visited.get(token) ?? 0, effects]) {
      if (times < 2) continue;
      this.#duplicated += times - 1;
      this.#tell(`add ${token} of ${add.counter} (${role}) took effect ${times} times`);
    }
  }

  #isMissing({ token, role }: Add): boolean {
    if (!this.#added.has(token)) return true;
    if (role === 'charging') return !this.#charged.has(token);
    return role === 'visiting' && !this.#visited.has(token);
  }

  #tick(tick: TickNoted, now: number): void {
    this.ticks += 1;
    const { counter, number, armedAt, dueAt, firedAt } = tick;
    const before = this.#ticks.get(counter);
    this.#ticks.set(counter, tick);
    if (
      number !== (before?.number ?? 0) + 1 ||
      (before !== undefined && before.firedAt !== armedAt)
    ) {
      this.#timersLost += 1;
      this.#tell(
        `${counter} ticked ${number} after ${before?.number} at ${before?.firedAt}, armed at ${armedAt}`,
      );
    }
    if (dueAt === armedAt + TICK_MS && firedAt >= dueAt && now >= dueAt - CLOCKS_APART_MS) return;
    this.#timersEarly += 1;
    this.#tell(
      `${counter} ticked at ${firedAt} (${now} here), armed at ${armedAt}, due at ${dueAt}`,
    );
  }

  #tell(example: string): void {
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push(example);
  }
}

function increase(times: Map<string, number>, token: string): void {
  times.set(token, (times.get(token) ?? 0) + 1);
}
