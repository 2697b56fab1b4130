/**
 * Histories of many actors of a kind, sampled: times spent in states, timeouts, transitions taken.
 *
 * The stores keep histories whether somebody looks or not, so a window of a day has data at once. A bounded number
 * of actors is read, those of the index first, in one go per kind and at most every few seconds.
 */

import { knob } from '../../runtime/base/knob.ts';
import type { FleetState, FleetView, Series, TimeoutLine, TurnLine } from '../protocol.ts';
import type { ShadowedActor } from '../shadows.ts';
import { activePaths, takenTransitions } from '../state-paths.ts';
import { deadlineName, dwells, enteredAt, isDeadlineTurn, statesBefore } from '../turn-lines.ts';
import type { KindCounts } from './index-scan.ts';
import type { LiveContext } from './live-context.ts';

const ACTORS_SAMPLED = knob('inspectorActorsSampled', 300);
const TURNS_SAMPLED = 100;
/** Records that are read whole. */
const SHADOWED_READ = 100;
const FRESH_MS = 5_000;
const BEYOND_MAX = 20;
const STEPS = 60;

interface Sample {
  readonly at: number;
  readonly actors: ReadonlyArray<{
    readonly address: string;
    readonly state: string;
    readonly isActive: boolean;
    readonly turns: readonly TurnLine[];
  }>;
  /** Earliest moment that all of them together have. */
  readonly since: number;
}

export class Histories {
  readonly #context: LiveContext;
  readonly #samples = new Map<string, Sample>();

  constructor(context: LiveContext) {
    this.#context = context;
  }

  clear(): void {
    this.#samples.clear();
  }

  fleet(
    kind: string,
    windowMs: number,
    counts: KindCounts | undefined,
  ): Omit<FleetView, 'missing'> {
    const sample = this.#of(kind);
    const now = this.#context.now();
    const chart = this.#context.definition(kind)?.chart;
    const from = now - windowMs;
    const spent = new Map<string, number[]>();
    const taken: Record<string, number> = {};
    for (const { turns } of sample.actors) {
      dwells(turns, (path, ms, endedAt) => {
        if (endedAt < from) return;
        const values = spent.get(path) ?? [];
        spent.set(path, values);
        values.push(ms);
      });
      if (chart === undefined) continue;
      const before = statesBefore(turns);
      turns.forEach(({ at, event, state }, index) => {
        const was = before[index];
        if (at < from || was === undefined) return;
        const ids = takenTransitions(chart, activePaths(was), event, activePaths(state ?? was));
        for (const id of ids ?? []) taken[id] = (taken[id] ?? 0) + 1;
      });
    }
    return {
      at: now,
      kind,
      ...(chart !== undefined && { definition: chart.hash }),
      windowMs,
      since: Math.max(from, sample.since),
      states: this.#states(sample, spent, counts, now),
      transitions: taken,
    };
  }

  timeouts(kind: string, windowMs: number): TimeoutLine[] {
    const sample = this.#of(kind);
    const now = this.#context.now();
    const from = now - windowMs;
    const chart = this.#context.definition(kind)?.chart;
    const stepMs = Math.max(1_000, Math.floor(windowMs / STEPS));
    const lines = new Map<string, DeadlineCount>();
    for (const { turns } of sample.actors) {
      for (const turn of turns) {
        if (turn.at < from || !isDeadlineTurn(turn)) continue;
        const reason = deadlineName(turn.event, chart);
        const line = lines.get(reason) ?? {
          source: chart?.transitions.find(({ timer }) => timer === turn.event)?.source,
          count: 0,
          moved: 0,
          values: new Array<number>(STEPS).fill(0),
          cameAt: new Set<number>(),
        };
        lines.set(reason, line);
        line.count += 1;
        line.moved += turn.state === undefined ? 0 : 1;
        line.cameAt.add(turn.at);
        const step = Math.min(STEPS - 1, Math.floor((turn.at - from) / stepMs));
        line.values[step] = (line.values[step] ?? 0) + 1;
      }
    }
    return [...lines].map(([reason, line]) => {
      const rate: Series = { stepMs, values: line.values };
      const { count, moved } = line;
      return {
        ...{ kind, reason, count, rate },
        ...(moved === 0 ? { isRhythm: true } : this.#against(sample, line, from)),
      };
    });
  }

  /** Actors of the sample whose contexts tell of deadlines that were not enforced. */
  *shadowed(kinds: readonly string[]): Iterable<ShadowedActor> {
    for (const kind of kinds)
      for (const { address, state, isActive } of this.#of(kind).actors.slice(0, SHADOWED_READ)) {
        const context = this.#context.watch.report(address)?.context;
        yield { address, kind, state: isActive ? undefined : state, context };
      }
  }

  /** Stays that a deadline ended, which tell its limit, against those that ended in time. */
  #against(
    sample: Sample,
    { source, cameAt }: DeadlineCount,
    from: number,
  ): Pick<TimeoutLine, 'limitMs' | 'durationP99Ms' | 'recommendation'> {
    const limits: number[] = [];
    const inTime: number[] = [];
    for (const { turns } of sample.actors)
      dwells(turns, (path, ms, endedAt) => {
        if (path !== source || endedAt < from) return;
        (cameAt.has(endedAt) ? limits : inTime).push(ms);
      });
    const [limitMs, durationP99Ms] = [quantile(limits, 0.5), quantile(inTime, 0.99)];
    const least = quantile(limits, 0.05);
    // Where each actor has a limit of its own there is none to compare with.
    if (limitMs === undefined || least === undefined || least < 0.9 * limitMs) return {};
    if (durationP99Ms === undefined || inTime.length < STAYS_MIN) return { limitMs };
    // A stay in time that is longer than the limit had another one.
    if (durationP99Ms > limitMs) return {};
    const recommendation = recommendationOf(durationP99Ms / limitMs);
    return { limitMs, durationP99Ms, ...(recommendation !== undefined && { recommendation }) };
  }

