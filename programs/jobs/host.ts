/**
 * Host options: what a manager and a gate are given alike, and what of it their runtimes get.
 */

import { READS } from '../../machines/jobs/jobs-service.ts';
import type { LogEvent } from '../../machines/jobs/log-events.ts';
import type { InspectionReader } from '../../runtime/base/inspection.ts';
import { type Logger, type RuntimeLimits, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Lease } from '../../runtime/ports/lease.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import type { JobsConfiguration } from './configuration.ts';
import type { ClientGrant } from './jobs-service/permissions.ts';
import { jobsLimits } from './limits.ts';

export interface HostOptions {
  /** Clients by name, as they are now: who may do what is docs/jobs-operations.md. Default: every client is an operator. */
  readonly clients?: () => readonly ClientGrant[] | undefined;
  /** Without `clients`: nodes that may cancel jobs and add time to them, besides the gates. Default: every node that reaches the jobs service. */
  readonly operators?: readonly string[];
  /** Options that differ from their defaults. */
  readonly config?: Partial<JobsConfiguration>;
  readonly transport?: Transport;
  /** Requests that one client may make in a minute by a socket; with more it is sent away for a while. Default 100. */
  readonly clientRequestsPerMinute?: number;
  /** Limits of its runtime that differ from those of the jobs system. */
  readonly limits?: Partial<RuntimeLimits>;
  /** Store of the jobs; nodes of one place share it. Default: in memory. */
  readonly store?: Store;
  /** Lease that says who hosts the place. Default: this process, without asking anybody. */
  readonly lease?: Lease;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
  /** Hears what the machines log, beside the log. */
  readonly onNote?: (note: LogEvent) => void;
  /** As `createRuntime`'s. */
  readonly onHosting?: (fence: number) => void;
  /** As `createRuntime`'s. */
  readonly onFatal?: (failure: Error) => void;
  /** As `createRuntime`'s. */
  readonly telemetry?: boolean;
  /** As `createRuntime`'s. */
  readonly inspect?: InspectionReader;
}

/** Options that are handed on as they are. */
const HANDED_ON = [
  'transport',
  'store',
  'lease',
  'signal',
  'onFatal',
  'telemetry',
  'inspect',
] as const;

type HandedOn = Pick<HostOptions, (typeof HANDED_ON)[number]>;

/** How the jobs service is registered wherever it is hosted. */
export const SERVICE_OPTIONS = {
  questions: READS,
  newWork: ['job.submitted'],
  openToClients: true,
} as const;

/** What `createRuntime` gets of the options of a manager or a gate, with their defaults. */
export function runtimeOptions(options: HostOptions, config: JobsConfiguration) {
  const { clock = systemClock(), random = systemRandom(), logger = SILENT_LOGGER } = options;
  const handedOn = HANDED_ON.flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name]] as const],
  );
  return {
    clock,
    random,
    logger,
    limits: jobsLimits(config, options),
    ...(Object.fromEntries(handedOn) as HandedOn),
  };
}
