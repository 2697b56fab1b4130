/**
 * Door of `invariants/`: what must hold in every run, and who judges it.
 */

export { engineInvariants } from './invariants/engine.ts';
export {
  type Invariant,
  Judge,
  type Judgement,
  type RunFacts,
  type Verdict,
  type Violation,
  type Watcher,
} from './invariants/invariant.ts';
export { lostDisk, unreadable } from './invariants/reading-disks.ts';
export { openFrame, refusalOf } from './invariants/reading-frames.ts';
export { type CommitRecord, isWritten } from './invariants/reading-holders.ts';
export { isEnded, partsOf, type StoredParts, turnsOf } from './invariants/reading-records.ts';
