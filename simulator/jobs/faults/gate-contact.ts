/**
 * Nemeses between a gate and its datacenters that need a job of a certain kind to mean anything: they
 * submit it themselves, and strike when it has come to the moment that matters.
 */

import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { electedPlaces, few, type NemesisKind, othersThan, part } from '../../faults.ts';
import type { Chance, NetworkFault } from '../../world.ts';
import type { PlannedJob } from '../plan.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allGates, allWorkers, hasGate, type JobsShape } from '../shape.ts';

/** A job has come to a datacenter, with all its workflows or without. */
const isBeginning = ({ type }: { readonly type: string }): boolean =>
  type === SPAWN_EVENT || type === 'job.assembled';

const HOWS = ['cut', 'silent', 'clogged'] as const;

/** Parts the datacenters from the gate; `clogged`: what is sent meanwhile arrives when it is over. */
export function partFrom(
  strike: JobsStrike,
  gate: string,
  places: readonly string[],
): NetworkFault {
  const { world } = strike;
  const far = world.nodes().filter(({ place }) => places.includes(place));
  const nodes = far.map(({ node }) => node);
  const how = strike.word('how');
  if (how !== 'clogged') return part(strike, [[[gate], nodes]], how as 'cut' | 'silent');
  const ways = [world.network.clog([gate], nodes), world.network.clog(nodes, [gate])];
  for (const way of ways) strike.keep(way);
  strike.hit({ gate, clogged: places });
  return {
    end: () => {
      for (const way of ways) way.end();
    },
  };
}

export function submit(strike: JobsStrike, job: PlannedJob): void {
  strike.world.pace.watch(() => strike.scene.clients.submit(job));
}

/** How long a job that never ends by itself goes on after its nemesis. */
const ENDLESS_MS = 300_000;

/** As `submit`, for a job that would keep the run going for nothing: its client cancels it in the end. */
export function submitEndless(strike: JobsStrike, job: PlannedJob): void {
  const { world, scene } = strike;
  submit(strike, job);
  strike.whenOver(() =>
    world.at(world.now() + ENDLESS_MS, () => scene.clients.cancel(job.to, job.jobId)),
  );
}

/** The gate that is struck, and the datacenters that it is disconnected from, in the order of targets. */
const drawnTargets = (chance: Chance, cluster: JobsShape) => {
  const gate = chance.pick(allGates(cluster));
  return { gate, targets: [gate, ...few(chance, electedPlaces(cluster))] };
};

export const partedSubmission: NemesisKind<JobsScene> = {
  kind: 'partedSubmission',
  says: 'A gate is disconnected from datacenters while it hands jobs to them, for longer than it tries.',
  fits: hasGate,
  draw: (chance, cluster) => {
    const { gateDispatchLimitMs } = cluster.config;
    const forMs = Math.round(gateDispatchLimitMs * chance.scaled(1.05, 12)) + 1_000;
    return {
      targets: drawnTargets(chance, cluster).targets,
      params: {
        jobs: chance.whole(1, 4),
        everyMs: Math.round(chance.scaled(1, gateDispatchLimitMs)),
        at: chance.pick(['before', 'submission', 'acceptance']),
        runsMs: Math.round(chance.scaled(1, 200_000)),
        forMs,
        how: chance.pick(HOWS),
      },
      durMs: 2 * forMs,
    };
  },
  begin: (strike) => {
    const { nemesis, world } = strike;
    const [gate = '', ...places] = nemesis.targets;
    let isParted = false;
    const begin = (): void => {
      if (isParted) return;
      isParted = true;
      const parted = partFrom(strike, gate, places);
      strike.after(strike.number('forMs'), () => parted.end());
    };
    const prefix = `${nemesis.id}-`;
    if (strike.word('at') === 'before') begin();
    else
      strike.hear('turn', ({ address, kind, event, place }) => {
        const isOurs = address.slice(address.indexOf('/') + 1).startsWith(prefix);
        const isMoment =
          strike.word('at') === 'submission'
            ? kind === 'gate-job'
            : kind === 'job' && isBeginning(event) && places.includes(place);
        if (isOurs && isMoment) strike.soon(begin);
      });
    for (let number = 1; number <= strike.number('jobs'); number += 1)
      strike.after((number - 1) * strike.number('everyMs'), () => {
        if (world.node(gate).isUp)
          submit(strike, {
            jobId: `${prefix}${number}`,
            to: gate,
            timeoutMs: 600_000,
            workflows: [
              { id: 'w1', runsMs: strike.number('runsMs') },
              { id: 'w2', runsMs: strike.number('runsMs'), dependsOn: ['w1'] },
            ],
          });
      });
  },
};

/** Picks a datacenter of several, which has a worker that can run dry, beside another that goes on. */
export function pickStuck(chance: Chance, cluster: JobsShape): string {
  const { datacenters } = cluster.topology;
  return chance.pick(Object.keys(datacenters).filter((name) => datacenters[name]?.workers !== 0));
}

