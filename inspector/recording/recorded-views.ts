/**
 * Views of a recording: the same questions that a living node is asked, answered from what was recorded. Pure and
 * safe in a browser.
 */

import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import { type Lookup, messagesOf, type Parameters, textOf, timelineOf, whyOf } from '../lookup.ts';
import type {
  ActorLine,
  ActorsPage,
  ActorsQuery,
  FleetState,
  KindLine,
  Overview,
} from '../protocol.ts';
import { activePaths } from '../state-paths.ts';
import { dwells, isDeadlineTurn } from '../turn-lines.ts';
import type { Recorded, RecordedActor } from './recorded.ts';

const LIMIT = 200;

export function recordedLookup(recorded: Recorded): Lookup {
  return {
    now: () => recorded.range.to,
    evidence: async (address) => recorded.evidence(address),
    actors: async (query) => actorsIn(recorded, query),
    chart: (kind) => recorded.chart(kind),
    usual: async (kind) => usualIn(recorded, kind),
  };
}

/** Answer to a query by its path; undefined for a path that a recording has no answer to. */
export async function recordedView(
  recorded: Recorded,
  path: string,
  parameters: Parameters,
): Promise<object | undefined> {
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
    case 'undelivered':
      return { at, rows: [], missing: [] };
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

function overviewIn(recorded: Recorded): Overview {
  const { from, to } = recorded.range;
  const kinds = new Map<string, { states: Map<string, number>; active: number; ended: number }>();
  for (const { kind, state, status } of recorded.actors.values()) {
    const counts = kinds.get(kind) ?? { states: new Map(), active: 0, ended: 0 };
    kinds.set(kind, counts);
    counts.states.set(state, (counts.states.get(state) ?? 0) + 1);
    if (status === 'active') counts.active += 1;
    else counts.ended += 1;
  }
  const lines = [...kinds].map(([kind, { states, active, ended }]): KindLine => {
    const hash = recorded.chart(kind)?.hash;
    return {
      kind,
      version: 1,
      ...(hash !== undefined && { definition: hash }),
      states: [...states]
        .map(([state, count]) => ({ state, count }))
        .sort((a, b) => b.count - a.count),
      more: 0,
      active,
      ended,
    };
  });
  return {
    at: to,
    windowMs: to - from,
    kinds: lines,
    rates: ratesIn(recorded),
    nodes: (recorded.header?.nodes ?? []).map(({ node, place }) => ({
      node,
      place,
      isHosting: false,
      fence: 0,
      health: 'lost',
      why: 'recorded',
    })),
    links: [],
    backlog: [],
    attention: [],
    soonest: [],
    undelivered: 0,
    missing: [],
  };
}

const STEPS = 120;

/** What happened in each part of the recorded time. */
function ratesIn(recorded: Recorded): Overview['rates'] {
  const { from, to } = recorded.range;
  const stepMs = Math.max(1, Math.ceil((to - from + 1) / STEPS));
  const steps = Math.max(1, Math.ceil((to - from + 1) / stepMs));
  const series = () => ({ stepMs, values: new Array<number>(steps).fill(0) });
  const rates = {
    births: series(),
    ends: series(),
    turns: series(),
    failed: series(),
    timeouts: series(),
    messages: series(),
  };
  const add = (name: keyof typeof rates, at: number): void => {
    const { values } = rates[name];
    const step = Math.min(steps - 1, Math.max(0, Math.floor((at - from) / stepMs)));
    values[step] = (values[step] ?? 0) + 1;
  };
  for (const { turns, status, turnAt } of recorded.actors.values()) {
    if (status !== 'active') add('ends', turnAt);
    for (const turn of turns) {
      add('turns', turn.at);
      if (turn.event === SPAWN_EVENT) add('births', turn.at);
      if (turn.error !== undefined) add('failed', turn.at);
      if (isDeadlineTurn(turn)) add('timeouts', turn.at);
      for (const _ of turn.did ?? []) add('messages', turn.at);
    }
  }
  return rates;
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
