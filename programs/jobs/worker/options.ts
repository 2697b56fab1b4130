/**
 * Options of a worker, their checks, and their defaults.
 */

import { ID_PATTERN } from '../../../machines/jobs/addresses.ts';
import type { LogEvent } from '../../../machines/jobs/log-events.ts';
import { CORES_MAX } from '../../../machines/jobs/messages/client.ts';
import { excerpt, RuntimeError } from '../../../runtime/base/errors.ts';
import type { InspectionReader } from '../../../runtime/base/inspection.ts';
import type { Logger, RuntimeLimits } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import type { Transport } from '../../../runtime/ports/transport.ts';
import type { JobsConfiguration } from '../configuration.ts';
import { type ExtensionPolicy, whenNeeded } from './extension.ts';
import type { Handlers } from './handlers.ts';
import { wrongName } from './shell-environment.ts';

export interface JobWorkerOptions {
  /** Its name, which no other worker has. */
  readonly worker: string;
  readonly datacenter: string;
  /** Cores for attempts, 1 to 1,024. */
  readonly cores: number;
  /** Handlers by name; `sleep` is there anyway. */
  readonly handlers?: Handlers;
  readonly config?: Partial<JobsConfiguration>;
  readonly transport: Transport;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  /** Aborting it stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  /** Adds the handler `shell`, by which anybody who may submit jobs runs commands here. Default false. */
  readonly allowShell?: boolean;
  /** Variables of this process's environment that its commands get besides `PATH`, `HOME` and the like. Default none. */
  readonly shellVariables?: readonly string[];
  /** Policy that asks for extensions besides handlers. Default `never`. */
  readonly extend?: 'never' | 'whenNeeded' | ExtensionPolicy;
  /** Time for which `stop` waits for what runs before it stops that too. Default 30,000. */
  readonly stopLimitMs?: number;
  /** Nodes that may lead the datacenter. Default: those whose name begins with `<datacenter>.manager-`. */
  readonly managers?: readonly string[];
  /** Limits of its runtime that differ from those of the jobs system. */
  readonly limits?: Partial<RuntimeLimits>;
  /** Told what the worker notes about itself. */
  readonly onNote?: (note: LogEvent) => void;
  /** As `createRuntime`'s. */
  readonly telemetry?: boolean;
  /** As `createRuntime`'s. */
  readonly inspect?: InspectionReader;
}

export const STOP_LIMIT_MS = 30_000;

export function policyOf(
  extend: JobWorkerOptions['extend'] = 'never',
): ExtensionPolicy | undefined {
  if (typeof extend === 'function') return extend;
  return extend === 'whenNeeded' ? whenNeeded : undefined;
}

/** True when a node may lead the datacenter. */
export function isManager(
  { managers, datacenter }: Pick<JobWorkerOptions, 'managers' | 'datacenter'>,
  node: string,
): boolean {
  return managers?.includes(node) ?? node.startsWith(`${datacenter}.manager-`);
}

/** @throws {RuntimeError} OPTION_INVALID */
export function checkOptions(options: JobWorkerOptions): void {
  const { worker, datacenter, cores, stopLimitMs = STOP_LIMIT_MS, extend = 'never' } = options;
  for (const [name, id] of Object.entries({ worker, datacenter }))
    if (typeof id !== 'string' || !ID_PATTERN.test(id))
      throw invalid(`"${name}" is 1 to 128 letters, digits or "._:-", got ${excerpt(id)}`);
  if (!(Number.isSafeInteger(cores) && cores >= 1 && cores <= CORES_MAX))
    throw invalid(`"cores" is a whole number from 1 to ${CORES_MAX}, got ${excerpt(cores)}`);
  if (!(Number.isSafeInteger(stopLimitMs) && stopLimitMs >= 0))
    throw invalid(`"stopLimitMs" is a whole number of 0 or more, got ${excerpt(stopLimitMs)}`);
  const wrong = wrongName(options.shellVariables ?? []);
  if (wrong !== undefined)
    throw invalid(
      `"shellVariables" are names of variables that commands may have, got ${excerpt(wrong)}`,
    );
  if (typeof extend !== 'function' && extend !== 'never' && extend !== 'whenNeeded')
    throw invalid(`"extend" is never, whenNeeded or a function, got ${excerpt(extend)}`);
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', `Worker: ${what}.`);
}
