/** Figures of a job, as a datacenter tells them with each report: those of one that has just begun. */

export const FIGURES = {
  elapsedMs: 0,
  timeoutMs: 600_000,
  sinceProgressMs: 0,
  queued: false,
  extensionsMs: 0,
  maxWorkerExtensionMs: 0,
  workersWithExtensions: 0,
  holdMs: 0,
  locallyTimedOut: false,
  targetDatacenters: ['A'],
  gateId: 'gate-1',
};
