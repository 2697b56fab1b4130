/** Invariants of workers, of the time they are granted, and of the attempts they have. */

import type { JobsInvariant } from '../facts.ts';
import {
  answersTheSame,
  answersWhatIsTrue,
  boundsAllGrants,
  grantsToTheLiving,
  halvesEachGrant,
  needsMoreProgress,
} from './extensions.ts';
import { runsOnce } from './runs-once.ts';
import { grantsNoMoreThanThereIs, leavesNoWorkerIdle } from './work.ts';
import { creditsEachJobOnce, limitsCredit } from './worker-credit.ts';
import {
  losesExactlyTheGone,
  suspectsTheSilent,
  suspectsTheSilentAtWork,
  waitsForNothingLost,
} from './worker-losses.ts';

export const workerInvariants: readonly JobsInvariant[] = [
  halvesEachGrant,
  boundsAllGrants,
  limitsCredit,
  needsMoreProgress,
  grantsToTheLiving,
  answersWhatIsTrue,
  answersTheSame,
  suspectsTheSilent,
  suspectsTheSilentAtWork,
  creditsEachJobOnce,
  losesExactlyTheGone,
  waitsForNothingLost,
  grantsNoMoreThanThereIs,
  leavesNoWorkerIdle,
  runsOnce,
];
