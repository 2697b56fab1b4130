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
}

/** Lines after the header; each has the time and the node. */
export type RecordedLine = { readonly at: number; readonly node: string } & (
  | { readonly type: 'definition'; readonly definition: KindDefinition }
  | {
      readonly type: 'actor';
      readonly address: string;
      readonly kind: string;
      readonly change: 'born' | 'done' | 'stopped';
      readonly input?: unknown;
    }
  | {
      readonly type: 'turn';
      readonly address: string;
      readonly turn: number;
      /** When the event was taken; `at` is when it was durable. */
      readonly takenAt: number;
      readonly event: { readonly type: string; readonly [field: string]: unknown };
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
  /** Lines that are missing here because a limit was reached. */
  | { readonly type: 'skipped'; readonly count: number }
);
