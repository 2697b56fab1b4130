/**
 * Reader of a stored record's text: as little of it as a question needs.
 *
 * Guarantees: the short ways give the answer of the long one. Where the name that is looked for
 * stands elsewhere in the record too, the whole of it is parsed. It trusts the text: a damaged
 * record is the store's business.
 */

/** The parts of a record that invariants ask for; see runtime/actor/record.ts. */
export interface StoredParts {
  readonly turns: number;
  readonly snapshot: {
    readonly value?: unknown;
    readonly context?: unknown;
    readonly children?: Readonly<Record<string, unknown>>;
  };
  readonly timers?: ReadonlyArray<readonly [id: string, dueAt: number, ...rest: unknown[]]>;
  /** Watermarks by sender: the highest counter taken, the moment, then those above it. */
  readonly inbox?: Readonly<Record<string, readonly number[]>>;
  readonly counter?: number;
  readonly outbox?: ReadonlyArray<readonly [counter: number, to: string, event: unknown]>;
  readonly status?: 'active' | 'done' | 'stopped';
}

export function partsOf(text: string): StoredParts {
  return JSON.parse(text) as StoredParts;
}

const TURNS = '"turns":';

/** How many turns the actor had taken. They stand at the beginning, before anything of a user's. */
export function turnsOf(text: string): number {
  return numberAt(text, text.indexOf(TURNS) + TURNS.length);
}

/** Whether the inbox says that the message was taken. */
export function isMarked(text: string, from: string, counter: number): boolean {
  const name = `${JSON.stringify(from)}:[`;
  const found = text.indexOf(name);
  if (found < 0) return false;
  if (found === text.lastIndexOf(name) && numberAt(text, found + name.length) >= counter)
    return true;
  const [high = 0, _at, ...above] = partsOf(text).inbox?.[from] ?? [];
  return counter <= high || above.includes(counter);
}

/** The last counter that the actor has given to a message. */
export function counterOf(text: string): number {
  const name = '"counter":';
  const found = text.indexOf(name);
  if (found < 0) return 0;
  if (found === text.lastIndexOf(name)) return numberAt(text, found + name.length);
  return partsOf(text).counter ?? 0;
}

/** Whether the actor has ended. What is usual is left out, so an active one has no status. */
export function isEnded(text: string): boolean {
  // A snapshot that is done says so too, at another place.
  return text.includes('"status":"') && (partsOf(text).status ?? 'active') !== 'active';
}

function numberAt(text: string, start: number): number {
  let value = 0;
  for (let index = start; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return value;
}
