/**
 * Faults of a pretend disk with the groups that it is handed.
 *
 * Guarantees: what is refused was not written, and the store says so with COMMIT_REFUSED; what fails
 * may have been, and the store says STORE_FAILED. Chance is drawn by rules that ask for it alone.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { SeededRandom } from '../random.ts';
import type { GroupEnd } from './disk.ts';

export interface RefusalRule {
  /** Names its stream of chance. */
  readonly id?: string;
  /** What the disk says: ENOSPC, EDQUOT, EROFS, EMFILE, EIO. Default ENOSPC. */
  readonly reason?: string;
  /** Only groups of that node. */
  readonly node?: string;
  /** Every k-th group, counted from when it begins. Default 1: each. */
  readonly every?: number;
  /** Share of those. Default 1. */
  readonly share?: number;
  /** This many groups, then no more. */
  readonly count?: number;
}

export interface DiskFault {
  /** How many groups it refused or failed. */
  readonly hits: number;
  end(): void;
}

interface Refusal {
  readonly rule: RefusalRule;
  readonly random: SeededRandom;
  seen: number;
  hits: number;
}

interface Failure {
  readonly end: GroupEnd;
  hits: number;
}

export class DiskFaults {
  readonly #random: SeededRandom;
  readonly #refusals = new Set<Refusal>();
  readonly #failures = new Set<Failure>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  refuse(rule: RefusalRule): DiskFault {
    const { id = '', every = 1 } = rule;
    if (!(Number.isSafeInteger(every) && every > 0))
      throw new RangeError(`Every n-th group needs a whole number n above 0, not ${every}.`);
    const refusal: Refusal = { rule, random: this.#random.stream(id), seen: 0, hits: 0 };
    this.#refusals.add(refusal);
    return faultOf(refusal, this.#refusals);
  }

  /** The next group that is written fails, and ends so. */
  fail(end: GroupEnd): DiskFault {
    const failure: Failure = { end, hits: 0 };
    this.#failures.add(failure);
    return faultOf(failure, this.#failures);
  }

  /** Why a group of this node is not written. */
  refusalOf(node: string): RuntimeError | undefined {
    let reason: string | undefined;
    for (const refusal of this.#refusals) if (takes(refusal, node)) reason ??= reasonOf(refusal);
    if (reason === undefined) return undefined;
    return new RuntimeError('COMMIT_REFUSED', `${reason}: the disk of this place is out of order.`);
  }

  /** Why nobody knows whether this group is written. */
  failureOf(): { readonly end: GroupEnd; readonly error: RuntimeError } | undefined {
    for (const failure of this.#failures) {
      this.#failures.delete(failure);
      failure.hits += 1;
      const what =
        'EIO: the flush of a group failed, and nobody knows what of it is on disk. End this process and start it again; it goes on from what is.';
      return { end: failure.end, error: new RuntimeError('STORE_FAILED', what) };
    }
    return undefined;
  }
}

function takes(refusal: Refusal, node: string): boolean {
  const { rule, random } = refusal;
  const { every = 1, share = 1, count = Number.POSITIVE_INFINITY } = rule;
  if (refusal.hits >= count || (rule.node !== undefined && rule.node !== node)) return false;
  refusal.seen += 1;
  if (refusal.seen % every !== 0) return false;
  if (share < 1 && random.next() >= share) return false;
  refusal.hits += 1;
  return true;
}

function reasonOf({ rule }: Refusal): string {
  return rule.reason ?? 'ENOSPC';
}

function faultOf<TFault extends { hits: number }>(fault: TFault, all: Set<TFault>): DiskFault {
  return {
    get hits() {
      return fault.hits;
    },
    end: () => void all.delete(fault),
  };
}
