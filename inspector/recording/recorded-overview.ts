/**
 * Overview of a recording: kinds by their last states, and what happened in each part of the recorded time. Pure.
 */

import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import type { Attention, KindLine, Overview } from '../protocol.ts';
import { isDeadlineTurn } from '../turn-lines.ts';
import type { Recorded } from './recorded.ts';

export function overviewIn(recorded: Recorded): Overview {
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
    attention: attentionIn(recorded),
    soonest: soonestIn(recorded),
    undelivered: recorded.letters.length,
    missing: [],
  };
}

/** Deadlines that are told. */
const SOONEST = 10;

function soonestIn({ actors }: Recorded): Overview['soonest'] {
  return [...actors.values()]
    .filter(({ status }) => status === 'active')
    .flatMap(({ address, state, timers }) => {
      const dueAt = Math.min(...timers.map((timer) => timer.dueAt));
      return Number.isFinite(dueAt) ? [{ address, state, dueAt }] : [];
    })
    .sort((one, other) => one.dueAt - other.dueAt)
    .slice(0, SOONEST);
}

/** What needed somebody at the last moment that is recorded. */
function attentionIn({ actors, letters, range: { to } }: Recorded): Attention[] {
  let [overdue, stopped, failed] = [0, 0, 0];
  for (const { status, timers, turns } of actors.values()) {
    if (status === 'stopped') stopped += 1;
    if (status === 'active' && timers.some(({ dueAt }) => dueAt < to)) overdue += 1;
    failed += turns.filter(({ error }) => error !== undefined).length;
  }
  const all: ReadonlyArray<readonly [Attention['sort'], number, string, string]> = [
    ['overdue', overdue, 'sort=deadline', 'a deadline has passed and was not taken'],
    ['failed', failed, '', 'failed: turns of all that is recorded'],
    ['stopped', stopped, 'status=stopped', 'stopped after a failure'],
    ['undelivered', letters.length, '', 'undelivered: nobody could take it'],
  ];
  return all
    .filter(([, count]) => count > 0)
    .map(([sort, count, list, text]) => ({ sort, count, isAtLeast: false, list, text }));
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
      const at = turn.trueAt ?? turn.at;
      add('turns', at);
      if (turn.event === SPAWN_EVENT) add('births', at);
      if (turn.error !== undefined) add('failed', at);
      if (isDeadlineTurn(turn)) add('timeouts', at);
      for (const _ of turn.did ?? []) add('messages', at);
    }
  }
  return rates;
}
