/**
 * The nemesis menu of the jobs system: what any cluster can have, and what it takes gates, workers and
 * jobs for.
 *
 * Not on it: rolling upgrades, of which there is no second version to roll to, and configurations drawn
 * from their legal extremes, which are part of a plan from its beginning.
 */

import {
  boardOutage,
  connectionResets,
  crashAtDeadline,
  crashLoop,
  crashNodes,
  damagedFrames,
  damagedRecord,
  deafLeader,
  driftedTakeover,
  driftingClocks,
  failedFlush,
  flapping,
  fullDisk,
  isolateLeader,
  isolateNodes,
  killAtFailpoint,
  lateCommit,
  lateFrames,
  lostFrames,
  type NemesisKind,
  partition,
  pauseAtDeadline,
  pauseLeader,
  pauseNodes,
  powerCut,
  reconnectHerd,
  reorderedFrames,
  repeatedFrames,
  rollingRestart,
  slowConsumer,
  slowDisk,
  slowNodes,
  splitGroup,
  stallAtDeadline,
  stalledDisk,
  stepClockAtDeadline,
  stepLeaderClock,
  swizzleClog,
  throwingOnlookers,
} from '../../faults.ts';
import type { JobsScene } from '../scene.ts';
import { boundaryJitter, everythingAtOnce, extensionStorm } from './boundaries.ts';
import { byzantinePeer } from './byzantine.ts';
import {
  killBeforeAcknowledgement,
  killBetweenDeclarationAndBroadcast,
  killBetweenGrantAndCount,
  workerDiesAfterGrant,
} from './failpoints.ts';
import { gateAwayAfterReport, partedSubmission, silentAfterStall } from './gate-contact.ts';
import { partedDeclaration, takeoverAtDeclaration } from './gate-declarations.ts';
import { wordBehindHistory } from './gate-history.ts';
import {
  configReload,
  forgetfulGate,
  gateOutage,
  isolateGateAtDeclaration,
  partDatacenters,
} from './gates.ts';
import { overload } from './load.ts';
import { buggify, delayedDuplicate, progressStarvation, starvedHeartbeats } from './messages.ts';
import { silentAtWork } from './workers.ts';

/** A plan names its kinds, so their order matters to chance alone: add at the end. */
export const JOBS_MENU: readonly NemesisKind<JobsScene>[] = [
  swizzleClog,
  lateFrames,
  lostFrames,
  repeatedFrames,
  reorderedFrames,
  damagedFrames,
  slowConsumer,
  connectionResets,
  deafLeader,
  isolateNodes,
  isolateLeader,
  isolateGateAtDeclaration,
  partition,
  partDatacenters,
  boardOutage,
  flapping,
  crashNodes,
  crashLoop,
  powerCut,
  rollingRestart,
  pauseLeader,
  pauseNodes,
  stallAtDeadline,
  slowNodes,
  killAtFailpoint,
  killBetweenGrantAndCount,
  killBetweenDeclarationAndBroadcast,
  killBeforeAcknowledgement,
  workerDiesAfterGrant,
  stepLeaderClock,
  driftedTakeover,
  driftingClocks,
  slowDisk,
  stalledDisk,
  fullDisk,
  failedFlush,
  splitGroup,
  damagedRecord,
  gateOutage,
  forgetfulGate,
  configReload,
  boundaryJitter,
  everythingAtOnce,
  extensionStorm,
  progressStarvation,
  delayedDuplicate,
  buggify,
  overload,
  reconnectHerd,
  throwingOnlookers,
  byzantinePeer,
  lateCommit,
  partedSubmission,
  gateAwayAfterReport,
  silentAfterStall,
  starvedHeartbeats,
  silentAtWork,
  takeoverAtDeclaration,
  partedDeclaration,
  wordBehindHistory,
  crashAtDeadline,
  pauseAtDeadline,
  stepClockAtDeadline,
];
