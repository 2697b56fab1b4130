/**
 * Nemeses of the moment: what would have come at any time comes exactly when a deadline does.
 *
 * Deadlines are those that actors have, as they stand in the history, reckoned from the clock of the
 * node that keeps them. One that was moved meanwhile is left alone.
 */

import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';

interface Deadline {
  readonly node: string;
  readonly place: string;
  readonly address: string;
}

/**
 * Does something so much before each deadline that bears this name, of the actors that are meant, and
 * says then how long it is until that deadline.
 */
export function beforeDeadlines(
  strike: Strike,
  limit: string,
  leadMs: number,
  act: (deadline: Deadline, leftMs: number) => void,
  isMeant: (address: string) => boolean = () => true,
): void {
  const due = new Map<string, number>();
  strike.hear('timers', ({ node, place, address, timers }) => {
    if (!isMeant(address)) return;
    const timer = timers.find(({ id }) => id.includes(`.${limit}.`));
    if (timer === undefined) {
      due.delete(address);
      return;
    }
    const leftMs = timer.dueAt - strike.world.node(node).ownNow;
    const dueMs = strike.world.now() + leftMs;
    if (due.get(address) === dueMs || leftMs < 0) return;
    due.set(address, dueMs);
    strike.after(Math.max(0, leftMs - leadMs), () => {
      if (due.get(address) !== dueMs || !strike.world.node(node).isUp) return;
      act({ node, place, address }, Math.min(leadMs, leftMs));
    });
  });
}

export const boundaryJitter: NemesisKind = {
  kind: 'boundaryJitter',
  says: 'All that reaches a node shortly before a deadline arrives a millisecond before, at, or after it.',
  awaitsMoment: true,
  fits: (cluster) => cluster.limits.length > 0,
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      limit: chance.pick(cluster.limits),
      offsetMs: chance.pick([-2, -1, 0, 1]),
      windowMs: Math.round(chance.scaled(5, 20_000)),
    },
  }),
  begin: (strike) => {
    const { limit, offsetMs, windowMs } = strike.nemesis.params;
    beforeDeadlines(strike, String(limit), Number(windowMs), ({ node }, leftMs) =>
      holdUntil(strike, node, leftMs + Number(offsetMs)),
    );
  },
};

/** What is sent to the node waits so long, and then comes at once, in order. */
export function holdUntil(strike: Strike, name: string, forMs: number): void {
  if (forMs <= 0) return;
  const clog = strike.world.network.clog(() => true, name);
  strike.keep(clog);
  let isHeld = true;
  strike.hear('frame', ({ to, change }) => {
    if (isHeld && change === 'held' && to === name) strike.hit({ held: name });
  });
  strike.after(forMs, () => {
    isHeld = false;
    clog.end();
  });
}
