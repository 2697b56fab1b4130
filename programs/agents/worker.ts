/**
 * Worker: whatever does the work of an attempt or an expert. A program that speaks lines, a plain program, or a
 * driver in this process.
 */

import type { StopReason } from '../../machines/agents/words.ts';
import type { Cancel } from '../../runtime/ports/clock.ts';
import type { LineEvent } from './protocol.ts';

/** A line to an agent, as docs/agents/protocol.md has it. */
export interface ToAgent {
  readonly type: string;
  readonly attemptId: string;
  readonly at: number;
  readonly [field: string]: unknown;
}

export interface WorkerEnd {
  readonly exitCode: number;
  readonly signal: string | null;
  /** Reason for which nothing was started. */
  readonly startFailure: { readonly error: string; readonly retryable: boolean } | null;
}

/** Listener to a worker. Calls come in the order in which it did things. */
export interface WorkerListener {
  event(event: LineEvent): void;
  /** `line`: its number among all lines, `text`: how it begins. */
  malformed(why: string, line: number, text: string): void;
  exceeded(limit: 'outputLimit' | 'stdinBlocked' | 'lineFailure'): void;
  stray(text: string): void;
  /** Any line, or a text on standard error. */
  seen(): void;
}

export interface Worker {
  /** Process group; null for one that is none. */
  readonly group: number | null;
  readonly startTicks: string | null;
  /** False where nothing could be started; `ended` says why. */
  readonly hasStarted: boolean;
  readonly ended: Promise<WorkerEnd>;
  send(line: ToAgent): void;
  closeInput(): void;
  /** Asks it to stop; called once. */
  stop(reason: StopReason, line: ToAgent): void;
  kill(): void;
  /** True when nothing of it is left, but for what has left its group. */
  readonly isEmpty: boolean;
  whenEmpty(then: () => void): Cancel;
  /** Leaves what it prints where it is for a while. */
  pause(): void;
  resume(): void;
  /** Lets go of it, once what it had printed is read. */
  release(): Promise<void>;
}
