/**
 * Standby: a process that waits for a directory which another process owns.
 *
 * Guarantees: an owner that leaves or dies is noticed at once, by the end of a connection to its
 * socket; where there is none, at the next look. An owner whose beats stop for its lease time is
 * hung or stopped: it is killed if it is a process of this machine and namespace beyond doubt, so
 * that it never wakes up to do harm. A process that cannot be verified is not killed, and this is
 * said once. It neither takes the lock nor opens anything in the directory but `owner.json`.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { DataDirectory } from './data-directory.ts';
import { type OwnerRecord, type OwnerSighting, readOwner } from './owner-file.ts';
import { OwnerSilence } from './owner-silence.ts';
import { killVerified } from './process-identity.ts';
import { socketNameOf, watchSocket } from './socket.ts';

export interface StandbySetup {
  readonly directory: DataDirectory;
  readonly leaseMs: number;
  readonly kill: 'verified' | 'never';
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const LOOKS_PER_LEASE = 10;
/** An owner that dies ends its connections a moment before its socket is free. */
const HASTE_MS = 20;

export class DirectoryStandby {
  readonly #setup: StandbySetup;
  readonly #silence: OwnerSilence;
  /** Id of the owner that was complained about last. */
  #saidOf: string | undefined;
  #wokenAt = Number.NEGATIVE_INFINITY;
  /** Pause before the next try when a connection ends right after the last one; it grows. */
  #hasteMs = HASTE_MS;
  #wake: () => void = () => {};

  constructor(setup: StandbySetup) {
    this.#setup = setup;
    this.#silence = new OwnerSilence(2 * this.#lookEveryMs());
  }

  /** Resolves when the directory may be free, and after a lease time in any case. */
  wait(): Promise<void> {
    const { clock, directory, leaseMs } = this.#setup;
    const everyMs = this.#lookEveryMs();
    const untilMs = clock.now() + leaseMs;
    return new Promise((resolve) => {
      let cancelLook: Cancel = () => {};
      let isConnected = true;
      const wake = () => {
        cancelLook();
        leave();
        this.#wokenAt = clock.now();
        resolve();
      };
      const leave = watchSocket(socketNameOf(directory.identity), () => {
        isConnected = false;
        if (clock.now() - this.#wokenAt >= everyMs) {
          this.#hasteMs = HASTE_MS;
          wake();
          return;
        }
        // Somebody who closes every connection at once does not make us run in circles.
        cancelLook();
        cancelLook = clock.schedule(clock.now() + this.#jittered(this.#hasteMs), wake);
        this.#hasteMs = Math.min(2 * this.#hasteMs, everyMs);
      });
      const look = () => {
        this.#look();
        // The owner may have given up the lease and kept the directory, for its store.
        if (isConnected && clock.now() < untilMs) scheduleLook();
        else wake();
      };
      const scheduleLook = () => {
        cancelLook = clock.schedule(clock.now() + this.#jittered(everyMs), look);
      };
      this.#wake = wake;
      this.#look();
      scheduleLook();
    });
  }

  /** Ends the waiting now. */
  stop(): void {
    this.#wake();
  }

  /** Sees to the end of a silent owner. True when it is ending. */
  depose(owner: OwnerRecord): boolean {
    const { kill, logger, directory } = this.#setup;
    const outcome = kill === 'never' ? 'refused' : killVerified(owner);
    const { pid, host, node, id } = owner;
    const fields = { directory: directory.path, pid, host, holder: node };
    if (outcome === 'killed' && this.#saidOf !== id) {
      logger.warn(fields, 'killed the owner of a directory, which had stopped renewing its lease');
    }
    if (outcome === 'refused' && this.#saidOf !== id) {
      logger.error(
        fields,
        'the owner of a directory has stopped renewing its lease and cannot be killed from here: end it by hand',
      );
    }
    this.#saidOf = id;
    return outcome !== 'refused';
  }

  #look(): void {
    const { clock, directory, leaseMs, logger } = this.#setup;
    let sighting: OwnerSighting | undefined;
    try {
      sighting = readOwner(directory.path);
    } catch (thrown) {
      // Not to see is not the same as to see nothing: it does not count as silence.
      logger.debug({ directory: directory.path, error: messageOf(thrown) }, 'cannot see the owner');
      return;
    }
    const silentMs = this.#silence.look(sighting, clock.now());
    const owner = sighting?.record;
    if (owner === undefined || silentMs < Math.max(leaseMs, owner.leaseMs)) return;
    this.depose(owner);
  }

  #lookEveryMs(): number {
    return Math.ceil(this.#setup.leaseMs / LOOKS_PER_LEASE);
  }

  /** Jitters the pause, so that several standbys do not look at the same moment. */
  #jittered(everyMs: number): number {
    return Math.ceil(everyMs * (0.75 + this.#setup.random.next() / 4));
  }
}
