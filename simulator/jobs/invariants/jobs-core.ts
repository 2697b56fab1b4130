/** Invariants of a job by itself: its time, its ends, its fences, its leaders. */

import type { JobsInvariant } from '../facts.ts';
import { everyCallIsAnswered } from './answers.ts';
import { authorityNeverChanges, onlyLeaderDecides, queueingIsNotStuck } from './authority.ts';
import { chartsAreKept } from './charts.ts';
import {
  deadlineOnlyFallsForLostWorkers,
  grantIsCreditedFirst,
  waitsForWhatItWasTold,
} from './credit.ts';
import { leavesNoDeadLetters } from './dead-letters.ts';
import { doneIsNeverTooLate, everyJobEnds, oneEnd } from './ends.ts';
import {
  elapsedNeverFalls,
  leaderlessTimeCounts,
  takeoverHappensOnce,
  takeoverKeepsAll,
} from './failover.ts';
import {
  decisionEpochRises,
  deposedLeaderIsHarmless,
  fencesAreWhole,
  leaderFenceRises,
} from './fences.ts';
import { gateNeverOverdueEarly, gateWaitsForWhatItWasTold } from './gate-time.ts';
import { leaderIsFound, oneLeaderPerFence } from './leaders.ts';
import { malformedIsRefused } from './malformed.ts';
import { backlogIsBounded, shedLeavesNothing } from './overload.ts';
import { progressArrives } from './progress-arrives.ts';
import { answersAreTrue } from './service-answers.ts';
import { staleIsAnsweredOnce, staleIsMadeGood, staleIsNeverObeyed } from './stale-messages.ts';
import { acceptedJobsSurvive, nothingStartsAfterCancel, oneJobPerId } from './submissions.ts';
import { neverOverdueEarly, reasonIsTrue, stuckMeansNoProgress } from './time.ts';
import { overdueIsFound, stuckIsFound } from './time-limits.ts';

export const jobCoreInvariants: readonly JobsInvariant[] = [
  leavesNoDeadLetters,
  neverOverdueEarly,
  stuckMeansNoProgress,
  reasonIsTrue,
  grantIsCreditedFirst,
  gateNeverOverdueEarly,
  gateWaitsForWhatItWasTold,
  deadlineOnlyFallsForLostWorkers,
  waitsForWhatItWasTold,
  overdueIsFound,
  stuckIsFound,
  progressArrives,
  doneIsNeverTooLate,
  authorityNeverChanges,
  onlyLeaderDecides,
  queueingIsNotStuck,
  oneEnd,
  everyJobEnds,
  chartsAreKept,
  acceptedJobsSurvive,
  oneJobPerId,
  nothingStartsAfterCancel,
  everyCallIsAnswered,
  answersAreTrue,
  malformedIsRefused,
  shedLeavesNothing,
  backlogIsBounded,
  leaderFenceRises,
  decisionEpochRises,
  staleIsNeverObeyed,
  staleIsAnsweredOnce,
  staleIsMadeGood,
  deposedLeaderIsHarmless,
  fencesAreWhole,
  takeoverKeepsAll,
  takeoverHappensOnce,
  elapsedNeverFalls,
  leaderlessTimeCounts,
  leaderIsFound,
  oneLeaderPerFence,
];
