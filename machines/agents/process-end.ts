/**
 * Process of an attempt or of an expert: the events by which the program tells of it, and the part of a chart
 * that ends it. Agents and delegations have the same one.
 *
 *   terminating.exiting ──leader gone──▶ cleaning (nothing left: the end at once)
 *        │ after grace, leader gone and some are left, attempt.stop
 *        ▼
 *   terminating.stopping ──group.emptied──▶ cleaning ──cleanup.finished, after cleanupLimit──▶ the end
 *        │ after grace, attempt.kill                     ▲
 *        ▼                                               │
 *   terminating.killing ──group.emptied, after killLimit─┘
 *
 * What ended it is fixed before any of these states is entered. A runtime that begins again kills what the one
 * before it has left.
 */

import type { StopReason } from './words.ts';

/** Parameters by which the program knows a process. */
export interface ProcessParams {
  readonly runId: string;
  readonly taskId: string;
  readonly attemptId: string;
  readonly role: 'agent' | 'expert';
  /** Name of the agent or expert in the plan. */
  readonly name: string;
}

/** Facts about a process that its actor remembers. */
export interface ProcessContext extends ProcessParams {
  /** Process group; null before it is known, and of one that is no process. */
  readonly group: number | null;
  readonly startTicks: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly malformedLines: number;
  readonly strayLines: number;
  readonly stopReason: StopReason | null;
  /** The strongest signal that was needed. */
  readonly signal: 'none' | 'SIGTERM' | 'SIGKILL';
}

/** A result of its own, or none, whatever its lines say. */
export type ProcessEvent =
  | {
      readonly type: 'process.started';
      readonly group: number | null;
      readonly startTicks: string | null;
    }
  /** Nothing was started. */
  | { readonly type: 'process.refused'; readonly error: string; readonly retryable: boolean }
  | {
      readonly type: 'process.exited';
      readonly exitCode: number;
      readonly signal: string | null;
      readonly strayLines: number;
      /** Nothing of its group is left. */
      readonly isEmpty: boolean;
      /** Nor anything that left its group. */
      readonly isClean: boolean;
    }
  | { readonly type: 'group.emptied' }
  | { readonly type: 'cleanup.finished' }
  | {
      readonly type: 'line.malformed';
      readonly why: string;
      /** Number of the line among all that it has printed, and how it begins. */
      readonly line?: number;
      readonly text?: string;
    }
  | {
      readonly type: 'limit.exceeded';
      readonly limit: 'outputLimit' | 'stdinBlocked' | 'lineFailure';
    }
  | { readonly type: 'result.reported'; readonly result: unknown }
  | { readonly type: 'failure.reported'; readonly error: string; readonly retryable: boolean }
  | { readonly type: 'attempt.stop'; readonly reason: StopReason }
  | { readonly type: 'attempt.kill' }
  | { readonly type: 'leadership.acquired'; readonly fence: number; readonly node: string };

export const newProcess = {
  group: null,
  startTicks: null,
  startedAt: null,
  endedAt: null,
  malformedLines: 0,
  strayLines: 0,
  stopReason: null,
  signal: 'none',
} as const;

export const named = ({
  context: { runId, taskId, attemptId, role, name },
}: {
  readonly context: ProcessContext;
}): ProcessParams => ({ runId, taskId, attemptId, role, name });

type Args = { readonly context: ProcessContext };

/** Both states that end a process, for the machine of that id, whose last state has that name. */
export const endings = <TId extends string, TEnd extends string>(id: TId, end: TEnd) => {
  const after = `#${id}.${end}` as const;
  const cleaning = `#${id}.cleaning` as const;
  return {
    terminating: {
      initial: 'stopping',
      tags: 'terminating',
      on: {
        'leadership.acquired': '.killing',
        'attempt.kill': '.killing',
        'result.reported': { actions: 'noteLateResult' },
        'failure.reported': { actions: 'noteLateResult' },
      },
      states: {
        exiting: {
          entry: { type: 'closeInput', params: named },
          on: {
            'process.exited': [
              { guard: 'isClean', target: after, actions: 'keepExit' },
              { guard: 'isEmpty', target: cleaning, actions: 'keepExit' },
              { target: 'stopping', actions: 'keepExit' },
            ],
            'attempt.stop': 'stopping',
          },
          after: { grace: 'stopping' },
        },
        stopping: {
          entry: [
            { type: 'keepSignal', params: 'SIGTERM' },
            {
              type: 'stopProcess',
              params: (args: Args) => ({
                ...named(args),
                reason: args.context.stopReason ?? 'limit',
              }),
            },
          ],
          on: {
            'process.exited': { actions: 'keepExit' },
            'group.emptied': cleaning,
          },
          after: { grace: 'killing' },
        },
        killing: {
          entry: [
            { type: 'keepSignal', params: 'SIGKILL' },
            {
              type: 'killProcess',
              params: (args: Args) => ({
                ...named(args),
                group: args.context.group,
                startTicks: args.context.startTicks,
              }),
            },
          ],
          on: {
            'process.exited': { actions: 'keepExit' },
            'group.emptied': cleaning,
            'leadership.acquired': { target: 'killing', reenter: true },
          },
          after: { killLimit: cleaning },
        },
      },
    },
    cleaning: {
      tags: 'terminating',
      entry: { type: 'cleanUp', params: named },
      on: {
        'process.exited': { actions: 'keepExit' },
        'cleanup.finished': after,
        'result.reported': { actions: 'noteLateResult' },
        'failure.reported': { actions: 'noteLateResult' },
        'leadership.acquired': { target: 'cleaning', reenter: true },
      },
      after: { cleanupLimit: after },
    },
  } as const;
};

/** After it a process of which nothing was heard, neither that it began nor that it could not, is given up. */
export const START_LIMIT_MS = 30_000;
export const KILL_LIMIT_MS = 30_000;
export const CLEANUP_LIMIT_MS = 30_000;
