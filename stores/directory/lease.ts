/**
 * The lease of a data directory: processes on one machine that stand in for each other.
 *
 * Guarantees, besides those of every lease: the process that holds any name owns the directory, so
 * all names that are held are held by one process, and a standby opens nothing in it. A holder that
 * ends, in order or not, is followed at once. One that is stopped or hung for `leaseMs` is killed
 * before another leads (see standby.ts), and should it have been suspended together with everything
 * else, it loses the lease before it takes another turn. Fences rise over all names, holders and
 * processes, and are on disk before they are told.
 *
 * Waiting for the lease keeps the process alive, holding it does not, unless `clock` does.
 * Two leases on one directory in one process stand in for each other like two processes would.
 */

import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Lease, LeaseClaim, LeaseHolder } from '../../runtime/ports/lease.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { type Entrant, LeaseContests } from './contests.ts';
import { openDataDirectory } from './data-directory.ts';
import { LeaseFence } from './fence.ts';
import { checkLeaseMs, DirectoryLock, type LockClocks, lockClocks } from './lock.ts';
import { DirectoryStandby } from './standby.ts';

export interface DirectoryLeaseOptions {
  /** Time that a holder may be silent before it loses the lease. Default 5,000. */
  readonly leaseMs?: number;
  /** Name of this node, for messages to processes that find the directory in use. */
  readonly node?: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Compatible with pino. Default: silent. */
  readonly logger?: Logger;
  /**
   * Treatment of a holder that is silent and does not end. `verified`: killed with SIGKILL if it is
   * the process it claims to be, on this machine (Linux only). `never`: waited for; choose this, or
   * a long `leaseMs`, where a debugger may stop the holder. Default `verified`.
   */
  readonly kill?: 'verified' | 'never';
}

/** @throws {RuntimeError} OPTION_INVALID, STORE_UNWRITABLE */
export function directoryLease(directory: string, options: DirectoryLeaseOptions = {}): Lease {
  const { kill = 'verified' } = options;
  if (kill !== 'verified' && kill !== 'never') {
    throw new RuntimeError('OPTION_INVALID', `kill must be "verified" or "never", got "${kill}".`);
  }
  return new DirectoryLease(directory, checkLeaseMs(options.leaseMs), { ...options, kill });
}

class DirectoryLease implements Lease {
  readonly #directory: string;
  readonly #leaseMs: number;
  readonly #node: string | undefined;
  readonly #clock: Clock | undefined;
  readonly #clocks: LockClocks;
  readonly #logger: Logger;
  readonly #standby: DirectoryStandby;
  readonly #fence: LeaseFence;
  readonly #contests = new LeaseContests((what) => this.#tell(what));
  #lock: DirectoryLock | undefined;
  /** The last beat is too old: the lease counts as lost, even if the next beat comes. */
  #isOverdue = false;
  #isSeeking = false;
  #isGranting = false;
  #lastTrouble: string | undefined;

