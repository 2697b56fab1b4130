/**
 * Entry `escapement/agents`: plans of tasks for agents, bounded in time, with experts and a human, to an end that
 * survives crashes.
 *
 * This is a public entry.
 */

export type {
  AttemptDocument,
  QuestionDocument,
  RunDocument,
  RunStatus,
  TaskDocument,
} from './documents.ts';
export type { EventRecord, Watcher } from './event-log.ts';
export { type Orchestration, type ReportedUsage, type RunOptions, runAgents } from './run.ts';
export type { ToAgent } from './worker.ts';
export type { Driver, DriverRun } from './workers/driver-worker.ts';
