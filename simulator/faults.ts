/**
 * Door of `faults/`: kinds of faults, how they are drawn, begun and healed.
 */

export { beforeDeadlines, boundaryJitter, holdUntil } from './faults/boundaries.ts';
export { driftedTakeover, driftingClocks, stepLeaderClock } from './faults/clocks.ts';
export { allNodes, allPlaces, type ClusterShape, electedPlaces } from './faults/cluster-shape.ts';
export { crashAtDeadline, pauseAtDeadline, stepClockAtDeadline } from './faults/deadlines.ts';
export {
  damagedRecord,
  failedFlush,
  fullDisk,
  slowDisk,
  splitGroup,
  stalledDisk,
} from './faults/disks.ts';
export { drawNemeses } from './faults/draw.ts';
export { Edges } from './faults/edges.ts';
export { drawnTimes, killAt, killAtFailpoint } from './faults/failpoints.ts';
export { coreOf, epsilonOf, heal } from './faults/healing.ts';
export { reconnectHerd } from './faults/herds.ts';
export {
  connectionResets,
  damagedFrames,
  deafLeader,
  lateFrames,
  lostFrames,
  reorderedFrames,
  repeatedFrames,
  slowConsumer,
  swizzleClog,
} from './faults/links.ts';
export { MENU } from './faults/menu.ts';
export {
  afterFailover,
  buggifyAt,
  commitDelayed,
  commitRefused,
  delayedDuplicate,
  drawnDelayMs,
  FIRES,
  frameTwice,
  keepCopies,
  lose,
  MOMENTS,
  type Site,
  timerLate,
} from './faults/messages.ts';
export type { Nemesis } from './faults/nemesis.ts';
export { kindOfNemesis, type NemesisKind } from './faults/nemesis-kind.ts';
export { nemesisSchema, rangeMs } from './faults/nemesis-schema.ts';
export { throwingOnlookers } from './faults/observers.ts';
export {
  boardOutage,
  flapping,
  HOWS,
  type How,
  isolateLeader,
  isolateNodes,
  part,
  partition,
} from './faults/partitions.ts';
export {
  crashLoop,
  crashNodes,
  pauseLeader,
  pauseNodes,
  powerCut,
  rollingRestart,
  slowNodes,
  stallAtDeadline,
} from './faults/processes.ts';
export { type Scene, Strike, start } from './faults/strike.ts';
export { Strikes } from './faults/strikes.ts';
export { lateCommit } from './faults/takeovers.ts';
export { few, leaderOf, nodesMeant, othersThan } from './faults/targets.ts';
