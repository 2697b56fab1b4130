/**
 * Door of `actor/`: one actor in memory and in its record, and the kinds that actors are of.
 */

export {
  type Actor,
  FORGOTTEN,
  indexEntry,
  isIdle,
  type PendingEffect,
  shownSnapshot,
  stateText,
  unspawned,
} from './actor/actor.ts';
export {
  type ChildRetry,
  childrenToRun,
  dropRetry,
  endedSession,
  hasAttemptsLeft,
  planRetry,
  RUN_AGAIN,
  runAgain,
} from './actor/child-tries.ts';
export { type CommitListener, Commits, type Group } from './actor/commit-group.ts';
export { CONTEXT_LOSSY, ContextLosses, type ContextLossServices } from './actor/context-losses.ts';
export { newUndelivered, parseUndelivered, type Undelivered } from './actor/dead-letters.ts';
export { Deadlines } from './actor/deadlines.ts';
export {
  isReserved,
  LEADERSHIP_ACQUIRED,
  MESSAGE_REFUSED,
  reserved,
  typeOf,
} from './actor/event-names.ts';
export { type HistoryRow, historyText, parseHistoryRow, tell } from './actor/history.ts';
export { type IsSameLife, WINDOW_MAX } from './actor/inbox.ts';
export {
  type DurablePerformer,
  type ForeignMessage,
  Kind,
  type KindOptions,
  type MigratedState,
  type Performer,
  type PerformerCall,
  RECORD_FORMAT,
  type StandardSchema,
} from './actor/kind.ts';
export { type KindEntries, type KindEntry, type MachinesOf, partsOf } from './actor/kind-entry.ts';
export { Kinds } from './actor/kinds.ts';
export { LiveActors } from './actor/live-actors.ts';
export {
  aged,
  type Item,
  type Message,
  type MovedDeadline,
  message,
  type Order,
  type OrderName,
  refuseItem,
  TURNS_AHEAD_MAX,
  type Urgency,
} from './actor/mailbox.ts';
export { ageOf, type Lane, Outbox, type OutboxRow, UNDER_WAY_MAX } from './actor/outbox.ts';
export { Queue } from './actor/queue.ts';
export { cursorBehind, cursorBehindQueue, isSameRank, onlyQueue, rankKey } from './actor/rank.ts';
export {
  checkDeadlines,
  decodeRecord,
  encodeRecord,
  mayOweMessages,
  numberedSince,
} from './actor/record.ts';
export type { Supervision } from './actor/supervision-options.ts';
export { type TimerRow, TimerTable } from './actor/timer-table.ts';
export {
  type Asked,
  emptyTurn,
  eventType,
  isKept,
  NOTHING,
  noteCommitted,
  stamped,
  type Turn,
} from './actor/turn-result.ts';
