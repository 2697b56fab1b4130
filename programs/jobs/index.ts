/**
 * `escapement/jobs`: gates, managers, workers and clients of the jobs system, to start in programs
 * of one's own.
 *
 * This is a public entry. Importing it starts nothing and connects nothing: stores, transports and
 * leases are handed to what is started here. docs/jobs.md is the guide.
 */

export type { LogEvent, LogEventName } from '../../machines/jobs/log-events.ts';
export type {
  CancelAnswer,
  DatacenterView,
  ExtendAnswer,
  ExtendRefusal,
  JobPage,
  JobTerms,
  JobView,
  StuckWorkflow,
  SubmissionAnswer,
  WorkerPage,
  WorkerView,
  WorkflowView,
} from '../../machines/jobs/messages/client.ts';
export type {
  DenialReason,
  ExtensionAnswer,
  ExtensionReason,
} from '../../machines/jobs/messages/worker.ts';
export type {
  Authority,
  FailureReason,
  JobStatus,
  Outcome,
  Quorum,
  Reason,
  TimeoutReason,
  WorkflowStatus,
} from '../../machines/jobs/words.ts';
export type { LeaseRules } from '../../machines/lease-rules.ts';
export { type ElectedLeaseOptions, electedLease } from '../elected-lease.ts';
export { type LocalClientOptions, localClient } from './client/local-client.ts';
export {
  type ClientByTransport,
  type ClientByUrl,
  type ClientOptions,
  connectClient,
  type JobsClient,
  type NewJob,
  type NewWorkflow,
  type WaitOptions,
} from './client.ts';
export { type JobsConfiguration, leaseRules, resolveConfiguration } from './configuration.ts';
export type { Counters, Labels } from './counters.ts';
export { type Gate, type GateOptions, startGate } from './gate.ts';
export type { ClientGrant, ClientRole } from './jobs-service/permissions.ts';
export { type Manager, type ManagerOptions, startManager } from './manager.ts';
export { JOBS_ROLES, type JobsRole } from './peer-roles.ts';
export {
  type ObservedJob,
  type Recommendation,
  type RecommendedLimit,
  type RecommendOptions,
  recommend,
} from './recommend.ts';
export {
  type ExtensionPolicy,
  type ExtensionView,
  type ExtensionWish,
  type Handler,
  type HandlerContext,
  type Handlers,
  type JobWorker,
  type JobWorkerOptions,
  type ReportedProgress,
  startWorker,
  type WorkerEnd,
} from './worker.ts';
