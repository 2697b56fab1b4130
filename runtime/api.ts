/**
 * Door of `api/`: handles, queries and explanations for code that embeds a runtime, and its node.
 */

export type { ActorReport, ReportedDeadline } from './api/actor-report.ts';
export {
  type ActorHandle,
  createHandle,
  type HandleHost,
  type ReplyOf,
  type SendOptions,
  type SpawnOptions,
} from './api/handle.ts';
export { Node } from './api/node.ts';
export type { StartPorts } from './api/node-ports.ts';
export {
  type ActorPage,
  type ActorQuery,
  type ActorRow,
  queryActors,
  WAITING_FOR,
  type WaitingFor,
} from './api/query.ts';
export type { HistoryOptions, Waits } from './api/reads.ts';
export { type RegisteredKind, type RuntimeWatch, watchOf } from './api/runtime-watch.ts';
export type { KindOptionsOf } from './api/typed-kind.ts';
