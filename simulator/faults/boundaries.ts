/**
 * Nemeses of the moment: what would have come at any time comes exactly when a deadline does.
 *
 * Deadlines are those that actors have, as they stand in the history, reckoned from the clock of the
 * node that keeps them. One that was moved meanwhile is left alone.
 */

import type { ClusterShape, NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { askForMore, hasWorker, isJobs } from './targets.ts';

interface Deadline {
  readonly node: string;
  readonly place: string;
  readonly address: string;
}

/**
 * Does something so much before each deadline that bears this name, of jobs where there are any, and
 * says then how long it is until that deadline.
 */
function beforeDeadlines(
  strike: Strike,
  limit: string,
  leadMs: number,
  act: (deadline: Deadline, leftMs: number) => void,
): void {
  const due = new Map<string, number>();
  const { scene } = strike;
  const isMeant = (address: string): boolean => 'shape' in scene || /^(gate-)?job\//.test(address);
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

/** Deadlines that ends of jobs depend on. */
const LIMITS = ['overallLimit', 'stuckLimit', 'fallbackLimit', 'settleLimit', 'reportInterval'];

const limitsOf = (cluster: ClusterShape): readonly string[] =>
  isJobs(cluster) ? LIMITS : cluster.limits;

export const boundaryJitter: NemesisKind = {
  kind: 'boundaryJitter',
  says: 'All that reaches a node shortly before a deadline arrives a millisecond before, at, or after it.',
  fits: (cluster) => limitsOf(cluster).length > 0,
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      limit: chance.pick(limitsOf(cluster)),
      offsetMs: chance.pick([-2, -1, 0, 1]),
      windowMs: Math.round(chance.scaled(5, 20_000)),
      // Whom to tell that something is over is known of jobs alone.
      cancels: chance.is(0.3) && isJobs(cluster),
    },
  }),
  begin: (strike) => {
    const { limit, offsetMs, windowMs, cancels } = strike.nemesis.params;
    beforeDeadlines(strike, String(limit), Number(windowMs), ({ node, place, address }, leftMs) => {
      holdUntil(strike, node, leftMs + Number(offsetMs));
      if (cancels === true) cancel(strike, place, address);
    });
  },
};

/** Completion, timeout and cancel at once; which of them is first is up to the order of that moment. */
export const everythingAtOnce: NemesisKind = {
  kind: 'everythingAtOnce',
  says: 'The end of the work, the end of the time and a cancel of the client come in one moment.',
  fits: hasWorker,
  draw: (chance) => ({ targets: [], params: { windowMs: Math.round(chance.scaled(50, 60_000)) } }),
  begin: (strike) => {
    const windowMs = strike.number('windowMs');
    beforeDeadlines(strike, 'overallLimit', windowMs, ({ node, place, address }, leftMs) => {
      // Any end of work in the window waits for the deadline with the cancel.
      holdUntil(strike, node, leftMs + strike.chance.whole(-2, 1));
      cancel(strike, place, address);
    });
  },
};

/** What is sent to the node waits so long, and then comes at once, in order. */
function holdUntil(strike: Strike, name: string, forMs: number): void {
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

export const extensionStorm: NemesisKind = {
  kind: 'extensionStorm',
  says: 'Just before the time of a job is over all its runs ask for more, again and again.',
  fits: hasWorker,
  draw: (chance) => ({
    targets: [],
    params: { beforeMs: chance.pick([1, 2, 20, 50, 1_000]), requests: chance.whole(1, 10) },
  }),
  begin: (strike) => {
    const { beforeMs, requests } = strike.nemesis.params;
    beforeDeadlines(strike, 'overallLimit', Number(beforeMs), ({ address }) => {
      const job = jobOf(address);
      for (const worker of strike.system.workers) {
        if (!strike.world.node(worker).isRunning) continue;
        const runs = strike.system.runningOn(worker).filter(({ jobId }) => jobId === job);
        for (let count = 1; count <= Number(requests); count++)
          for (const run of runs) {
            strike.hit({ worker });
            askForMore(strike, run);
          }
      }
    });
  },
};

function cancel({ world, jobs }: Strike, place: string, address: string): void {
  world.pace.watch(() => jobs.clients.cancel(place, jobOf(address)));
}

/** `job/j1@A` → `j1`. */
const jobOf = (address: string): string =>
  address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));
