/**
 * History of a run, in the order in which things happened: all that invariants and reports read.
 *
 * Guarantees: records are never changed; `atMs` is true time since zero, which no node of the run
 * knows; what a record says of an actor was durable when it was written down. Values in it (events,
 * contexts, records) are those of the run itself, not copies: readers must not change them.
 * The hash covers every record, so two runs with the same hash were the same run. A history that is
 * not kept is heard by its readers and hashed like any other, and has no records afterwards.
 */

import type { ErrorShape } from '../../runtime/base/errors.ts';
import { TraceHash } from './trace-hash.ts';

/** The life of a node. */
export interface NodeFact {
  readonly type: 'node';
  readonly change: 'started' | 'crashed' | 'stopped' | 'paused' | 'resumed' | 'skewed' | 'slowed';
  /** Which of its lives it is, first is 1. */
  readonly life: number;
  /** How far its wall clock is ahead of true time, and how many millionths it runs too fast. */
  readonly skewMs: number;
  readonly driftPpm: number;
}

/** Something was done to the cluster that should not happen to one. */
export interface FaultFact {
  readonly type: 'fault';
  /** As in the menu: `isolateLeader`, `clog`, `commitRefused`, … */
  readonly kind: string;
  /** Same for its beginning and its end. */
  readonly id: string;
  /** `hit`: it changed what happened (a frame was lost, a group refused). */
  readonly change: 'began' | 'hit' | 'ended';
  readonly about: unknown;
}

/** An actor took one event, and that is durable. */
export interface TurnFact {
  readonly type: 'turn';
  readonly place: string;
  readonly address: string;
  /** The kind in the address. */
  readonly kind: string;
  readonly turn: number;
  /** The node's own time when the event was taken. */
  readonly takenAt: number;
  readonly event: { readonly type: string };
  /** The message's identity; absent for timers and local senders. */
  readonly from: string | undefined;
  readonly counter: number | undefined;
  /** The state afterwards, as text: one word or JSON. */
  readonly state: string;
  /** The context afterwards; undefined when no event reached the machine. */
  readonly context: unknown;
  /** The turn failed and left the actor as it was. */
  readonly error: ErrorShape | undefined;
}

/** An event was given to the performer that answers it, without a turn. */
export interface QuestionFact {
  readonly type: 'question';
  readonly place: string;
  readonly address: string;
  readonly kind: string;
  /** The node's own time when it was given. */
  readonly takenAt: number;
  readonly event: { readonly type: string };
  readonly from: string | undefined;
  readonly counter: number | undefined;
}

export interface ActorFact {
  readonly type: 'actor';
  readonly place: string;
  readonly address: string;
  readonly kind: string;
  readonly change: 'born' | 'done' | 'stopped';
}

/** A message left a turn: it is in the durable outbox of its sender. */
export interface SentFact {
  readonly type: 'sent';
  readonly place: string;
  readonly from: string;
  readonly counter: number;
  readonly to: string;
  readonly event: { readonly type: string };
}

/** All deadlines of an actor after a turn, by its node's own time. */
export interface TimersFact {
  readonly type: 'timers';
  readonly place: string;
  readonly address: string;
  readonly timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
}

/** An event was given up. */
export interface UndeliveredFact {
  readonly type: 'undelivered';
  readonly place: string;
  readonly to: string;
  readonly event: { readonly type: string };
  readonly error: ErrorShape;
  /** Its sender and its receiver had both come to their ends. */
  readonly isMoot?: true;
}

/** A frame on its way from `node` to `to`. Decode it with runtime/delivery/frame.ts. */
export interface FrameFact {
  readonly type: 'frame';
  readonly to: string;
  readonly change: 'sent' | 'delivered' | 'lost' | 'repeated' | 'held' | 'damaged';
  readonly frame: string;
}

