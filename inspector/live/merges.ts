/**
 * Merges of what several nodes answer to the same query into one answer, by the path of the query.
 */

import { type Parameters, textOf } from '../lookup.ts';
import type {
  FleetState,
  FleetView,
  RunsView,
  ShadowLine,
  TimeoutLine,
  TimeoutsView,
  UndeliveredPage,
} from '../protocol.ts';
import { type LocalOverview, mergeOverviews, sumOf } from './overview.ts';

/** Answer of one node. */
export interface Part {
  readonly node: string;
  readonly view: object;
}

type Merge = (parts: readonly Part[], parameters: Parameters) => object;

const viewsOf = <TView>(parts: readonly Part[]): TView[] => parts.map(({ view }) => view as TView);

export const MERGES: Readonly<Record<string, Merge>> = {
  overview: (parts) => mergeOverviews(viewsOf<LocalOverview>(parts)),
  fleet: (parts) => mergeFleets(viewsOf<FleetView>(parts)),
  timeouts: (parts) => {
    const all = viewsOf<TimeoutsView>(parts);
    const [first] = all;
    return {
      windowMs: first?.windowMs ?? 0,
      since: Math.min(...all.map(({ since }) => since)),
      lines: mergeLines(all.flatMap(({ lines }) => lines)),
      pending: (first?.pending ?? []).map(({ withinMs }, index) => ({
        withinMs,
        count: all.reduce((sum, { pending }) => sum + (pending[index]?.count ?? 0), 0),
      })),
      soonest: all
        .flatMap(({ soonest }) => soonest)
        .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
        .slice(0, 50),
      ...(all.some(({ shadows }) => shadows !== undefined) && {
        shadows: mergeShadows(all.flatMap(({ shadows = [] }) => shadows)),
      }),
    };
  },
  runs: (parts) => {
    const all = viewsOf<RunsView>(parts);
    return {
      runs: all.flatMap(({ runs }) => runs),
      more: all.reduce((sum, { more }) => sum + more, 0),
    };
  },
  undelivered: (parts, parameters) => {
    const all = viewsOf<UndeliveredPage>(parts);
    const limit = Number(textOf(parameters, 'limit') ?? 100);
    const rows = all.flatMap((page) => page.rows).sort((one, other) => one.at - other.at);
    const cursor = parts.length === 1 ? all[0]?.cursor : undefined;
    return { rows: rows.slice(0, limit), ...(cursor !== undefined && { cursor }) };
  },
};

/** Lines of one kind and reason as one. The longest of their quantiles stands for all. */
function mergeLines(lines: readonly TimeoutLine[]): TimeoutLine[] {
  const merged = new Map<string, TimeoutLine>();
  for (const line of lines) {
    const key = `${line.kind} ${line.reason}`;
    const known = merged.get(key);
    if (known === undefined) {
      merged.set(key, line);
      continue;
    }
    merged.set(key, {
      ...withoutLimit(known),
      ...sharedLimit(known, line),
      count: known.count + line.count,
      rate: sumOf([known.rate, line.rate]),
      ...(known.isRhythm === true && { isRhythm: line.isRhythm === true }),
    });
  }
  return [...merged.values()].sort((one, other) => other.count - one.count);
}

const withoutLimit = ({ limitMs: _, durationP99Ms: __, ...line }: TimeoutLine): TimeoutLine => line;

/** Limit of two lines, where it is the same one, and what those take at most that end in time. */
function sharedLimit(
  one: TimeoutLine,
  other: TimeoutLine,
): Pick<TimeoutLine, 'limitMs' | 'durationP99Ms'> {
  const limits = [one.limitMs, other.limitMs].filter((each) => each !== undefined);
  const [limitMs, least] = [Math.max(...limits), Math.min(...limits)];
  if (limits.length < 2 || least < 0.9 * limitMs) return {};
  const longest = Math.max(one.durationP99Ms ?? 0, other.durationP99Ms ?? 0);
  return { limitMs, ...(longest > 0 && longest <= limitMs && { durationP99Ms: longest }) };
}

function mergeFleets(all: readonly FleetView[]): object {
  const [first] = all;
  if (first === undefined || all.length === 1) return first ?? {};
  const states = new Map<string, FleetState>();
  for (const state of all.flatMap((view) => view.states)) {
    const known = states.get(state.path);
    if (known === undefined) {
      states.set(state.path, state);
      continue;
    }
    // Quantiles of several nodes are those of the node that has most in the state.
    const larger = known.count >= state.count ? known : state;
    const beyond = [...known.beyond, ...state.beyond]
      .sort((a, b) => a.since - b.since)
      .slice(0, 20);
    states.set(state.path, { ...larger, count: known.count + state.count, beyond });
  }
  const transitions: Record<string, number> = {};
  for (const view of all)
    for (const [id, count] of Object.entries(view.transitions))
      transitions[id] = (transitions[id] ?? 0) + count;
  return {
    ...first,
    since: Math.min(...all.map(({ since }) => since)),
    states: [...states.values()],
    transitions,
  };
}

function mergeShadows(lines: readonly ShadowLine[]): ShadowLine[] {
  const merged = new Map<string, ShadowLine>();
  for (const line of lines) {
    const key = `${line.kind} ${line.reason}`;
    const { count = 0, completed = 0, living = 0 } = merged.get(key) ?? {};
    merged.set(key, {
      ...line,
      count: count + line.count,
      completed: completed + line.completed,
      living: living + line.living,
    });
  }
  return [...merged.values()].sort((one, other) => other.count - one.count);
}
