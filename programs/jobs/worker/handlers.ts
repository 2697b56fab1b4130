/**
 * Handlers: the code that does a workflow's work, and what it is given.
 *
 * A handler is an async function. What it returns is the result: a text, or anything that JSON has
 * words for. What it throws is a failure, tried again unless the error says `retryable: false`.
 * When `signal` is aborted nobody waits for its result any more; it has a grace to return.
 */

import { ID_PATTERN } from '../../../machines/jobs/addresses.ts';
import type { ExtensionAnswer, ExtensionReason } from '../../../machines/jobs/messages/worker.ts';
import { excerpt, RuntimeError } from '../../../runtime/base/errors.ts';
import type { Logger } from '../../../runtime/base/limits.ts';

export type Handler = (context: HandlerContext) => Promise<unknown>;
export type Handlers = Readonly<Record<string, Handler>>;

export interface HandlerContext {
  readonly jobId: string;
  readonly workflowId: string;
  /** The run of the workflow, first is 1. */
  readonly run: number;
  readonly payload: string;
  /** Aborted when the run is to stop. */
  readonly signal: AbortSignal;
  /** Names the run in every line. */
  readonly log: Logger;
  /**
   * Reports how far the run is, from 0 to 1. Call it as often as you like: it is sent at most once a second.
   *
   * @throws {RuntimeError} PROGRESS_INVALID; what was known before stays.
   */
  progress(progress: number | ReportedProgress): void;
  /**
   * Asks for more time, for the worker and for every job with an attempt that runs on it. Resolves
   * with the decision once all of them have it on disk; a denial is an answer, not an error.
   *
   * @throws {RuntimeError} ABORTED when the run stops before the answer has come.
   */
  extend(wish?: ExtensionWish): Promise<ExtensionAnswer>;
}

export interface ReportedProgress {
  /** Left out: what the items say. */
  readonly progress?: number;
  readonly completedItems?: number;
  readonly totalItems?: number;
}

export interface ExtensionWish {
  /** Default `long_workflow`. */
  readonly reason?: ExtensionReason;
  /** Must have risen since the last grant. Default: as last reported. */
  readonly progress?: number;
  /** For people; decides nothing. */
  readonly estimatedRemainingMs?: number;
}

/** Names that a worker may register at once. */
const HANDLERS_MAX = 1_000;

/** @throws {RuntimeError} OPTION_INVALID */
export function checkHandlers(handlers: Handlers): void {
  const names = Object.keys(handlers);
  if (names.length > HANDLERS_MAX)
    throw invalid(`A worker has at most ${HANDLERS_MAX} handlers, got ${names.length}`);
  for (const name of names) {
    if (!ID_PATTERN.test(name))
      throw invalid(`${excerpt(name)} cannot name a handler; use letters, digits or "._:-"`);
    if (typeof handlers[name] !== 'function')
      throw invalid(`Handler ${excerpt(name)} must be a function`);
  }
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', `${what}.`);
}
