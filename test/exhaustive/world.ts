/**
 * A world: everything that decides what may happen next, as small numbers, and as one short text.
 *
 * Actors and messages are numbers that stand for states and contents met before. The text is exact:
 * two worlds with the same text are the same world, so that a set of texts is the set of worlds.
 */

/**
 * How far the gate has got with bringing the job to a datacenter. `astray`: the gate has given up,
 * and the datacenter may still get it. `taken`: the answer is on its way.
 */
export const DISPATCH = { none: 0, asking: 1, taken: 2, astray: 3, over: 4 } as const;

/** How a workflow stands, see work.ts. */
export const WORK = { none: 0, waiting: 1, ready: 2, out: 3, stopping: 4, over: 5 } as const;

/** No actor of that address. */
export const NOBODY = 0xffff;

export interface Site {
  isUp: boolean;
  fence: number;
  job: number;
  work: number;
  dispatch: number;
  /** The gate's program is to look up how the job ended here. */
  isSought: boolean;
}

/** Of kept messages, each in its order: the gate to A and to B, A and B to the gate. */
export const LANES = 4;

export interface World {
  /** Since zero. */
  nowMs: number;
  crashes: number;
  absences: number;
  delays: number;
  copies: number;
  cancels: number;
  grants: number;
  /** What has been counted as late: a bit for each lane, then one for bringing the job to each site. */
  late: number;
  isGateUp: boolean;
  gateFence: number;
  gate: number;
  readonly sites: readonly [Site, Site];
  /** Twice the message's number; one more when the receiver has refused it. */
  readonly lanes: number[][];
  /** Four times the message's number, and one for a copy, two for a late one. The oldest first. */
  hints: number[];
}

export function copyOf(world: World): World {
  const [first, second] = world.sites;
  return {
    ...world,
    sites: [{ ...first }, { ...second }],
    lanes: world.lanes.map((lane) => [...lane]),
    hints: [...world.hints],
  };
}

export function encodeWorld(world: World): string {
  const { sites, lanes, hints } = world;
  const numbers = [
    world.nowMs,
    world.crashes,
    world.absences,
    world.delays,
    world.copies,
    world.cancels,
    world.grants,
    world.late,
    world.isGateUp ? 1 : 0,
    world.gateFence,
    world.gate,
  ];
  for (const { isUp, fence, job, work, dispatch, isSought } of sites)
    numbers.push(isUp ? 1 : 0, fence, job, work, dispatch, isSought ? 1 : 0);
  for (const lane of lanes) numbers.push(lane.length, ...lane);
  numbers.push(...hints);
  // One unit for a small number, two for a larger one.
  const units: number[] = [];
  for (const number of numbers) {
    if (number < 0x8000) units.push(number);
    else units.push(0x8000 | (number >>> 15), number & 0x7fff);
  }
  return String.fromCharCode(...units);
}

export function decodeWorld(text: string): World {
  let place = 0;
  const next = (): number => {
    const unit = text.charCodeAt(place);
    place += 1;
    if (unit < 0x8000) return unit;
    place += 1;
    return ((unit & 0x7fff) << 15) | text.charCodeAt(place - 1);
  };
  const [nowMs, crashes, absences, delays] = [next(), next(), next(), next()];
  const [copies, cancels, grants, late] = [next(), next(), next(), next()];
  const [isGateUp, gateFence, gate] = [next() === 1, next(), next()];
  const site = (): Site => ({
    isUp: next() === 1,
    fence: next(),
    job: next(),
    work: next(),
    dispatch: next(),
    isSought: next() === 1,
  });
  const sites: [Site, Site] = [site(), site()];
  const lanes = Array.from({ length: LANES }, () => Array.from({ length: next() }, next));
  const hints: number[] = [];
  while (place < text.length) hints.push(next());
  const left = { crashes, absences, delays, copies, cancels, grants };
  return { nowMs, ...left, late, isGateUp, gateFence, gate, sites, lanes, hints };
}
