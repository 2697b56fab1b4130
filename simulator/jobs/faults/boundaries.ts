/**
 * Nemeses of the moment in the jobs system: ends, cancels and wishes for more time come exactly when the
 * deadline of a job does.
 */

import { idOf } from '../../../machines/jobs/addresses.ts';
import {
  boundaryJitter as anyBoundaryJitter,
  beforeDeadlines,
  holdUntil,
  type NemesisKind,
} from '../../faults.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { hasWorker } from '../shape.ts';
import { askForMore } from './extensions.ts';

const isOfJob = (address: string): boolean => /^(gate-)?job\//.test(address);

/** As in every cluster, of jobs alone; and now and then their clients cancel them in that moment. */
export const boundaryJitter: NemesisKind<JobsScene> = {
  ...anyBoundaryJitter,
  draw: (chance, shape) => {
    const { targets, params } = anyBoundaryJitter.draw(chance, shape);
    return { targets, params: { ...params, cancels: chance.is(0.3) } };
  },
  begin: (strike) => {
    const { limit, offsetMs, windowMs, cancels } = strike.nemesis.params;
    beforeDeadlines(
      strike,
      String(limit),
      Number(windowMs),
      ({ node, place, address }, leftMs) => {
        holdUntil(strike, node, leftMs + Number(offsetMs));
        if (cancels === true) cancel(strike, place, address);
      },
      isOfJob,
    );
  },
};

/** Completion, timeout and cancel at once; which of them is first is up to the order of that moment. */
export const everythingAtOnce: NemesisKind<JobsScene> = {
  kind: 'everythingAtOnce',
  says: 'The end of the work, the end of the time and a cancel of the client come in one moment.',
  awaitsMoment: true,
  fits: hasWorker,
  draw: (chance) => ({ targets: [], params: { windowMs: Math.round(chance.scaled(50, 60_000)) } }),
  begin: (strike) => {
    const windowMs = strike.number('windowMs');
    beforeDeadlines(
      strike,
      'overallLimit',
      windowMs,
      ({ node, place, address }, leftMs) => {
        // Any end of work in the window waits for the deadline with the cancel.
        holdUntil(strike, node, leftMs + strike.chance.whole(-2, 1));
        cancel(strike, place, address);
      },
      isOfJob,
    );
  },
};

export const extensionStorm: NemesisKind<JobsScene> = {
  kind: 'extensionStorm',
  says: 'Just before the time of a job is over all its runs ask for more, again and again.',
  awaitsMoment: true,
  fits: hasWorker,
  draw: (chance) => ({
    targets: [],
    params: { beforeMs: chance.pick([1, 2, 20, 50, 1_000]), requests: chance.whole(1, 10) },
  }),
  begin: (strike) => {
    const { beforeMs, requests } = strike.nemesis.params;
    beforeDeadlines(
      strike,
      'overallLimit',
      Number(beforeMs),
      ({ address }) => {
        const job = idOf(address);
        for (const worker of strike.scene.system.workers) {
          if (!strike.world.node(worker).isRunning) continue;
          const runs = strike.scene.system.runningOn(worker).filter(({ jobId }) => jobId === job);
          for (let count = 1; count <= Number(requests); count++)
            for (const run of runs) {
              strike.hit({ worker });
              askForMore(strike, run);
            }
        }
      },
      isOfJob,
    );
  },
};

function cancel({ world, scene }: JobsStrike, place: string, address: string): void {
  world.pace.watch(() => scene.clients.cancel(place, idOf(address)));
}
