/**
 * The inspection stream: one typed record for everything that happens, as it happens.
 *
 * Every part that shows something (a log, a page, a metric, a test) reads this stream or the
 * history. Readers are called synchronously after the commit; one that throws is taken off the
 * stream and harms nobody. Without a reader nothing is built, and of an actor that concerns none of them no turn.
 */

import type { ErrorShape } from './errors.ts';
import { messageOf } from './errors.ts';
import type { Logger } from './limits.ts';

interface Common {
  readonly node: string;
  readonly place: string;
  readonly at: number;
}

export type InspectionFact =
  /** An actor was spawned, has ended or was stopped. */
  | {
      readonly type: 'actor';
      readonly address: string;
      readonly kind: string;
      readonly change: 'born' | 'done' | 'stopped';
    }
  /** A message left a turn of `from`. */
  | {
      readonly type: 'messageSent';
      readonly from: string;
      readonly counter: number;
      readonly to: string;
      readonly event: { readonly type: string };
    }
  /** A message of a node that no longer hosts the place of `from`: a fence kept it out. Counter 0 is a hint's. */
  | {
      readonly type: 'messageFenced';
      readonly from: string;
      readonly counter: number;
      readonly to: string;
      readonly event: { readonly type: string };
    }
  /** A turn is durable. `from` and `counter` name the message that caused it. */
  | {
      readonly type: 'turn';
      readonly address: string;
      readonly turn: number;
      /** Time when the event was taken; `at` is when the turn was durable. */
      readonly takenAt: number;
      readonly event: { readonly type: string };
      readonly from: string | undefined;
      readonly counter: number | undefined;
      readonly state: string;
      readonly context: unknown;
      readonly error: ErrorShape | undefined;
    }
  /** A question is given to its performer; no turn is taken for it. `from` and `counter` as those of a turn. */
  | {
      readonly type: 'question';
      readonly address: string;
      readonly event: { readonly type: string };
      readonly from: string | undefined;
      readonly counter: number | undefined;
    }
  /** The deadlines of an actor after a turn. */
  | {
      readonly type: 'timers';
      readonly address: string;
      readonly timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
    }
  /** An event was given up; it is among the undelivered messages, unless it crossed two ends. */
  | {
      readonly type: 'undelivered';
      readonly to: string;
      readonly event: { readonly type: string };
      readonly error: ErrorShape;
      /** Its sender hears of refusals and had come to its end before, and its receiver had ended too. */
      readonly isMoot?: true;
    }
  | { readonly type: 'commit'; readonly turns: number; readonly records: number }
  | {
      readonly type: 'commitRefused';
      readonly error: string;
      readonly addresses: readonly string[];
    }
  | { readonly type: 'lease'; readonly change: 'acquired' | 'lost'; readonly fence: number }
  | { readonly type: 'peer'; readonly peer: string; readonly change: 'up' | 'down' };

export type InspectionRecord = Common & InspectionFact;
export type InspectionReader = (record: InspectionRecord) => void;
/** Actors of whose turns, deadlines, messages and lives a reader is told. */
export type InspectionConcern = (address: string) => boolean;

export class Inspection {
  readonly #readers = new Map<InspectionReader, InspectionConcern | undefined>();
  readonly #node: string;
  readonly #place: string;
  readonly #now: () => number;
  readonly #logger: Logger;

  constructor(node: string, place: string, now: () => number, logger: Logger) {
    this.#node = node;
    this.#place = place;
    this.#now = now;
    this.#logger = logger;
  }

  /** Ask this before building a fact. */
  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** True if some reader is told of this actor. Ask this before building a fact about it. */
  concerns(address: string): boolean {
    for (const [reader, concern] of this.#readers)
      if (this.#isTold(reader, concern, address)) return true;
    return false;
  }

  /** Without `concern` it is told of every actor. Returns the function that ends the reading. */
  read(reader: InspectionReader, concern?: InspectionConcern): () => void {
    this.#readers.set(reader, concern);
    return () => {
      this.#readers.delete(reader);
    };
  }

  tell(fact: InspectionFact): void {
    const record: InspectionRecord = {
      node: this.#node,
      place: this.#place,
      at: this.#now(),
      ...fact,
    };
    for (const [reader, concern] of this.#readers) {
      if (concern !== undefined && !this.#concernsFact(reader, concern, fact)) continue;
      try {
        reader(record);
      } catch (thrown) {
        this.#takeOff(reader, thrown);
      }
    }
  }

  #concernsFact(
    reader: InspectionReader,
    concern: InspectionConcern,
    fact: InspectionFact,
  ): boolean {
    if (fact.type === 'messageSent')
      return this.#isTold(reader, concern, fact.from) || this.#isTold(reader, concern, fact.to);
    return !('address' in fact) || this.#isTold(reader, concern, fact.address);
  }

  #isTold(
    reader: InspectionReader,
    concern: InspectionConcern | undefined,
    address: string,
  ): boolean {
    if (concern === undefined) return true;
    try {
      return concern(address);
    } catch (thrown) {
      this.#takeOff(reader, thrown);
      return false;
    }
  }

  #takeOff(reader: InspectionReader, thrown: unknown): void {
    this.#readers.delete(reader);
    this.#logger.error(
      { error: messageOf(thrown) },
      'an inspection reader threw and was taken off the stream',
    );
  }
}
