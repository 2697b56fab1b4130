/**
 * A nemesis of the time in which a gate hears nothing: a datacenter reports a timeout and ends the job, or is
 * given more time, and all of it stands in one queue when the gate is there again.
 */

import { electedPlaces, type NemesisKind } from '../../faults.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allGates, allWorkers, hasGate, type JobsShape } from '../shape.ts';
import { partFrom, pickStuck, STALL_MS, submit, TIMEOUT_MAX_MS } from './gate-contact.ts';

const fits = (cluster: JobsShape): boolean =>
  hasGate(cluster) && allWorkers(cluster).length > 0 && electedPlaces(cluster).length > 1;

/** For less than a report is apart from the next, so that none of them is missing. */
const FROZEN_BRIEFLY = 'frozenBriefly';
const BRIEFLY_MS = 5_000;
const HOWS = {
  end: ['crash', 'cut', 'silent', 'frozen', FROZEN_BRIEFLY],
  credit: ['crash', 'frozen'],
} as const;

function leave(strike: JobsStrike, gate: string, place: string): void {
  const awayMs = strike.number('awayMs');
  const how = strike.word('how');
  if (how === 'crash') {
    if (strike.crash(gate)) strike.after(awayMs, () => strike.restart(gate));
    return;
  }
  if (how.startsWith('frozen')) {
    strike.pause(gate, awayMs);
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
    const what = chance.pick(['end', 'end', 'credit'] as const);
    const how = chance.pick<string>(HOWS[what]);
    return {
      targets: [chance.pick(allGates(cluster)), pickStuck(chance, cluster)],
      params: {
        what,
        how,
        // Longer than it takes to be stuck, and to end or to need the time.
        awayMs:
          how === FROZEN_BRIEFLY
            ? BRIEFLY_MS + chance.whole(0, BRIEFLY_MS / 8)
            : 2 * STALL_MS + chance.whole(0, 2 * STALL_MS),
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
    const isBrief = strike.word('how') === FROZEN_BRIEFLY;
    const runsMs = isBrief ? STALL_MS + BRIEFLY_MS / 2 : 1.7 * STALL_MS;
    const goesOn = { id: 'w1', runsMs: 7 * STALL_MS };
    submit(strike, {
      jobId,
      to: gate,
      timeoutMs: isEnd ? TIMEOUT_MAX_MS : 2 * STALL_MS,
      stuckThresholdMs: isEnd ? STALL_MS : TIMEOUT_MAX_MS,
      allStuckThresholdMs: TIMEOUT_MAX_MS,
      datacenterTimeoutQuorum: 'any',
      workflows: [
        isEnd ? { ...goesOn, in: { [place]: { progressEveryMs: null, runsMs } } } : goesOn,
      ],
    });
    strike.after(isBrief ? STALL_MS - BRIEFLY_MS / 5 : STALL_MS / 2, () =>
      leave(strike, gate, place),
    );
    if (isEnd) return;
    strike.after(STALL_MS, () =>
      world.pace.watch(() => scene.clients.extend(place, jobId, 20 * STALL_MS)),
    );
  },
};
