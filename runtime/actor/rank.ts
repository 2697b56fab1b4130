/**
 * Ranks: actors that wait stand in queues, which the store's index keeps in order.
 *
 * A kind says of a committed snapshot which queue its actor stands in, and where (`rank` in
 * kind.ts). The store keeps one key for each such actor, so that the first of a queue are found at
 * a cost that does not depend on how many wait. Keys are printable ASCII and NUL: their bytes lie
 * in the order of the texts.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';
import type { Rank } from '../ports/store.ts';
import type { Kind } from './kind.ts';

/** Longer texts would not fit into a key beside an address. */
const RANK_TEXT_MAX = 200;
const PLAIN = /^[ -~]{1,200}$/;
const SEPARATOR = '\u0000';
/** Sorts after every key that goes on with a separator, and before every longer name. */
const BEHIND = '\u0001';

/** True if a store can keep it. */
function isRank(rank: unknown): rank is Rank {
  const { queue, order } = (rank ?? {}) as Partial<Rank>;
  return [queue, order].every((text) => typeof text === 'string' && PLAIN.test(text));
}

/** No action is called so. */
const REPORTED_AS = '(rank)';

/** Rank of an actor in this state. A rank that no store can keep is none, and is told of once. */
export function rankOf(kind: Kind, snapshot: AnyMachineSnapshot, logger: Logger): Rank | undefined {
  const { rank } = kind.options;
  if (rank === undefined) return undefined;
  let fault = `queue and order are printable ASCII, 1 to ${RANK_TEXT_MAX} characters each`;
  try {
    const found = rank(snapshot);
    if (found === undefined || isRank(found)) return found;
  } catch (thrown) {
    fault = messageOf(thrown);
  }
  if (kind.reported.has(REPORTED_AS)) return undefined;
  kind.reported.add(REPORTED_AS);
  logger.error({ kind: kind.name, fault }, 'an actor that waits has no rank: no queue has it');
  return undefined;
}

/** The place of an actor among all that wait: by queue, then by order, then by address. */
export function rankKey({ queue, order }: Rank, address: string): string {
  return `${queue}${SEPARATOR}${order}${SEPARATOR}${address}`;
}

export function isSameRank(one: Rank | undefined, other: Rank | undefined): boolean {
  return one?.queue === other?.queue && one?.order === other?.order;
}

/** A cursor behind everything of that queue up to this order; without one, before its first. */
export function cursorBehind(queue: string, order?: string): string {
  return order === undefined ? `${queue}${SEPARATOR}` : `${queue}${SEPARATOR}${order}${BEHIND}`;
}

/** A cursor behind the whole queue. */
export function cursorBehindQueue(queue: string): string {
  return `${queue}${BEHIND}`;
}

/** Value of `queue` in a query for this queue alone, and none whose name goes on. */
export function onlyQueue(queue: string): string {
  return `${queue}${SEPARATOR}`;
}
