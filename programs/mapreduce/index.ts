/**
 * Entry `escapement/mapreduce`: commands for many items, bounded in time, to an end that survives crashes.
 *
 * This is a public entry.
 */

export type {
  AttemptDocument,
  CommandDocument,
  ItemDocument,
  RunDocument,
  TimeoutDocument,
} from './documents.ts';
export type { RunEvent, Sink } from './monitor.ts';
export { type RunOptions, runMapReduce } from './run.ts';
export type { TimerPort } from './timer-port.ts';
export { WorkflowError } from './workflow.ts';
