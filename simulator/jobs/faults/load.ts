/**
 * Nemeses of load: many times as many jobs as planned for a while, and herds of clients that connect
 * all at once.
 */

import type { NemesisKind } from '../../faults/nemesis-kind.ts';
import { allGates, electedPlaces, isJobs } from '../../faults/targets.ts';
import type { PlannedJob } from '../plan.ts';

/** Jobs that one overload adds at most: a run has to end. */
const ADDED_MAX = 300;

export const overload: NemesisKind = {
  kind: 'overload',
  says: 'For a while clients submit many more jobs than the cluster has room for.',
  fits: isJobs,
  draw: (chance, cluster) => ({
    targets: [chance.pick([...allGates(cluster), ...electedPlaces(cluster)])],
    params: {
      everyMs: Math.round(chance.scaled(20, 2_000)),
      jobs: chance.whole(10, 100),
      timeoutMs: Math.round(chance.scaled(1_000, 60_000)),
      runsMs: Math.round(chance.scaled(1, 5_000)),
    },
  }),
  begin: (strike) => {
    const { nemesis, world, jobs: scene } = strike;
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

export const reconnectHerd: NemesisKind = {
  kind: 'reconnectHerd',
  says: 'Many clients lose their connections at once and connect again at once, over and over.',
  draw: (chance) => ({
    targets: [],
    params: { clients: chance.whole(5, 40), everyMs: Math.round(chance.scaled(100, 30_000)) },
  }),
  begin: (strike) => {
    const { nemesis, world } = strike;
    const { clients, everyMs } = nemesis.params;
    const listener = { peerUp: () => {}, peerDown: () => {}, frameReceived: () => {} };
    let leave = (): void => {};
    const connect = (): void => {
      leave();
      const herd = Array.from({ length: Number(clients) }, (_, index) =>
        world.network.join(`herd-${nemesis.id}-${index + 1}`),
      );
      for (const transport of herd) world.pace.watch(() => transport.start(listener));
      leave = () => {
        for (const transport of herd) world.pace.watch(() => transport.stop());
      };
      strike.hit({ clients: Number(clients) });
      strike.after(Number(everyMs), connect);
    };
    connect();
    strike.whenOver(() => leave());
  },
};
