/**
 * The lock of a data directory: one process owns it at a time.
 *
 * Guarantees: exclusive between processes and containers that see the same directory, by any path;
 * gone with its process, also after SIGKILL; nothing else of it survives. Within the owning process
 * each role may be taken once, and the roles share the lock: a lease can hold the directory first
 * and the store then opens it. Holding keeps no process alive.
 *
 * It is no lock for network file systems, nor between workers of one process: the second one is
 * refused like any other process. A process that ignores it is not stopped by it.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { claimDirectory } from './claim.ts';
import { type DataDirectory, openDataDirectory, unwritable } from './data-directory.ts';
import { DirectoryOwner, type LockRole } from './owner.ts';
import { LEASE_MS_MAX, type OwnerRecord } from './owner-file.ts';
import { thisProcess } from './process-identity.ts';

const DEFAULT_LEASE_MS = 5_000;
/** A busy process needs that long at times to come round to its next beat. */
const LEASE_MS_MIN = 100;

export interface DirectoryLockOptions {
  /** Time that the owner may be silent before others take it for hung. Default 5,000. */
  readonly leaseMs?: number | undefined;
  /** Named in the message to the process that comes second. */
  readonly node?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Called once when another process has taken the directory over. The lock is released then. */
  readonly lost?: ((reason: string) => void) | undefined;
  /** Called when this process was silent for its lease time or more and still owns the directory. */
  readonly late?: ((gapMs: number) => void) | undefined;
  /** Asked about an owner that lives and is silent, see `ClaimSetup`. */
  readonly silent?: ((owner: OwnerRecord) => boolean) | undefined;
}

/** Owners by identity of the directory. A promise, because two roles may be asked for at once. */
const owners = new Map<string, Promise<DirectoryOwner>>();

export class DirectoryLock {
  readonly directory: DataDirectory;
  readonly #owner: DirectoryOwner;
  readonly #role: LockRole;
  #isReleased = false;

  /**
   * Takes the lock, or is refused. That takes a moment only, unless an owner in another
   * container has to be watched: then up to its lease time.
   *
   * @throws {RuntimeError} STORE_LOCKED, STORE_UNWRITABLE, OPTION_INVALID
   */
  static async acquire(
    directory: string,
    role: LockRole,
    options: DirectoryLockOptions = {},
  ): Promise<DirectoryLock> {
    const place = openDataDirectory(directory);
    for (;;) {
      const owner = await ownerOf(place, options);
      // The other role may have left between the claim and now.
      if (!owner.isEnded) return new DirectoryLock(place, owner, role, options);
    }
  }

  private constructor(
    directory: DataDirectory,
    owner: DirectoryOwner,
    role: LockRole,
    options: DirectoryLockOptions,
  ) {
    this.directory = directory;
    this.#owner = owner;
    this.#role = role;
    owner.join(role, {
      leaseMs: checkLeaseMs(options.leaseMs),
      lost: (reason) => {
        this.#isReleased = true;
        options.lost?.(reason);
      },
      late: (gapMs) => options.late?.(gapMs),
    });
  }

  /** Milliseconds since the owner last showed that it lives. Cheap. */
  beatAgeMs(): number {
    return this.#owner.beatAgeMs();
  }

  /** Looks whether the directory is still ours, and shows that we live. */
  confirm(): boolean {
    return !this.#isReleased && this.#owner.beat() && !this.#isReleased;
  }

  /** The directory is free when both roles have released it. Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#owner.leave(this.#role);
  }
}

/** @throws {RuntimeError} OPTION_INVALID */
export function checkLeaseMs(leaseMs: number = DEFAULT_LEASE_MS): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs >= LEASE_MS_MIN && leaseMs <= LEASE_MS_MAX) {
    return leaseMs;
  }
  throw new RuntimeError(
    'OPTION_INVALID',
    `leaseMs must be a whole number from ${LEASE_MS_MIN} to ${LEASE_MS_MAX}, got ${leaseMs}.`,
  );
}

/** Clocks to wait by and to beat by. */
export interface LockClocks {
  /** Keeps the process alive while somebody waits for an answer. */
  readonly waiting: Clock;
  readonly holding: Clock;
}

let systemClocks: LockClocks | undefined;

export function lockClocks(clock: Clock | undefined): LockClocks {
  if (clock !== undefined) return { waiting: clock, holding: clock };
  systemClocks ??= { waiting: systemClock(), holding: systemClock({ unref: true }) };
  return systemClocks;
}

function ownerOf(place: DataDirectory, options: DirectoryLockOptions): Promise<DirectoryOwner> {
  const known = owners.get(place.identity);
  if (known !== undefined) return known;
  const forget = () => {
    if (owners.get(place.identity) === claiming) owners.delete(place.identity);
  };
  const claiming = own(place, options, forget);
  owners.set(place.identity, claiming);
  claiming.catch(forget);
  return claiming;
}

async function own(
  place: DataDirectory,
  options: DirectoryLockOptions,
  ended: () => void,
): Promise<DirectoryOwner> {
  const { waiting, holding } = lockClocks(options.clock);
  const record: OwnerRecord = {
    ...thisProcess(),
    id: systemRandom().id(),
    node: options.node,
    leaseMs: checkLeaseMs(options.leaseMs),
    since: waiting.now(),
  };
  try {
    const claim = await claimDirectory(place, { record, clock: waiting, silent: options.silent });
    const logger = options.logger ?? SILENT_LOGGER;
    return new DirectoryOwner({ directory: place, record, claim, clock: holding, logger, ended });
  } catch (thrown) {
    throw unwritable(place.path, thrown);
  }
}
