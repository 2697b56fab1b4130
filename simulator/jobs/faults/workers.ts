/** Nemeses of workers: one that falls silent while its datacenter goes on giving it work. */

import { few, type NemesisKind, othersThan, part } from '../../faults.ts';
import { datacenterOf } from '../names.ts';
import type { JobsScene } from '../scene.ts';
import { allWorkers, hasWorker } from '../shape.ts';

/** Jobs that one of them adds at most. */
const OFFERS_MAX = 60;

export const silentAtWork: NemesisKind<JobsScene> = {
  kind: 'silentAtWork',
  says: 'Some workers fall silent for longer than they are trusted, and work for them goes on coming in.',
  fits: hasWorker,
  isPatient: true,
  isDrawnApart: true,
  draw: (chance, cluster) => {
    const { baseDeadlineMs, suspectGraceMs, heartbeatIntervalMs } = cluster.config;
    const graceMs = chance.is(0.5) ? 5_000 : suspectGraceMs + 5_000;
    const silentMs = Math.min(1_200_000, baseDeadlineMs + graceMs + heartbeatIntervalMs);
    return {
      targets: few(chance, allWorkers(cluster)),
      params: {
        everyMs: Math.round(chance.scaled(silentMs / OFFERS_MAX, Math.max(1_000, silentMs / 4))),
        runsMs: Math.round(chance.scaled(1, 10_000)),
        how: chance.pick(['crash', 'cut', 'silent']),
      },
      durMs: silentMs,
    };
  },
  begin: (strike) => {
    const { nemesis, world } = strike;
    const { targets } = nemesis;
    const how = strike.word('how');
    if (how !== 'crash')
      part(strike, [[targets, othersThan(targets, strike)]], how as 'cut' | 'silent');
    else for (const worker of targets) strike.crash(worker);
    const places = [...new Set(targets.map((worker) => datacenterOf(worker) ?? ''))];
    let number = 0;
    const offer = (): void => {
      number += 1;
      for (const to of places)
        world.pace.watch(() =>
          strike.scene.clients.submit({
            jobId: `${nemesis.id}-${to}-${number}`,
            to,
            timeoutMs: 600_000,
            workflows: [{ id: 'w1', runsMs: strike.number('runsMs') }],
          }),
        );
      if (number < OFFERS_MAX) strike.after(strike.number('everyMs'), offer);
    };
    offer();
  },
};
