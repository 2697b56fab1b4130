/**
 * Knobs: limits inside the product that no user has a reason to set, and that a simulation makes tiny.
 *
 * A page of 500, a cache of 2,000, a window of 64: what happens at such a boundary is seen in production
 * after weeks and in a test never, unless the boundary can be moved to where every run crosses it. A knob has
 * its usual value in every process but those that play simulated runs. It is turned before anything of a run
 * begins and never while something runs, so it is a constant for the code that reads it.
 *
 * `test/simulator/bounds.test.ts` finds limits that are neither an option nor a knob nor listed with the
 * reason why they are none.
 */

export interface Knob {
  readonly name: string;
  /** Value at this moment. */
  readonly value: number;
  readonly usual: number;
}

interface TurnedKnob extends Knob {
  value: number;
}

const KNOBS = new Map<string, TurnedKnob>();

/** Declares a knob, once for each name. */
export function knob(name: string, usual: number): Knob {
  if (KNOBS.has(name)) throw new Error(`There is a knob "${name}" already.`);
  const declared: TurnedKnob = { name, value: usual, usual };
  KNOBS.set(name, declared);
  return declared;
}

/** All knobs of the modules that are loaded. */
export function knobs(): readonly Knob[] {
  return [...KNOBS.values()];
}

/** Turns these, and all others back to their usual values; returns what turns all back. @throws {RangeError} */
export function turnKnobs(values: Readonly<Record<string, number>>): () => void {
  for (const [name, value] of Object.entries(values)) {
    if (!KNOBS.has(name)) throw new RangeError(`There is no knob "${name}".`);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`Knob "${name}" takes whole numbers from 0 on, got ${value}.`);
  }
  const turnAll = (to: Readonly<Record<string, number>>): void => {
    for (const declared of KNOBS.values()) declared.value = to[declared.name] ?? declared.usual;
  };
  turnAll(values);
  return () => turnAll({});
}
