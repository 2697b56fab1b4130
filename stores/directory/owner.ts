/**
 * Owner of a directory: this process, for as long as it has a role in it.
 *
 * Guarantees: each role is taken once; the directory is free when the last role leaves. It beats
 * every third of the lease time and looks at each beat whether the owner file is still its own;
 * if not, every role is told once that the lock is lost. A beat that came too late is told as
 * well, before it counts: until then the age of the last one tells the truth. Beats are made in
 * the event loop and by nobody else, so a process whose loop stands still is silent.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { BEATS_PER_LEASE, type Claim, locked } from './claim.ts';
import type { DataDirectory } from './data-directory.ts';
import type { OwnerRecord } from './owner-file.ts';

export type LockRole = 'store' | 'lease';

/** Listener of one role. */
export interface RoleHolder {
  readonly leaseMs: number;
  /** The directory is another's now; called once, and nothing after it. */
  lost(reason: string): void;
  /** The owner was silent for `gapMs`, which is its lease time or more. */
  late(gapMs: number): void;
}

export interface OwnerSetup {
  readonly directory: DataDirectory;
  readonly record: OwnerRecord;
  readonly claim: Claim;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the directory is not ours any more, however that came. */
  readonly ended: () => void;
}

export class DirectoryOwner {
  readonly #setup: OwnerSetup;
  readonly #roles = new Map<LockRole, RoleHolder>();
  #beatAt: number;
  #cancelBeat: Cancel = () => {};
  #isEnded = false;

  constructor(setup: OwnerSetup) {
    this.#setup = setup;
    this.#beatAt = setup.clock.now();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** @throws {RuntimeError} STORE_LOCKED when this process has the role already. */
  join(role: LockRole, holder: RoleHolder): void {
    const { directory, record } = this.#setup;
    if (this.#roles.has(role)) throw locked(directory, record);
    this.#roles.set(role, holder);
    this.#scheduleBeat();
  }

  /** The last one to leave frees the directory, at once. */
  leave(role: LockRole): void {
    this.#roles.delete(role);
    if (this.#roles.size > 0 || this.#isEnded) return;
    this.#end();
    const { file, socket } = this.#setup.claim;
    // The file first: the next holder of the socket then finds nobody to wait for.
    file.remove();
    socket.close();
  }

  /** Time since the owner last showed that it lives. */
  beatAgeMs(): number {
    return this.#setup.clock.now() - this.#beatAt;
  }

  /** Beats now. True when the directory is ours beyond doubt. */
  beat(): boolean {
    if (this.#isEnded) return false;
    // Taken before the file is written: in doubt our own beat is older than it looks to others.
    const at = this.#setup.clock.now();
    const gapMs = at - this.#beatAt;
    const outcome = this.#renew();
    if (outcome === 'taken') {
      this.#lose();
      return false;
    }
    for (const holder of [...this.#roles.values()]) {
      if (gapMs >= holder.leaseMs) holder.late(gapMs);
    }
    if (outcome === 'renewed') this.#beatAt = at;
    return outcome === 'renewed' && !this.#isEnded;
  }

  #renew(): 'renewed' | 'taken' | 'failed' {
    const { claim, directory, logger } = this.#setup;
    try {
      return claim.file.beat() ? 'renewed' : 'taken';
    } catch (thrown) {
      // A full table of descriptors, a failing disk: it may pass, and the age goes on growing.
      const fields = { directory: directory.path, error: messageOf(thrown) };
      logger.warn(fields, 'the owner of a directory could not renew its lock');
      return 'failed';
    }
  }

  #lose(): void {
    const { claim, directory, logger } = this.#setup;
    const holders = [...this.#roles.values()];
    this.#roles.clear();
    this.#end();
    claim.file.abandon();
    claim.socket.close();
    const reason = `The directory ${JSON.stringify(directory.path)} has another owner, or its owner.json was removed.`;
    logger.warn({ directory: directory.path }, 'a directory is owned by another process now');
    for (const holder of holders) holder.lost(reason);
  }

  #end(): void {
    this.#isEnded = true;
    this.#cancelBeat();
    this.#setup.ended();
  }

  /** The most impatient role sets the pace. */
  #leaseMs(): number {
    return Math.min(...[...this.#roles.values()].map(({ leaseMs }) => leaseMs));
  }

  #scheduleBeat(): void {
    this.#cancelBeat();
    if (this.#isEnded) return;
    const { clock } = this.#setup;
    const everyMs = Math.ceil(this.#leaseMs() / BEATS_PER_LEASE);
    this.#cancelBeat = clock.schedule(clock.now() + everyMs, () => {
      this.beat();
      this.#scheduleBeat();
    });
  }
}