const hasNeighbours = (cluster: JobsShape): boolean =>
  hasGate(cluster) && allWorkers(cluster).length > 0 && electedPlaces(cluster).length > 1;

/** The longest that a run is prolonged for one nemesis. */
const PATIENCE_MAX_MS = 2_400_000;
/** In one datacenter nothing moves for so long. */
export const STALL_MS = 20_000;
export const TIMEOUT_MAX_MS = 5_184_000_000;

export const gateAwayAfterReport: NemesisKind<JobsScene> = {
  kind: 'gateAwayAfterReport',
  says: 'A gate takes the report of a timeout, does not decide because of the others, and is away for the time of a fallback.',
  fits: hasNeighbours,
  isPatient: true,
  draw: (chance, cluster) => {
    const { gateFallbackMs } = cluster.config;
    const moreMs = chance.is(0.8) ? chance.whole(5_000, 60_000) : -1_000;
    return {
      targets: [chance.pick(allGates(cluster)), pickStuck(chance, cluster)],
      params: {
        awayMs: gateFallbackMs + moreMs,
        how: chance.pick(['crash', 'cut', 'silent']),
      },
      durMs: Math.min(PATIENCE_MAX_MS, 4 * STALL_MS + gateFallbackMs + 120_000),
    };
  },
  begin: (strike) => {
    const { nemesis, world, scene } = strike;
    const [gate = '', stuck = ''] = nemesis.targets;
    const { gateFallbackMs } = scene.system.config;
    const jobId = `${nemesis.id}-stuck`;
    let isAway = false;
    const leave = (): void => {
      if (isAway) return;
      isAway = true;
      const awayMs = strike.number('awayMs');
      if (strike.word('how') === 'crash') {
        if (strike.crash(gate)) strike.after(awayMs, () => strike.restart(gate));
        return;
      }
      const how = strike.word('how') as 'cut' | 'silent';
      const parted = part(strike, [[[gate], othersThan([gate], strike)]], how);
      strike.after(awayMs, () => parted.end());
    };
    strike.hear('turn', ({ address, event }) => {
      const { type, ackOf } = event as { readonly type: string; readonly ackOf?: string };
      const isTaken = type === 'ack.received' && ackOf === 'timeout.reported';
      if (isTaken && address === `job/${jobId}@${stuck}`) strike.soon(leave);
    });
    if (!world.node(gate).isUp) return;
    submitEndless(strike, {
      jobId,
      to: gate,
      timeoutMs: Math.min(TIMEOUT_MAX_MS, 20 * gateFallbackMs),
      stuckThresholdMs: STALL_MS,
      datacenterTimeoutQuorum: 'all',
      workflows: [{ id: 'w1', runsMs: null, in: { [stuck]: { progressEveryMs: null } } }],
    });
  },
};

export const silentAfterStall: NemesisKind<JobsScene> = {
  kind: 'silentAfterStall',
  says: 'A datacenter says that nothing moves there, falls silent, and the others come to a standstill after it.',
  fits: hasNeighbours,
  isPatient: true,
  draw: (chance, cluster) => {
    const { silentAfterMs, reportIntervalMs } = cluster.config;
    const stallMs = silentAfterMs + 2 * reportIntervalMs + STALL_MS;
    return {
      targets: [chance.pick(allGates(cluster)), pickStuck(chance, cluster)],
      params: { stallMs, how: chance.pick(['cut', 'silent']) },
      durMs: Math.min(PATIENCE_MAX_MS, 4 * stallMs + 60_000),
    };
  },
  begin: (strike) => {
    const { nemesis, world, scene } = strike;
    const [gate = '', stuck = ''] = nemesis.targets;
    const { reportIntervalMs } = scene.system.config;
    const jobId = `${nemesis.id}-stalls`;
    const thresholdMs = 2 * reportIntervalMs + STALL_MS;
    let isSilent = false;
    strike.hear('turn', ({ address, event }) => {
      const { type, datacenter, figures } = event as {
        readonly type: string;
        readonly datacenter?: string;
        readonly figures?: { readonly sinceProgressMs: number };
      };
      const isStalled = type === 'progress.reported' && datacenter === stuck;
      if (isSilent || !isStalled || address !== `gate-job/${jobId}@${gate}`) return;
      if ((figures?.sinceProgressMs ?? 0) <= thresholdMs) return;
      isSilent = true;
      strike.soon(() => {
        const parted = partFrom(strike, gate, [stuck]);
        strike.after(strike.number('stallMs') + thresholdMs + STALL_MS, () => parted.end());
      });
    });
    if (!world.node(gate).isUp) return;
    const others = { stopsProgressAtMs: strike.number('stallMs'), runsMs: null };
    submitEndless(strike, {
      jobId,
      to: gate,
      timeoutMs: TIMEOUT_MAX_MS,
      stuckThresholdMs: TIMEOUT_MAX_MS,
      allStuckThresholdMs: thresholdMs,
      datacenterTimeoutQuorum: 'all',
      workflows: [{ id: 'w1', ...others, in: { [stuck]: { progressEveryMs: null } } }],
    });
  },
};
