/**
 * Notices when nothing moves in this process, in a measure that does not depend on the machine.
 *
 * A stall is told in units: the CPU time of a known piece of work, measured in the same process. Other load on the
 * machine can only add to a measure, so the least of all that were taken counts. Of the time between two ticks no
 * more counts than the process has used of a CPU: one that waits for a CPU does not stall.
 */

/** More units than this between two ticks are a stall: 50 ms where a unit takes one. */
export const STALL_UNITS = 50;

export interface Stall {
  readonly units: number;
  readonly ms: number;
}

const TICK_MS = 5;
const UNIT_TRIES = 5;
/** No machine is faster; where CPU time is counted in coarse steps, a measure may be nothing. */
const UNIT_MS_MIN = 0.2;
const UNIT_OBJECTS = 5_000;
const UNIT_TEXT = JSON.stringify(
  Array.from({ length: UNIT_OBJECTS }, (_, index) => ({
    id: `workflow-${index}`,
    dependsOn: [`workflow-${index >> 1}`],
    isUp: index % 2 === 0,
  })),
);

export class StallWatch {
  #stalls: Stall[] = [];
  #unitMs = unitMs();
  #tickedAt = performance.now();
  #usedBefore = process.cpuUsage();

  constructor() {
    setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stalls since they were taken last, up to this moment. */
  take(): readonly Stall[] {
    this.#tick();
    const stalls = this.#stalls;
    this.#stalls = [];
    return stalls;
  }

  /** What was done since the last tick does not count. */
  forgive(): void {
    this.#tickedAt = performance.now();
    this.#usedBefore = process.cpuUsage();
  }

  #tick(): void {
    const ms = Math.min(performance.now() - this.#tickedAt, cpuMsSince(this.#usedBefore));
    // What is far from it needs no new measure.
    if (ms > (STALL_UNITS / 2) * this.#unitMs) {
      this.#unitMs = Math.min(this.#unitMs, unitMs());
      const units = Math.round(ms / this.#unitMs);
      if (units > STALL_UNITS) this.#stalls.push({ units, ms: Math.round(ms) });
    }
    this.forgive();
  }
}

/** Works for N units, whatever the machine. */
export function work(units: number): void {
  const before = process.cpuUsage();
  for (const limitMs = units * unitMs(); cpuMsSince(before) < limitMs; );
}

/** CPU time that a unit takes: of some tries the least. */
function unitMs(): number {
  const tries = Array.from({ length: UNIT_TRIES }, () => {
    const before = process.cpuUsage();
    JSON.parse(UNIT_TEXT);
    return cpuMsSince(before);
  });
  return Math.max(UNIT_MS_MIN, Math.min(...tries));
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
