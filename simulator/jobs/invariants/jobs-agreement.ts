/** Invariants between gates and datacenters, and of what is left when a job has ended. */

import type { JobsInvariant } from '../facts.ts';
import { nothingBeginsAfterTheOutcome } from './after-outcome.ts';
import { catchingUpInvariants } from './catching-up.ts';
import { nothingFiresAfterTheEnd, tracksNothingAgain } from './cleanup.ts';
import { endsOnce, fallsBackAtLast, fallsBackLate, fallsBackOnlyWhenDue } from './fallback.ts';
import { agreesInTheEnd, decisionsArrive, reportsArrive } from './gate-convergence.ts';
import {
  countsNoSilence,
  decidesByItsRules,
  decidesOnce,
  tellsEverybodyWhoRunsIt,
} from './gate-decisions.ts';
import { goesForward, ignoresStrangers, inventsNothing } from './gate-reports.ts';
import { leavesNothing } from './leftovers.ts';
import { followsFromEnds, staysAsItWasRead } from './outcomes.ts';
import { presumesOnlyTheUnreachable } from './unconfirmed.ts';
import { removesOnlyTheLost } from './worker-credit.ts';

export const jobAgreementInvariants: readonly JobsInvariant[] = [
  decidesByItsRules,
  decidesOnce,
  decisionsArrive,
  tellsEverybodyWhoRunsIt,
  inventsNothing,
  reportsArrive,
  ignoresStrangers,
  goesForward,
  countsNoSilence,
  ...catchingUpInvariants,
  fallsBackLate,
  fallsBackAtLast,
  fallsBackOnlyWhenDue,
  endsOnce,
  followsFromEnds,
  staysAsItWasRead,
  agreesInTheEnd,
  nothingBeginsAfterTheOutcome,
  presumesOnlyTheUnreachable,
  nothingFiresAfterTheEnd,
  leavesNothing,
  tracksNothingAgain,
  removesOnlyTheLost,
];
