/** Signals that end a command: their exit codes, and how a process that only waits for another hands them on. */

import type { ChildProcess } from 'node:child_process';
import process from 'node:process';

export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Exit codes by which a shell tells that a signal ended a process. */
export const SIGNAL_EXITS: Readonly<Record<string, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/**
 * What is sent to this process is sent to the child, which decides what it means; this one waits for that. Returns
 * what says which signal came first, where one did.
 */
export function handOn(child: ChildProcess): () => NodeJS.Signals | undefined {
  let first: NodeJS.Signals | undefined;
  for (const signal of ENDING_SIGNALS)
    process.on(signal, () => {
      first ??= signal;
      child.kill(signal);
    });
  return () => first;
}