  constructor(
    directory: string,
    leaseMs: number,
    options: DirectoryLeaseOptions & { readonly kill: 'verified' | 'never' },
  ) {
    const opened = openDataDirectory(directory);
    this.#directory = opened.path;
    this.#fence = new LeaseFence(opened.path);
    this.#leaseMs = leaseMs;
    this.#node = options.node;
    this.#clock = options.clock;
    this.#clocks = lockClocks(options.clock);
    this.#logger = options.logger ?? SILENT_LOGGER;
    this.#standby = new DirectoryStandby({
      directory: opened,
      leaseMs,
      kill: options.kill,
      clock: this.#clocks.waiting,
      random: systemRandom(),
      logger: this.#logger,
    });
  }

  hold(name: string, holder: LeaseHolder): LeaseClaim {
    const entrant = this.#contests.enter(name, holder);
    queueMicrotask(() => this.#proceed());
    return {
      isHeld: () => entrant.isHolding && this.#isHolding(),
      raise: (fence) => this.#raise(entrant, fence),
      release: () => this.#leave(entrant),
    };
  }

  #isHolding(): boolean {
    const lock = this.#lock;
    if (lock === undefined || this.#isOverdue) return false;
    if (lock.beatAgeMs() < this.#leaseMs) return true;
    this.#isOverdue = true;
    this.#clocks.holding.defer(() => {
      if (this.#lock === lock) this.#lose('This process was paused for longer than the lease.');
    });
    return false;
  }

  /** Does what is to be done next: get the directory, or pass names on. */
  #proceed(): void {
    const step = this.#lock === undefined ? this.#seek() : this.#grant(this.#lock);
    step.catch((thrown) => this.#complain(thrown));
  }

  async #seek(): Promise<void> {
    if (this.#isSeeking) return;
    this.#isSeeking = true;
    // After trouble others go first: they may be able to do what this process could not.
    let isPatient = this.#lastTrouble !== undefined;
    while (!this.#contests.isEmpty && this.#lock === undefined) {
      const lock = isPatient ? undefined : await this.#tryLock();
      isPatient = false;
      if (lock === undefined) {
        this.#contests.standBy(true);
        if (!this.#contests.isEmpty) await this.#standby.wait();
      } else if (this.#contests.isEmpty) lock.release();
      else this.#lock = lock;
    }
    this.#isSeeking = false;
    if (this.#lock !== undefined) this.#proceed();
  }

  async #tryLock(): Promise<DirectoryLock | undefined> {
    try {
      let lock: DirectoryLock | undefined;
      lock = await DirectoryLock.acquire(this.#directory, 'lease', {
        leaseMs: this.#leaseMs,
        node: this.#node,
        clock: this.#clock,
        logger: this.#logger,
        lost: (reason) => this.#lock === lock && this.#lose(reason),
        late: (gapMs) =>
          this.#lock === lock && this.#lose(`This process was silent for ${gapMs} ms.`),
        silent: (owner) => this.#standby.depose(owner),
      });
      this.#isOverdue = false;
      return lock;
    } catch (thrown) {
      if ((thrown as Partial<RuntimeError>).code !== 'STORE_LOCKED') this.#complain(thrown);
      return undefined;
    }
  }

  /** Gives each name that is free to the first who waits for it. */
  async #grant(lock: DirectoryLock): Promise<void> {
    this.#contests.standBy(false);
    if (this.#isGranting) return;
    this.#isGranting = true;
    for (let next = this.#contests.next(); next !== undefined; next = this.#contests.next()) {
      const fence = await this.#nextFence(lock);
      if (this.#lock !== lock) break;
      if (fence === undefined || !lock.confirm() || !this.#isHolding()) {
        this.#lose('The lease could not be confirmed.');
        break;
      }
      this.#lastTrouble = undefined;
      // The first holder may have left meanwhile.
      if (this.#contests.next() === next) this.#contests.grant(next, fence);
    }
    this.#isGranting = false;
    this.#contests.standBy(false);
    if (this.#lock !== lock) this.#proceed();
  }

  async #nextFence(lock: DirectoryLock): Promise<number | undefined> {
    try {
      return await this.#fence.raise(() => this.#lock === lock && lock.confirm());
    } catch (thrown) {
      this.#complain(thrown);
      return undefined;
    }
  }

  async #raise(entrant: Entrant, atLeast: number): Promise<number> {
    const lock = this.#lock;
    if (lock === undefined || !entrant.isHolding || entrant.fence >= atLeast) return entrant.fence;
    const isOurs = () => this.#lock === lock && entrant.isHolding && lock.confirm();
    const fence = await this.#fence.raise(isOurs, atLeast);
    if (fence !== undefined && isOurs()) entrant.fence = fence;
    return entrant.fence;
  }

  #lose(reason: string): void {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    lock.release();
    this.#logger.warn({ directory: this.#directory, reason }, 'lost the lease of a directory');
    this.#contests.loseAll();
    queueMicrotask(() => this.#proceed());
  }

  #leave(entrant: Entrant): void {
    this.#contests.leave(entrant);
    if (!this.#contests.isEmpty) {
      queueMicrotask(() => this.#proceed());
      return;
    }
    this.#lock?.release();
    this.#lock = undefined;
    this.#standby.stop();
  }

  /** One holder's mistake must not keep the others from being told. */
  #tell(what: () => void): void {
    try {
      what();
    } catch (thrown) {
      const fields = { directory: this.#directory, error: messageOf(thrown) };
      this.#logger.error(fields, 'a holder of a lease threw');
    }
  }

  /** Said once as long as it stays the same; tried again all the time. */
  #complain(thrown: unknown): void {
    const trouble = messageOf(thrown);
    if (trouble === this.#lastTrouble) return;
    this.#lastTrouble = trouble;
    this.#logger.error(
      { directory: this.#directory, error: trouble },
      'the lease of a directory cannot be taken',
    );
  }
}
