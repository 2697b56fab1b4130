/**
 * Host of runs: opens a runtime on a directory, for one process at a time.
 *
 * Opening it wakes what a process before has left there. Kinds and their performers are registered before that.
 */

import { mkdirSync, realpathSync } from 'node:fs';
import { platform } from 'node:process';
import { createRuntime } from '../../create-runtime.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Logger, type RuntimeLimits, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { lmdbStore } from '../../stores/lmdb.ts';

export interface HostOptions {
  /** Made where there is none. */
  readonly directory: string;
  /** Place of its actors, and name of its node. */
  readonly place: string;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Limits beside those of all runs. */
  readonly limits?: Partial<RuntimeLimits>;
}

/** What a host is made of. */
export interface HostParts {
  readonly data: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Store;
  readonly runtime: Runtime;
}

/** What is on record of runs stays there until the directory is removed. */
const RETENTION_MS = 100 * 365 * 86_400_000;
const LIMITS = {
  recordBytesMax: 16 * 1024 * 1024,
  endedRetentionMs: RETENTION_MS,
  drainMs: 30_000,
} as const;

/**
 * Opens a directory. `prepare` makes the host and registers its kinds; a performer reaches the host by `here`.
 *
 * @throws {RuntimeError} PLATFORM_UNSUPPORTED, STORE_LOCKED and what else opening a store throws
 */
export async function openHost<THost>(
  options: HostOptions,
  prepare: (parts: HostParts, here: () => THost) => THost,
): Promise<THost> {
  const { directory, place, clock = systemClock(), logger = SILENT_LOGGER, limits } = options;
  if (platform === 'win32')
    throw new RuntimeError('PLATFORM_UNSUPPORTED', 'Runs need POSIX process groups.');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const data = realpathSync(directory);
  const store = lmdbStore(data);
  let host: THost | undefined;
  const here = (): THost => {
    if (host === undefined) throw new RuntimeError('RUNTIME_STOPPED', 'The host is not open.');
    return host;
  };
  await createRuntime({
    node: place,
    place,
    store,
    clock,
    logger,
    limits: { ...LIMITS, ...limits },
    prepare: (runtime) => {
      const parts = { data, clock, logger, store, runtime: runtime as unknown as Runtime };
      host = prepare(parts, here);
    },
  });
  return here();
}
