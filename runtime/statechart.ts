/**
 * Door of `statechart/`: a machine, interpreted, and the parts of the seam to XState that other
 * rooms may use.
 */

export type {
  ActionEffect,
  ArmEffect,
  ChildLogic,
  ChildSeat,
  Effect,
  SendEffect,
  StartChildEffect,
} from './statechart/effect.ts';
export type { ChildResult } from './statechart/stand-in.ts';
export type { Outside, StatechartLimits, Tree } from './statechart/statechart.ts';
export { Statechart } from './statechart/statechart.ts';
export { statechartOf } from './statechart/statecharts.ts';
export {
  type ChangedRows,
  inlined,
  inputText,
  join,
  mayHaveTables,
  NO_TABLES,
  plain,
  rowChanges,
  storedRows,
  type Tables,
  tablesBeside,
  tablesIn,
  tablesOf,
  unmark,
  unmarkRecord,
  wholeRecord,
} from './statechart/tables.ts';
export type { Member } from './statechart/tree.ts';
export { type EnabledTransition, enabledTransitions } from './statechart/xstate-enabled.ts';
export { type Exit, exitsOf, pathOf } from './statechart/xstate-exits.ts';
export {
  activeDelays,
  activeNodes,
  childSessions,
  delayMsOf,
  isDeclared,
  isHandled,
  type LiveMachine,
  liveMachines,
  missingStates,
  type Outline,
  outlineOf,
} from './statechart/xstate-outline.ts';
export type { StateNode } from './statechart/xstate-sets.ts';
export {
  checkXStateVersion,
  isOfAnotherXState,
  NEWEST_XSTATE,
  OLDEST_XSTATE,
} from './statechart/xstate-versions.ts';
