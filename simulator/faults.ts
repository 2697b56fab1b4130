/**
 * Door of `faults/`: kinds of faults, how they are drawn, begun and healed.
 */

export { beforeDeadlines, boundaryJitter, holdUntil } from './faults/boundaries.ts';

export { allNodes, allPlaces, type ClusterShape, electedPlaces } from './faults/cluster-shape.ts';

export { drawNemeses } from './faults/draw.ts';
export { Edges } from './faults/edges.ts';
export { drawnTimes, killAt } from './faults/failpoints.ts';
export { coreOf, epsilonOf, heal } from './faults/healing.ts';

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

export { HOWS, type How, part } from './faults/partitions.ts';

export { type Scene, Strike, start } from './faults/strike.ts';
export { Strikes } from './faults/strikes.ts';

export { few, leaderOf, nodesMeant, othersThan } from './faults/targets.ts';
