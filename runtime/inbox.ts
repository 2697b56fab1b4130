/**
 * Which messages an actor has already taken, by sender: what makes delivery
 * effectively once.
 *
 * Per sender the highest contiguous counter (all up to it are settled) and a window
 * of the ones above it that have arrived. Every message brings the sender's lowest
 * unacknowledged counter; everything below is settled, so windows shrink. The marks
 * are part of the receiver's record and so committed together with the effect of the
 * message. Senders unheard of for the retention time are forgotten, at most
 * `sendersMax` are remembered: a further one is refused, never let in unmarked.
 */

/** Counters above the contiguous one that are remembered; a sender has no more than this many under way. */
export const WINDOW_MAX = 64;

export interface InboxLimits {
  readonly sendersMax: number;
  readonly dedupRetentionMs: number;
}

interface Mark {
  high: number;
  above: number[];
  at: number;
  /** The sender's name as JSON, made once. */
  readonly name: string;
}

/** As stored: `{ sender: [high, at, …above] }`. */
export type StoredInbox = Readonly<Record<string, readonly number[]>>;

export class Inbox {
  readonly #marks = new Map<string, Mark>();

  static restore(stored: StoredInbox | undefined): Inbox {
    const inbox = new Inbox();
    for (const [sender, [high = 0, at = 0, ...above]] of Object.entries(stored ?? {})) {
      inbox.#marks.set(sender, { high, at, above, name: JSON.stringify(sender) });
    }
    return inbox;
  }

  get size(): number {
    return this.#marks.size;
  }

  has(sender: string, counter: number): boolean {
    const mark = this.#marks.get(sender);
    return mark !== undefined && (counter <= mark.high || mark.above.includes(counter));
  }

  /**
   * Marks a message that `has` does not know as taken; `settledBelow`: all lower counters are settled.
   * False when there is no room for another sender.
   */
  take(
    sender: string,
    counter: number,
    settledBelow: number,
    at: number,
    limits: InboxLimits,
  ): boolean {
    let mark = this.#marks.get(sender);
    if (mark === undefined) {
      this.#prune(at, limits.dedupRetentionMs);
      if (this.#marks.size >= limits.sendersMax) return false;
      mark = { high: 0, above: [], at, name: JSON.stringify(sender) };
      this.#marks.set(sender, mark);
    } else if (at - mark.at > limits.dedupRetentionMs / 8) {
      // Moved to the end now and then, so that the map stays roughly in the order in which senders were heard.
      this.#marks.delete(sender);
      this.#marks.set(sender, mark);
    }
    mark.at = at;
    if (settledBelow > mark.high + 1) mark.high = settledBelow - 1;
    if (counter === mark.high + 1) mark.high = counter;
    else mark.above.push(counter);
    if (mark.above.length > 0) settle(mark);
    return true;
  }

  /** The sender has durably noted that everything of its is settled and can never come again. */
  forget(sender: string): void {
    this.#marks.delete(sender);
  }

  /** Forgets the senders heard least recently whose time is over. */
  #prune(at: number, retentionMs: number): void {
    for (const [sender, mark] of this.#marks) {
      if (at - mark.at <= retentionMs) return;
      this.#marks.delete(sender);
    }
  }

  /** JSON text, empty without marks. */
  encode(): string {
    if (this.#marks.size === 0) return '';
    let text = '{';
    for (const { name, high, at, above } of this.#marks.values()) {
      if (text.length > 1) text += ',';
      text += `${name}:[${high},${at}${above.length > 0 ? `,${above.join(',')}` : ''}]`;
    }
    return `${text}}`;
  }
}

/** Moves what has become contiguous, or is below it, out of the window. */
function settle(mark: Mark): void {
  mark.above.sort((a, b) => a - b);
  while (mark.above.length > 0 && (mark.above[0] as number) <= mark.high + 1) {
    mark.high = Math.max(mark.high, mark.above.shift() as number);
  }
}