  #states(
    sample: Sample,
    spent: ReadonlyMap<string, number[]>,
    counts: KindCounts | undefined,
    now: number,
  ): FleetState[] {
    const byPath = new Map<string, number>();
    for (const [state, count] of counts?.states ?? countsOf(sample))
      for (const path of activePaths(state)) byPath.set(path, (byPath.get(path) ?? 0) + count);
    const paths = new Set([...byPath.keys(), ...spent.keys()]);
    return [...paths].sort().map((path) => {
      const values = spent.get(path) ?? [];
      const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => quantile(values, share));
      return {
        path,
        count: byPath.get(path) ?? 0,
        ...(p50 !== undefined && { dwellP50Ms: p50 }),
        ...(p99 !== undefined && { dwellP99Ms: p99 }),
        ...(p999 !== undefined && { dwellP999Ms: p999 }),
        beyond: p999 === undefined || path === '' ? [] : beyond(sample, path, now - p999),
      };
    });
  }

  #of(kind: string): Sample {
    const now = this.#context.now();
    const known = this.#samples.get(kind);
    if (known !== undefined && now - known.at < FRESH_MS) return known;
    const limit = Math.min(1_000, ACTORS_SAMPLED.value);
    const { runtime } = this.#context;
    const { actors } = runtime.isHosting ? runtime.query({ kind, limit }) : { actors: [] };
    const read = actors.map(({ address, state, status }) => ({
      address,
      state,
      isActive: status === 'active',
      turns: this.#context.turns(address, TURNS_SAMPLED),
    }));
    const starts = read.flatMap(({ turns }) => (turns[0] === undefined ? [] : [turns[0].at]));
    const sample = { at: now, actors: read, since: Math.min(now, ...starts) };
    this.#samples.set(kind, sample);
    return sample;
  }
}

interface DeadlineCount {
  /** State that waits for it. */
  readonly source: string | undefined;
  count: number;
  /** Times that it changed the state. */
  moved: number;
  readonly values: number[];
  readonly cameAt: Set<number>;
}

/** Stays from which on a quantile of them says something. */
const STAYS_MIN = 20;

/** `share`: what 99 of 100 that end in time take of the limit. */
function recommendationOf(share: number): string | undefined {
  if (share > 0.8 && share <= 1)
    return 'The limit is tight: those that end in time often come close to it.';
  if (share < 0.1) return 'The limit is wide: those that end in time take a tenth of it at most.';
  return undefined;
}

/** How long actors of a kind usually stay in a state: p50 of what was sampled, by path. */
export function usualDwells(fleet: Pick<FleetView, 'states'>): ReadonlyMap<string, number> {
  return new Map(
    fleet.states.flatMap(({ path, dwellP50Ms }) =>
      dwellP50Ms === undefined || path === '' ? [] : [[path, dwellP50Ms] as const],
    ),
  );
}

function countsOf({ actors }: Sample): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state } of actors) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

function beyond({ actors }: Sample, path: string, before: number): FleetState['beyond'] {
  const found: Array<{ address: string; since: number }> = [];
  for (const { address, state, isActive, turns } of actors) {
    if (!isActive || !activePaths(state).has(path)) continue;
    const since = enteredAt(turns, [path])[path];
    if (since !== undefined && since < before) found.push({ address, since });
  }
  return found.sort((one, other) => one.since - other.since).slice(0, BEYOND_MAX);
}

function quantile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
