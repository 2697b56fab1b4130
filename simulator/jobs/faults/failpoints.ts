/** Nemeses that kill a node of the jobs system at a certain point of a grant or of a declaration. */

import { drawnTimes, few, killAt, type NemesisKind } from '../../faults.ts';
import type { JobsScene } from '../scene.ts';
import { allWorkers, hasGate, hasWorker } from '../shape.ts';
import { askForTime } from './extensions.ts';

/** Between grant and count: the worker is granted time, and its job has not heard of it yet. */
export const killBetweenGrantAndCount: NemesisKind<JobsScene> = {
  kind: 'killBetweenGrantAndCount',
  says: 'Runs ask for more time, and a leader dies when a grant is on disk and no job has counted it.',
  awaitsMoment: true,
  fits: hasWorker,
  draw: (chance, cluster) => ({
    targets: few(chance, allWorkers(cluster)),
    params: { everyMs: Math.round(chance.scaled(100, 20_000)), ...drawnTimes(chance) },
  }),
  begin: (strike) => {
    killAt(strike, 'afterCommit', 'extension.credited');
    askForTime(strike, strike.nemesis.targets, strike.number('everyMs'));
  },
};

export const killBetweenDeclarationAndBroadcast: NemesisKind<JobsScene> = {
  kind: 'killBetweenDeclarationAndBroadcast',
  says: 'A gate dies when a declaration is on disk and nobody has been told.',
  awaitsMoment: true,
  fits: hasGate,
  draw: (chance) => ({ targets: [], params: drawnTimes(chance) }),
  begin: (strike) => killAt(strike, 'afterCommit', 'timeout.declared'),
};

export const killBeforeAcknowledgement: NemesisKind<JobsScene> = {
  kind: 'killBeforeAcknowledgement',
  says: 'A leader dies when it has taken a declaration and its gate has not heard so.',
  awaitsMoment: true,
  fits: hasGate,
  draw: (chance) => ({ targets: [], params: drawnTimes(chance) }),
  begin: (strike) => killAt(strike, 'beforeAcknowledgement', 'timeout.declared'),
};

export const workerDiesAfterGrant: NemesisKind<JobsScene> = {
  kind: 'workerDiesAfterGrant',
  says: 'Runs ask for more time, and their worker dies as soon as it is granted.',
  awaitsMoment: true,
  fits: hasWorker,
  draw: (chance, cluster) => ({
    targets: few(chance, allWorkers(cluster)),
    params: { everyMs: Math.round(chance.scaled(100, 20_000)), ...drawnTimes(chance) },
  }),
  begin: (strike) => {
    const { targets } = strike.nemesis;
    let left = strike.number('times');
    strike.hear('work', ({ node, change, about }) => {
      const isGranted = (about as { readonly granted?: unknown } | null)?.granted === true;
      if (change !== 'answered' || !isGranted || !targets.includes(node) || left <= 0) return;
      left -= 1;
      strike.soon(() => {
        if (!strike.crash(node)) return;
        strike.after(strike.number('downMs'), () => strike.restart(node));
      });
    });
    askForTime(strike, targets, strike.number('everyMs'));
  },
};
