/**
 * Portions of long lists, so that nobody else in the process waits for all of one.
 *
 * Guarantees: the items are taken in order, each once; a portion begins when the one before it is
 * done and pending I/O had its turn. A list that is one portion is taken at once. An item that is
 * more than a portion is a portion of its own.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';

/** Size of a portion: the weight it may have, and that of an item. */
export interface PortionSize<TItem> {
  readonly max: number;
  readonly weigh: (item: TItem) => number;
}

/** Rejects as soon as `take` does; then the rest is not taken. */
export async function inPortions<TItem>(
  clock: Clock,
  items: readonly TItem[],
  { max, weigh }: PortionSize<TItem>,
  take: (portion: readonly TItem[]) => unknown,
): Promise<void> {
  let from = 0;
  while (from < items.length) {
    if (from > 0) await pendingWork(clock);
    let weight = 0;
    let end = from;
    do weight += weigh(items[end++] as TItem);
    while (end < items.length && weight + weigh(items[end] as TItem) <= max);
    await take(items.slice(from, end));
    from = end;
  }
}

/** Resolves once pending I/O had its turn. */
export function pendingWork(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.defer(resolve));
}
