/**
 * The inspection stream: one typed record for everything that happens, as it happens.
 *
 * Every part that shows something (a log, a page, a metric, a test) reads this stream or the
 * history. Readers are called synchronously after the commit; one that throws is taken off the
 * stream and harms nobody. Without a reader nothing is built.
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

export class Inspection {
  readonly #readers = new Set<InspectionReader>();
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

  /** Returns the function that ends the reading. */
  read(reader: InspectionReader): () => void {
    this.#readers.add(reader);
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
    for (const reader of this.#readers) {
      try {
        reader(record);
      } catch (thrown) {
        this.#readers.delete(reader);
        this.#logger.error(
          { error: messageOf(thrown) },
          'an inspection reader threw and was taken off the stream',
        );
      }
    }
  }
}
