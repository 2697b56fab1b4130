/**
 * Door of `rehearsal/`: an upgrade, tried on stored records before it is made.
 */

export { differs, type MachineDifference } from './rehearsal/diff.ts';
export type { FindingGroup, Level } from './rehearsal/findings.ts';
export {
  type RehearsedKinds,
  rehearsedKinds,
  type UpgradeKind,
  type UpgradeModule,
} from './rehearsal/kinds.ts';
export { type Rehearsal, type RehearsalOptions, rehearse } from './rehearsal/rehearsal.ts';
