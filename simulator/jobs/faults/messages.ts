/** Nemeses of single messages of the jobs system: starved of progress, doubled much later, lost. */

import {
  afterFailover,
  delayedDuplicate as anyDelayedDuplicate,
  buggifyAt,
  commitDelayed,
  commitRefused,
  drawnDelayMs,
  FIRES,
  few,
  frameTwice,
  keepCopies,
  lose,
  MOMENTS,
  type NemesisKind,
  othersThan,
  type Site,
  timerLate,
} from '../../faults.ts';
import type { InterceptedEvent } from '../../world.ts';
import { datacenterOf } from '../names.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allWorkers, hasGate, hasWorker } from '../shape.ts';
import { askForTime } from './extensions.ts';

export const progressStarvation: NemesisKind<JobsScene> = {
  kind: 'progressStarvation',
  says: 'Heartbeats get through, and no report of progress does.',
  fits: hasWorker,
  draw: (chance) => ({ targets: [], params: { atGate: chance.is(0.3) } }),
  begin: (strike) =>
    lose(strike, strike.is('atGate') ? ['progress.reported'] : ['progress.received']),
};

/** A worker that hears no acknowledgement registers again, which is a sign of life as well. */
const SIGNS_OF_LIFE: readonly string[] = ['heartbeat.received', 'worker.registered'];

export const starvedHeartbeats: NemesisKind<JobsScene> = {
  kind: 'starvedHeartbeats',
  says: 'Heartbeats of some workers are lost for longer than they are trusted, and their requests for more time get through.',
  fits: hasWorker,
  isPatient: true,
  draw: (chance, cluster) => {
    const { baseDeadlineMs, suspectGraceMs, heartbeatIntervalMs } = cluster.config;
    const graceMs = chance.is(0.7) ? chance.whole(0, suspectGraceMs) : suspectGraceMs + 5_000;
    return {
      targets: few(chance, allWorkers(cluster)),
      params: { everyMs: Math.round(chance.scaled(500, Math.max(501, baseDeadlineMs / 4))) },
      durMs: Math.min(1_200_000, baseDeadlineMs + graceMs + heartbeatIntervalMs),
    };
  },
  begin: (strike) => {
    const { nemesis, world } = strike;
    const { targets } = nemesis;
    strike.keep(
      world.network.intercept({
        between: [targets, othersThan(targets, strike)],
        where: ({ type }: InterceptedEvent) => SIGNS_OF_LIFE.includes(type),
        action: 'drop',
      }),
    );
    // Were they to ask before, what they are granted would keep them trusted.
    const { baseDeadlineMs } = strike.scene.system.config;
    strike.after(baseDeadlineMs, () => askForTime(strike, targets, strike.number('everyMs')));
    // What runs there may be over soon: one that is not has something to ask for.
    for (const worker of targets) submitRun(strike, datacenterOf(worker) ?? '');
  },
};

/** A job that goes on for longer than the strike. */
function submitRun(strike: JobsStrike, datacenter: string): void {
  const { clients } = strike.scene;
  const job = {
    jobId: `${strike.nemesis.id}-${datacenter}`,
    to: datacenter,
    timeoutMs: 2 * strike.lastsMs + 60_000,
    workflows: [{ id: 'w1', runsMs: 2 * strike.lastsMs }],
  };
  strike.world.pace.watch(() => clients.submit(job));
}

/** Messages of which an old copy could do harm. */
const DECISIVE = [
  'timeout.declared',
  'timeout.reported',
  'final.reported',
  'cancel.requested',
  'ack.received',
  'leader.transferred',
  'status.corrected',
  'extension.requested',
  'result.received',
  'attempt.stopped',
  'dispatch.requested',
];

/** As in every cluster, of what could do harm to jobs; and after the start of a gate. */
export const delayedDuplicate: NemesisKind<JobsScene> = {
  ...anyDelayedDuplicate,
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      after: chance.pick(hasGate(cluster) ? [...MOMENTS, 'gateRestart'] : MOMENTS),
      delayMs: drawnDelayMs(chance),
    },
  }),
  begin: (strike) => {
    const repeat = keepCopies(strike, DECISIVE);
    switch (strike.word('after')) {
      case 'failover':
        afterFailover(strike, repeat);
        return;
      case 'terminal':
        strike.hear('actor', ({ kind, change }) => {
          if ((kind === 'job' || kind === 'gate-job') && change === 'done') repeat();
        });
        return;
      case 'gateRestart':
        strike.hear('node', ({ node, change }) => {
          if (change === 'started' && strike.scene.system.gates.includes(node)) repeat();
        });
    }
  },
};

/** Messages that answer another one, and what may always be lost. */
const ACKNOWLEDGEMENTS = [
  'ack.received',
  'dispatch.answered',
  'credit.answered',
  'heartbeat.acked',
];
const HINTS = [
  'progress.received',
  'progress.reported',
  'heartbeat.received',
  'dispatch.requested',
];

const acknowledgementDropped: Site = {
  name: 'acknowledgementDropped',
  arm: (strike) => lose(strike, ACKNOWLEDGEMENTS, () => strike.chance.is(FIRES)),
};

const hintDropped: Site = {
  name: 'hintDropped',
  arm: (strike) => lose(strike, HINTS, () => strike.chance.is(FIRES)),
};

export const buggify = buggifyAt([
  frameTwice,
  acknowledgementDropped,
  hintDropped,
  commitRefused,
  commitDelayed,
  timerLate,
]);
