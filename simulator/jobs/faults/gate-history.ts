/**
 * A nemesis of the time in which a gate hears nothing: a datacenter reports a timeout and ends the job, or is
 * given more time, and all of it stands in one queue when the gate is there again.
 */

import { electedPlaces } from '../../faults/cluster-shape.ts';
import type { NemesisKind } from '../../faults/nemesis-kind.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allGates, allWorkers, hasGate, type JobsShape } from '../shape.ts';
import { partFrom, pickStuck, STALL_MS, submit, TIMEOUT_MAX_MS } from './gate-contact.ts';

const fits = (cluster: JobsShape): boolean =>
  hasGate(cluster) && allWorkers(cluster).length > 0 && electedPlaces(cluster).length > 1;

function leave(strike: JobsStrike, gate: string, place: string): void {
  const awayMs = strike.number('awayMs');
  if (strike.word('how') === 'crash') {
    if (strike.crash(gate)) strike.after(awayMs, () => strike.restart(gate));
    return;
  }
  const parted = partFrom(strike, gate, [place]);
  strike.after(awayMs, () => parted.end());
}

export const wordBehindHistory: NemesisKind<JobsScene> = {
  kind: 'wordBehindHistory',
  says: 'A gate hears nothing while a datacenter reports a timeout and then ends the job, or is given more time than it had.',
  fits,
  isPatient: true,
  isDrawnApart: true,
  draw: (chance, cluster) => {
    const what = chance.pick(['end', 'end', 'credit']);
    return {
      targets: [chance.pick(allGates(cluster)), pickStuck(chance, cluster)],
      params: {
        what,
        how: what === 'credit' ? 'crash' : chance.pick(['crash', 'cut', 'silent']),
        // Longer than it takes to be stuck, and to end or to need the time.
        awayMs: 2 * STALL_MS + chance.whole(0, 2 * STALL_MS),
      },
      durMs: 10 * STALL_MS,
    };
  },
  begin: (strike) => {
    const { nemesis, world, scene } = strike;
    const [gate = '', place = ''] = nemesis.targets;
    const jobId = `${nemesis.id}-history`;
    if (!world.node(gate).isUp) return;
    const isEnd = strike.word('what') === 'end';
    const goesOn = { id: 'w1', runsMs: 7 * STALL_MS };
    submit(strike, {
      jobId,
      to: gate,
      timeoutMs: isEnd ? TIMEOUT_MAX_MS : 2 * STALL_MS,
      stuckThresholdMs: isEnd ? STALL_MS : TIMEOUT_MAX_MS,
      allStuckThresholdMs: TIMEOUT_MAX_MS,
      datacenterTimeoutQuorum: 'any',
      workflows: [
        isEnd
          ? { ...goesOn, in: { [place]: { progressEveryMs: null, runsMs: 1.7 * STALL_MS } } }
          : goesOn,
      ],
    });
    strike.after(STALL_MS / 2, () => leave(strike, gate, place));
    if (isEnd) return;
    strike.after(STALL_MS, () =>
      world.pace.watch(() => scene.clients.extend(place, jobId, 20 * STALL_MS)),
    );
  },
};
