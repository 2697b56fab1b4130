/**
 * Kinds known to a node. Stored actors of a kind that is not registered yet wait: the deadlines and
 * messages under way of the kind are remembered here until it is registered.
 */

import { kindOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { Kind } from './kind.ts';

export class Kinds {
  readonly #kinds = new Map<string, Kind>();
  readonly #parked = new Map<string, Set<string>>();

  /** Returns the addresses that waited for this kind. @throws {RuntimeError} KIND_EXISTS */
  add(kind: Kind): Iterable<string> {
    if (this.#kinds.has(kind.name)) {
      throw new RuntimeError('KIND_EXISTS', `Kind "${kind.name}" is registered already.`);
    }
    this.#kinds.set(kind.name, kind);
    const parked = this.#parked.get(kind.name) ?? new Set<string>();
    this.#parked.delete(kind.name);
    return parked;
  }

  /** @throws {RuntimeError} KIND_UNKNOWN */
  of(address: string): Kind {
    const name = kindOf(address);
    const kind = this.#kinds.get(name);
    if (kind !== undefined) return kind;
    const known = [...this.#kinds.keys()].join(', ') || 'none';
    throw new RuntimeError(
      'KIND_UNKNOWN',
      `No kind "${name}" is registered here (registered: ${known}).`,
      { address },
    );
  }

  find(name: string): Kind | undefined {
    return this.#kinds.get(name);
  }

  /** Registered kinds, in the order in which they were. */
  [Symbol.iterator](): IterableIterator<Kind> {
    return this.#kinds.values();
  }

  wantsLeadership(name: string): boolean {
    return this.#kinds.get(name)?.wantsLeadership === true;
  }

  /** True for actors that clients may not speak to; of a kind that is not known it is not known either. */
  isClosedToClients(address: string): boolean {
    const kind = this.#kinds.get(kindOf(address));
    return kind !== undefined && kind.options.openToClients !== true;
  }

  /** True when the address has to wait for its kind; then it is remembered. */
  park(address: string): boolean {
    const name = kindOf(address);
    if (this.#kinds.has(name)) return false;
    const parked = this.#parked.get(name) ?? new Set<string>();
    this.#parked.set(name, parked.add(address));
    return true;
  }
}
