/**
 * The nemesis menu: every kind of fault that plans can name.
 *
 * Not on it: rolling upgrades, of which there is no second version to roll to, and configurations drawn
 * from their legal extremes, which are part of a plan from its beginning.
 */

import { byzantinePeer } from '../jobs/faults/byzantine.ts';
import {
  gateAwayAfterReport,
  partedSubmission,
  silentAfterStall,
} from '../jobs/faults/gate-contact.ts';
import { partedDeclaration, takeoverAtDeclaration } from '../jobs/faults/gate-declarations.ts';
import { wordBehindHistory } from '../jobs/faults/gate-history.ts';
import {
  configReload,
  forgetfulGate,
  gateOutage,
  isolateGateAtDeclaration,
} from '../jobs/faults/gates.ts';
import { overload, reconnectHerd } from '../jobs/faults/load.ts';
import { silentAtWork } from '../jobs/faults/workers.ts';
import { boundaryJitter, everythingAtOnce, extensionStorm } from './boundaries.ts';
import { driftedTakeover, driftingClocks, stepLeaderClock } from './clocks.ts';
import { crashAtDeadline, pauseAtDeadline, stepClockAtDeadline } from './deadlines.ts';
import {
  damagedRecord,
  failedFlush,
  fullDisk,
  slowDisk,
  splitGroup,
  stalledDisk,
} from './disks.ts';
import {
  killAtFailpoint,
  killBeforeAcknowledgement,
  killBetweenDeclarationAndBroadcast,
  killBetweenGrantAndCount,
  workerDiesAfterGrant,
} from './failpoints.ts';
import {
  connectionResets,
  damagedFrames,
  deafLeader,
  lateFrames,
  lostFrames,
  reorderedFrames,
  repeatedFrames,
  slowConsumer,
  swizzleClog,
} from './links.ts';
import { buggify, delayedDuplicate, progressStarvation, starvedHeartbeats } from './messages.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import { throwingOnlookers } from './onlookers.ts';
import {
  boardOutage,
  flapping,
  isolateLeader,
  isolateNodes,
  partDatacenters,
  partition,
} from './partitions.ts';
import {
  crashLoop,
  crashNodes,
  pauseLeader,
  pauseNodes,
  powerCut,
  rollingRestart,
  slowNodes,
  stallAtDeadline,
} from './processes.ts';
import { lateCommit } from './takeovers.ts';

/** A plan names its kinds, so their order matters to chance alone: add at the end. */
export const MENU: readonly NemesisKind[] = [
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

/** @throws {Error} when there is none of that name. */
export function kindOfNemesis(kind: string): NemesisKind {
  const found = MENU.find((one) => one.kind === kind);
  if (found !== undefined) return found;
  const known = MENU.map((one) => one.kind).join(', ');
  throw new Error(`There is no nemesis "${kind}". There are: ${known}.`);
}
