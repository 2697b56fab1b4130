/**
 * Nemeses around deadlines of actors: whatever keeps one is struck just before it, when
 * it is due, or just after.
 *
 * Deadlines are those that actors have, as they stand in the history, reckoned from the clock of the node
 * that keeps them. One that was moved meanwhile is left alone. After a strike the node has as much time
 * again, otherwise nothing would ever be due.
 */

import type { TimersFact } from '../history.ts';
import type { Chance, WorldNode } from '../world.ts';
import type { Nemesis } from './nemesis.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';

const OFFSETS_MS = [-1_000, -100, -10, -2, -1, 0, 1, 2, 10, 100];
const DOWN_MS = [1, 20, 500, 5_000, 20_000, 60_000];
/** As of the other nemeses of clocks. */
const STEP_MAX_MS = 60_000;

const drawn = (chance: Chance): Nemesis['params'] => ({
  offsetMs: chance.pick(OFFSETS_MS),
  downMs: chance.pick(DOWN_MS),
});

export const crashAtDeadline: NemesisKind = {
  kind: 'crashAtDeadline',
  says: 'The node that keeps a deadline dies just before it, at it or just after it, and is started again.',
  awaitsMoment: true,
  awaitsDeadlines: true,
  draw: (chance) => ({ targets: [], params: drawn(chance) }),
  begin: (strike) =>
    aroundDeadlines(strike, (name) => {
      if (strike.crash(name)) strike.after(strike.number('downMs'), () => strike.restart(name));
    }),
};

export const pauseAtDeadline: NemesisKind = {
  kind: 'pauseAtDeadline',
  says: 'The node that keeps a deadline stands still from just before it, from it or from just after it.',
  awaitsMoment: true,
  awaitsDeadlines: true,
  draw: (chance) => ({ targets: [], params: drawn(chance) }),
  begin: (strike) => aroundDeadlines(strike, (name) => strike.pause(name, strike.number('downMs'))),
};

export const stepClockAtDeadline: NemesisKind = {
  kind: 'stepClockAtDeadline',
  says: 'The wall clock of the node that keeps a deadline jumps around it, and the node is started again.',
  awaitsMoment: true,
  awaitsDeadlines: true,
  draw: (chance) => ({
    targets: [],
    params: {
      ...drawn(chance),
      byMs: Math.round(chance.scaled(1, STEP_MAX_MS)) * (chance.is(0.5) ? 1 : -1),
    },
  }),
  epsilonMs: ({ params: { byMs } }) => Math.abs(Number(byMs)),
  begin: (strike) => {
    const stepped = new Set<string>();
    aroundDeadlines(strike, (name) => {
      const node = strike.world.node(name);
      if (!node.isUp || stepped.has(name)) return;
      // Once for each node: two steps would be further than the plan says.
      stepped.add(name);
      const { skewMs } = node;
      node.skew(strike.number('byMs'));
      strike.whenOver(() => node.skew(skewMs));
      strike.crash(name);
      strike.after(strike.number('downMs'), () => strike.restart(name));
    });
  },
};

/** Calls `act` with the node that hosts the actor of a deadline then, `offsetMs` from it. */
function aroundDeadlines(strike: Strike, act: (node: string) => void): void {
  const { world } = strike;
  const offsetMs = strike.number('offsetMs');
  const armed = new Map<string, TimersFact>();
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  const awaitDeadlines = (
    fact: TimersFact,
    node: WorldNode,
    known: readonly Timer[] = [],
  ): void => {
    for (const timer of fact.timers) {
      const inMs = timer.dueAt - node.ownNow + offsetMs;
      if (known.some((other) => isSame(other, timer)) || inMs < 0 || inMs > strike.lastsMs)
        continue;
      strike.after(inMs, () => {
        const host = world.hostOf(fact.place);
        const isMoved = !armed.get(fact.address)?.timers.some((other) => isSame(other, timer));
        const isOver = offsetMs < 0 && isMoved;
        if (host === undefined || isOver || world.now() < restsUntilMs) return;
        restsUntilMs = world.now() + 2 * strike.number('downMs');
        act(host.node);
      });
    }
  };
  for (const record of world.history.records)
    if (record.type === 'timers') armed.set(record.address, record);
  for (const fact of armed.values()) {
    const host = world.hostOf(fact.place);
    if (host !== undefined) awaitDeadlines(fact, host);
  }
  strike.hear('timers', (record) => {
    const known = armed.get(record.address)?.timers;
    armed.set(record.address, record);
    awaitDeadlines(record, world.node(record.node), known);
  });
}

type Timer = TimersFact['timers'][number];

function isSame(one: Timer, other: Timer): boolean {
  return one.id === other.id && one.dueAt === other.dueAt;
}
