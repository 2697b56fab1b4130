/**
 * Nemeses of the moment in which a gate declares a timeout: the datacenter that is told changes its leader
 * just then, or hears of it only when it has fallen back. They submit the job that this takes.
 */

import { leaderOf, type NemesisKind } from '../../faults.ts';
import type { Chance } from '../../world.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allGates, allWorkers, hasGate, type JobsShape } from '../shape.ts';
import { partFrom, pickStuck, STALL_MS, submitEndless, TIMEOUT_MAX_MS } from './gate-contact.ts';

const hasGateAndWorker = (cluster: JobsShape): boolean =>
  hasGate(cluster) && allWorkers(cluster).length > 0;

/** The datacenter that reports, and the gate that decides. */
const drawTargets = (chance: Chance, cluster: JobsShape): string[] => [
  pickStuck(chance, cluster),
  chance.pick(allGates(cluster)),
];

/** Does it once, when the gate has declared that the job of this nemesis is stuck. */
function atDeclaration(strike: JobsStrike, action: () => void): void {
  const { nemesis, world, scene } = strike;
  const [stuck = '', gate = ''] = nemesis.targets;
  const jobId = `${nemesis.id}-declared`;
  let isDone = false;
  strike.hear('sent', ({ from, to, event }) => {
    if (isDone || event.type !== 'timeout.declared') return;
    if (from !== `gate-job/${jobId}@${gate}` || to !== `job/${jobId}@${stuck}`) return;
    isDone = true;
    strike.soon(action);
  });
  if (!world.node(gate).isUp) return;
  submitEndless(strike, {
    jobId,
    to: gate,
    timeoutMs: Math.min(TIMEOUT_MAX_MS, 20 * scene.system.config.gateFallbackMs),
    stuckThresholdMs: STALL_MS,
    datacenterTimeoutQuorum: 'any',
    workflows: [{ id: 'w1', runsMs: null, in: { [stuck]: { progressEveryMs: null } } }],
  });
}

export const takeoverAtDeclaration: NemesisKind<JobsScene> = {
  kind: 'takeoverAtDeclaration',
  says: 'The leader of a datacenter dies when a gate has declared a timeout: its successor is told what was meant for it.',
  fits: hasGateAndWorker,
  isPatient: true,
  isDrawnApart: true,
  draw: (chance, cluster) => ({
    targets: drawTargets(chance, cluster),
    params: { downMs: Math.round(chance.scaled(1, 20_000)) },
    durMs: 6 * STALL_MS,
  }),
  begin: (strike) =>
    atDeclaration(strike, () => {
      const leader = leaderOf(strike);
      if (leader === undefined || !strike.crash(leader.node)) return;
      strike.after(strike.number('downMs'), () => strike.restart(leader.node));
    }),
};

export const partedDeclaration: NemesisKind<JobsScene> = {
  kind: 'partedDeclaration',
  says: 'A gate declares a timeout and is disconnected from the datacenter that reported it, for the time of a fallback.',
  fits: hasGateAndWorker,
  isPatient: true,
  isDrawnApart: true,
  draw: (chance, cluster) => {
    const { gateFallbackMs } = cluster.config;
    const forMs = gateFallbackMs + (chance.is(0.8) ? chance.whole(5_000, 60_000) : -1_000);
    return {
      targets: drawTargets(chance, cluster),
      params: { forMs, how: chance.pick(['cut', 'silent', 'clogged']) },
      durMs: 4 * STALL_MS + gateFallbackMs + 120_000,
    };
  },
  begin: (strike) =>
    atDeclaration(strike, () => {
      const [stuck = '', gate = ''] = strike.nemesis.targets;
      const parted = partFrom(strike, gate, [stuck]);
      strike.after(strike.number('forMs'), () => parted.end());
    }),
};
