/**
 * Journal: what actors did in a real run, turn by turn, as a store or a recording has it.
 *
 * A history has types of events and states; a recording has events whole and contexts, too. The more a journal has,
 * the more a machine can be held against it.
 */

export interface JournalTurn {
  readonly address: string;
  /** Number of the turn of its actor; a number that is left out is a gap. */
  readonly turn: number;
  /** Time when the event was taken, in ms since the epoch. */
  readonly at: number;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  /** True where the event has all its fields, and not its type alone. */
  readonly isWhole?: boolean;
  /** Moment that a deadline was armed for. */
  readonly dueAt?: number;
  /** State value afterwards; left out where it is as before. */
  readonly state?: unknown;
  /** Context afterwards, as JSON, where it was written down. */
  readonly context?: unknown;
  /** Deadlines afterwards, where they were written down. */
  readonly deadlines?: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
  /** The turn failed, which changed nothing. */
  readonly hasFailed?: boolean;
}

/** A change of state by an event, as it was seen. */
export interface Move {
  /** State value as text; empty before the spawn. */
  readonly from: string;
  readonly event: string;
  readonly to: string;
}

export const nameOf = ({ from, event, to }: Move): string => `${from}\n${event}\n${to}`;

/** A move in words. */
export const wordsOfMove = ({ from, event, to }: Move): string =>
  from === '' ? `${event} → ${to}` : `${from}  ${event}  ${from === to ? 'stays' : `→ ${to}`}`;

/** Data as text, whatever the order of its keys; a state value of one word is that word. */
export function canonical(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(ordered(value));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, ordered(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** True of data that is the same when it was written as JSON and read again. */
export function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null)
    return typeof value !== 'function' && typeof value !== 'bigint' && typeof value !== 'symbol';
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain)
  );
}
