/**
 * Views of a recording: the same questions that a living node is asked, answered from what was recorded. Pure and
 * safe in a browser.
 */

import { type Lookup, messagesOf, type Parameters, textOf, timelineOf, whyOf } from '../lookup.ts';
import type { ActorLine, ActorsPage, ActorsQuery, FleetState } from '../protocol.ts';
import { activePaths } from '../state-paths.ts';
import { dwells } from '../turn-lines.ts';
import type { Recorded, RecordedActor } from './recorded.ts';
import { failureIn, toldIn } from './recorded-failure.ts';
import { overviewIn } from './recorded-overview.ts';

const LIMIT = 200;

export function recordedLookup(recorded: Recorded): Lookup {
  return {
    now: () => recorded.range.to,
    evidence: async (address) => recorded.evidence(address),
    actors: async (query) => actorsIn(recorded, query),
    chart: (kind) => recorded.chart(kind),
    usual: async (kind) => usualIn(recorded, kind),
    messages: (addresses) =>
      recorded.messages.areKnown ? recorded.messages.of(new Set(addresses)) : undefined,
    cluster: () => {
      const nodes = recorded.cluster.nodes(recorded.range.to);
      const faults = recorded.cluster.faults(recorded.range.to);
      return { ...(nodes.length > 0 && { nodes }), ...(faults.length > 0 && { faults }) };
    },
  };
}

/** Answer to a query by its path; undefined for a path that a recording has no answer to. */
export async function recordedView(
  whole: Recorded,
  path: string,
  parameters: Parameters,
): Promise<object | undefined> {
  const recorded = textOf(parameters, 'run') === 'other' ? whole.other?.recorded : whole;
  if (recorded === undefined) return undefined;
  const lookup = recordedLookup(recorded);
  const at = recorded.range.to;
  const address = textOf(parameters, 'address') ?? '';
  switch (path) {
    case 'overview':
      return overviewIn(recorded);
    case 'actors':
      return actorsIn(recorded, parameters as ActorsQuery);
    case 'actor':
      return { at, ...actorIn(recorded, address) };
    case 'turns':
      return { at, turns: recorded.turns(address) };
    case 'definition': {
      const kind = textOf(parameters, 'kind') ?? '';
      const chart = recorded.chart(kind);
      return chart === undefined ? undefined : { kind, version: 1, chart };
    }
    case 'fleet': {
      const kind = textOf(parameters, 'kind') ?? '';
      const { from, to } = recorded.range;
      return {
        at,
        kind,
        windowMs: to - from,
        since: from,
        states: statesIn(recorded, kind),
        transitions: {},
        missing: [],
      };
    }
    case 'timeline':
      return timelineOf(lookup, parameters);
    case 'messages':
      return messagesOf(lookup, parameters);
    case 'why':
      return whyOf(lookup, address);
    case 'failure':
      return failureIn(recorded);
    case 'runs':
      return { at, runs: recorded.runs, more: recorded.runsMore, missing: [] };
    case 'told':
      return toldIn(recorded, parameters);
    case 'undelivered':
      return { at, rows: recorded.letters, missing: [] };
    default:
      return undefined;
  }
}

function lineOf(actor: RecordedActor): ActorLine {
  const { address, kind, node, status, state, turnAt, timers, turns } = actor;
  const dueAt = Math.min(...timers.map((timer) => timer.dueAt));
  const place = address.slice(address.lastIndexOf('@') + 1);
  const lastError = turns.findLast(({ error }) => error !== undefined)?.error;
  return {
    address,
    kind,
    key: address.slice(kind.length + 1, address.lastIndexOf('@')),
    place,
    node,
    status,
    state,
    tags: [],
    turnAt,
    ...(Number.isFinite(dueAt) && status === 'active' && { dueAt }),
    isPending: false,
    ...(lastError !== undefined && { lastError: `${lastError.code}: ${lastError.message}` }),
  };
}

function actorsIn(recorded: Recorded, query: ActorsQuery): ActorsPage {
  const {
    kind,
    status,
    state,
    text,
    place,
    node,
    sort = 'address',
    order = 'asc',
    limit,
    cursor,
    failed,
  } = query;
  const wanted = [...recorded.actors.values()]
    .map(lineOf)
    .filter(
      (line) =>
        (kind === undefined || line.kind === kind) &&
        (status === undefined || line.status === status) &&
        (state === undefined || line.state === state) &&
        (place === undefined || line.place === place) &&
        (node === undefined || line.node === node) &&
        (failed === undefined || line.status === 'stopped') &&
        (text === undefined || line.address.toLowerCase().includes(text.toLowerCase())),
    );
  const field = sort === 'deadline' ? 'dueAt' : sort;
  const sign = order === 'desc' ? -1 : 1;
  wanted.sort((one, other) => sign * compare(one[field], other[field]));
  const start = cursor === undefined ? 0 : Number(cursor);
  const rows = wanted.slice(start, start + Math.min(LIMIT, Number(limit ?? 100)));
  const next = start + rows.length;
  return {
    at: recorded.range.to,
    rows,
    total: wanted.length,
    ...(next < wanted.length && { cursor: String(next) }),
    missing: [],
  };
}

function compare(one: string | number | undefined, other: string | number | undefined): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -1 : 1;
}

function actorIn(recorded: Recorded, address: string): object {
  const evidence = recorded.evidence(address);
  const actor = recorded.actors.get(address);
  if (evidence === undefined || actor === undefined) return { why: 'It is not in this recording.' };
  const chart = recorded.chart(actor.kind);
  const bytes = (JSON.stringify(actor.context) ?? '').length;
  return {
    actor: {
      ...lineOf(actor),
      outbox: 0,
      turns: actor.turns.at(-1)?.turn ?? 0,
      version: 1,
      ...(chart !== undefined && { definition: chart.hash }),
      active: [...activePaths(actor.state)],
      enteredAt: evidence.enteredAt ?? {},
      deadlines: evidence.deadlines,
      exits: evidence.exits,
      children: [],
      effects: [],
      waitingMessages: [],
      mailbox: [],
      mailboxSize: 0,
      context: { value: actor.context ?? null, bytes, isCut: false, redacted: [] },
      events: [],
    },
  };
}

function statesIn(recorded: Recorded, kind: string): FleetState[] {
  const counts = new Map<string, number>();
  const spent = new Map<string, number[]>();
  for (const actor of recorded.actors.values()) {
    if (actor.kind !== kind) continue;
    for (const path of activePaths(actor.state)) counts.set(path, (counts.get(path) ?? 0) + 1);
    dwells(actor.turns, (path, ms) => spent.set(path, [...(spent.get(path) ?? []), ms]));
  }
  return [...new Set([...counts.keys(), ...spent.keys()])].sort().map((path) => {
    const values = (spent.get(path) ?? []).sort((one, other) => one - other);
    const p50 = values[Math.ceil(values.length / 2) - 1];
    const p99 = values[Math.ceil(values.length * 0.99) - 1];
    return {
      path,
      count: counts.get(path) ?? 0,
      ...(p50 !== undefined && { dwellP50Ms: p50 }),
      ...(p99 !== undefined && { dwellP99Ms: p99 }),
      beyond: [],
    };
  });
}

function usualIn(recorded: Recorded, kind: string): ReadonlyMap<string, number> {
  return new Map(
    statesIn(recorded, kind).flatMap(({ path, dwellP50Ms }) =>
      dwellP50Ms === undefined ? [] : [[path, dwellP50Ms] as const],
    ),
  );
}
