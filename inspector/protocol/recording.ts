/**
 * The format of a recording: JSON lines, self-contained, read from the top without looking ahead.
 *
 * The first line is the header. Definitions come before the first turn of their kind. Turns of one actor come in
 * order; the context of its first one is whole, those after it are patches upon the one before (RFC 6902: add,
 * remove, replace), or whole again where that is shorter. Redaction happens before a line is written. A reader
 * ignores lines and fields that it does not know and refuses a greater version.
 */

import type { ErrorLine } from './actors.ts';
import type { KindDefinition } from './chart.ts';
import type { RunLine } from './runs.ts';

export const RECORDING_VERSION = 1;

export interface PatchStep {
  readonly op: 'add' | 'remove' | 'replace';
  /** JSON Pointer. */
  readonly path: string;
  readonly value?: unknown;
}

export interface RecordedHeader {
  readonly type: 'recording';
  readonly version: number;
  /** Version of the package that wrote it. */
  readonly escapement: string;
  readonly at: number;
  /** Who was recorded: a node, a directory, a simulated run with its seed. */
  readonly title: string;
  readonly nodes: ReadonlyArray<{ readonly node: string; readonly place: string }>;
  /** Moment from which a simulated run counts its time; absent where the time is that of a calendar. */
  readonly zero?: number;
}

/** Violation of an invariant, what led to it, and the nearest run in which everything holds. */
export interface RecordedFailure {
  readonly invariant: string;
  readonly says: string;
  /** How it did not hold. */
  readonly what: string;
  /** What led to it, from the beginning on; those with an actor lead to its turn. */
  readonly why: readonly CauseLine[];
  /** Actors that had a part in it. */
  readonly addresses: readonly string[];
  /** How to play it again: a command or a line of code. */
  readonly replay: string;
}

export interface CauseLine {
  readonly at: number;
  readonly node: string;
  readonly what: string;
  /** It befell a message or a node between a cause and its effect. */
  readonly isInner?: boolean;
  readonly address?: string;
  readonly turn?: number;
}

/** The run that differs from the recorded one by the smallest change and in which everything holds. */
export interface RecordedOther {
  /** `without fault n3 (crashNodes)`. */
  readonly change: string;
  /** Where the two part, in words and in this run's time. */
  readonly parts: readonly string[];
  readonly partsAt?: number;
  readonly lines: readonly RecordedLine[];
}

/** Lines after the header; each has the time and the node. */
export type RecordedLine = { readonly at: number; readonly node: string } & (
  | { readonly type: 'definition'; readonly definition: KindDefinition }
  | {
      readonly type: 'actor';
      readonly address: string;
      readonly kind: string;
      readonly change: 'born' | 'done' | 'stopped';
      /** State at that moment, where it is known without a turn. */
      readonly state?: string;
      readonly input?: unknown;
    }
  | {
      readonly type: 'turn';
      readonly address: string;
      readonly turn: number;
      /** When the event was taken; `at` is when it was durable. */
      readonly takenAt: number;
      readonly event: { readonly type: string; readonly [field: string]: unknown };
      /** Only the type of the event is known, as from a history. */
      readonly isBare?: true;
      readonly from?: string;
      readonly counter?: number;
      /** Moment that a deadline was armed for. */
      readonly dueAt?: number;
      /** State value as text, after the turn. */
      readonly state: string;
      readonly transitions?: readonly string[];
      readonly context?: unknown;
      readonly patch?: readonly PatchStep[];
      /** Bytes of a context that was not kept because it is too big. */
      readonly contextBytes?: number;
      readonly did?: readonly string[];
      readonly error?: ErrorLine;
      readonly by?: string;
    }
  | {
      readonly type: 'message';
      readonly from: string;
      readonly counter: number;
      readonly to: string;
      readonly event: string;
      readonly sort: 'tell' | 'hint' | 'answer';
    }
  /** What befell a message on its way between two nodes; `fenced`: it was refused, because another node hosts its sender. */
  | {
      readonly type: 'fate';
      readonly from: string;
      readonly counter: number;
      readonly to: string;
      /** Its type, where the message itself may be recorded elsewhere. */
      readonly event?: string;
      readonly fate: 'lost' | 'repeated' | 'held' | 'damaged' | 'fenced';
    }
  | {
      readonly type: 'timers';
      readonly address: string;
      readonly timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
    }
  | {
      readonly type: 'undelivered';
      readonly to: string;
      readonly event: string;
      readonly error: ErrorLine;
    }
  | { readonly type: 'commit'; readonly turns: number; readonly records: number }
  | {
      readonly type: 'commitRefused';
      readonly error: string;
      readonly addresses: readonly string[];
    }
  | {
      readonly type: 'lease';
      readonly place: string;
      readonly change: 'acquired' | 'lost';
      readonly fence: number;
    }
  | { readonly type: 'link'; readonly peer: string; readonly change: 'up' | 'down' }
  | {
      readonly type: 'node';
      readonly change: 'started' | 'crashed' | 'stopped' | 'paused' | 'resumed';
      /** Which of its lives it is, the first is 1. */
      readonly life: number;
    }
  /** Something was done to the cluster that should not happen to one; `to` is absent where it lasted to the end. */
  | {
      readonly type: 'fault';
      readonly id: string;
      readonly kind: string;
      readonly to?: number;
      /** How often it changed what happened. */
      readonly hits: number;
    }
  /** What happened, in words: `index` is its place in the history of the run. */
  | {
      readonly type: 'told';
      readonly index: number;
      readonly text: string;
      readonly address?: string;
      readonly turn?: number;
    }
  /** Runs of agents or of map-reduce as they stood at that moment. */
  | { readonly type: 'runs'; readonly runs: readonly RunLine[]; readonly more: number }
  | { readonly type: 'failure'; readonly failure: RecordedFailure }
  | { readonly type: 'other'; readonly other: RecordedOther }
  /** Lines that are missing here because a limit was reached. */
  | { readonly type: 'skipped'; readonly count: number }
);