/** A group at the store of a place. */
export interface CommitFact {
  readonly type: 'commit';
  readonly place: string;
  readonly shard: string;
  readonly fence: number;
  /** `lost`: the node died first. `split`: it died, and only some of its records were written. */
  readonly change: 'settled' | 'refused' | 'lost' | 'split';
  /** What is in the store now because of it, with the rows of tables in the records; of a lost or refused group nothing. */
  readonly writes: ReadonlyArray<{ readonly address: string; readonly record: string | null }>;
  /** All actors of the group. */
  readonly addresses: readonly string[];
  readonly error: string | undefined;
}

export interface LeaseFact {
  readonly type: 'lease';
  readonly place: string;
  readonly change: 'acquired' | 'lost';
  readonly fence: number;
}

/** A line of a program's log; what machines log has `fields.event`, the message is its name then. */
export interface LogFact {
  readonly type: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Code of a user does something in the world: the effect that all this is for. Of this and of calls a system
 * says more, such as what they are about, by merging declarations.
 */
export interface WorkFact {
  readonly type: 'work';
  readonly change:
    | 'started'
    | 'progressed'
    | 'asked'
    | 'answered'
    | 'aborted'
    | 'returned'
    | 'threw';
  /** What it is done for, in words. */
  readonly subject?: string;
  /** The progress, the wish, the answer, the result or the error. */
  readonly about: unknown;
}

/** A client asks (`node` is the client's). */
export interface CallFact {
  readonly type: 'call';
  readonly call: string;
  readonly to: string;
  /** Name of what is asked for. */
  readonly request: string;
  /** What it is about, in words. */
  readonly subject?: string;
  readonly body: unknown;
}

/** What came back: `unknown` when nobody can say whether it was done. */
export interface AnswerFact {
  readonly type: 'answer';
  readonly call: string;
  readonly outcome: 'ok' | 'refused' | 'unknown';
  readonly about: unknown;
}

/** Something that should not only never fail but sometimes happen. */
export interface MarkFact {
  readonly type: 'mark';
  readonly mark: string;
}

export type HistoryFact =
  | NodeFact
  | FaultFact
  | TurnFact
  | QuestionFact
  | ActorFact
  | SentFact
  | TimersFact
  | UndeliveredFact
  | FrameFact
  | CommitFact
  | LeaseFact
  | LogFact
  | WorkFact
  | CallFact
  | AnswerFact
  | MarkFact;

interface Common {
  /** Its place in the history, from 0. */
  readonly index: number;
  /** True time since zero; below zero while the cluster is being set up. */
  readonly atMs: number;
  /** Where it happened; empty for what happens to the whole cluster. */
  readonly node: string;
}

export type RecordOf<TFact> = TFact extends HistoryFact ? Common & TFact : never;
export type HistoryRecord = RecordOf<HistoryFact>;

export class History {
  readonly records: HistoryRecord[] = [];
  readonly #now: () => number;
  readonly #isKept: boolean;
  #length = 0;
  readonly #readers: Array<(record: HistoryRecord) => void> = [];
  readonly #hash = new TraceHash();

  /** `now` is true time since zero. */
  constructor(now: () => number, isKept = true) {
    this.#now = now;
    this.#isKept = isKept;
  }

  get traceHash(): string {
    return this.#hash.text();
  }

  /** The fact becomes the record, which is much cheaper than a copy: nobody else may keep it. */
  add(node: string, fact: HistoryFact): void {
    const common = fact as unknown as { -readonly [field in keyof Common]: Common[field] };
    common.index = this.#length;
    common.atMs = this.#now();
    common.node = node;
    const record = fact as HistoryRecord;
    this.#length += 1;
    if (this.#isKept) this.records.push(record);
    this.#hash.take(record);
    for (const read of this.#readers) read(record);
  }

  /** Hears every record from now on, in the moment in which it is written down. */
  read(reader: (record: HistoryRecord) => void): void {
    this.#readers.push(reader);
  }
}
