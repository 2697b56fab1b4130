/** The nemesis menu: every kind of fault that any cluster can have. */

import { boundaryJitter } from './boundaries.ts';
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
import { killAtFailpoint } from './failpoints.ts';
import { reconnectHerd } from './herds.ts';
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
import { buggify, delayedDuplicate } from './messages.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import { throwingOnlookers } from './observers.ts';
import { boardOutage, flapping, isolateLeader, isolateNodes, partition } from './partitions.ts';
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
  partition,
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
  stepLeaderClock,
  driftedTakeover,
  driftingClocks,
  slowDisk,
  stalledDisk,
  fullDisk,
  failedFlush,
  splitGroup,
  damagedRecord,
  boundaryJitter,
  delayedDuplicate,
  buggify,
  reconnectHerd,
  throwingOnlookers,
  lateCommit,
  crashAtDeadline,
  pauseAtDeadline,
  stepClockAtDeadline,
];
