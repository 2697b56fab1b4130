/** A nemesis of load: many times as many jobs as planned for a while. */

import { allPlaces, type NemesisKind } from '../../faults.ts';
import type { PlannedJob } from '../plan.ts';
import type { JobsScene } from '../scene.ts';

/** Jobs that one overload adds at most: a run has to end. */
const ADDED_MAX = 300;

export const overload: NemesisKind<JobsScene> = {
  kind: 'overload',
  says: 'For a while clients submit many more jobs than the cluster has room for.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(allPlaces(cluster))],
    params: {
      everyMs: Math.round(chance.scaled(20, 2_000)),
      jobs: chance.whole(10, 100),
      timeoutMs: Math.round(chance.scaled(1_000, 60_000)),
      runsMs: Math.round(chance.scaled(1, 5_000)),
    },
  }),
  begin: (strike) => {
    const { nemesis, world, scene } = strike;
    const [to = ''] = nemesis.targets;
    const { everyMs, jobs, timeoutMs, runsMs } = nemesis.params;
    let left = Math.min(Number(jobs), ADDED_MAX);
    const submit = (): void => {
      if (left <= 0) return;
      const job: PlannedJob = {
        jobId: `${nemesis.id}-${left}`,
        to,
        timeoutMs: Number(timeoutMs),
        workflows: [{ id: 'w1', runsMs: Number(runsMs) }],
      };
      left -= 1;
      strike.hit({ jobId: job.jobId });
      world.pace.watch(() => scene.clients.submit(job));
      strike.after(Number(everyMs), submit);
    };
    submit();
  },
};
