/**
 * The machine that is measured: a job with an overall limit and a deadline that every
 * progress report moves, and the script of events that both contenders follow.
 *
 *   queued ─job.started─▶ running.working ─job.completed─▶ completed
 *      │                     │  ▲ └─job.progressed (re-enters: the stuck limit starts again)
 *      │                     ├──┴─ overallLimit, stuckLimit ─▶ timedOut
 *      └──── job.cancelled ──┴──── job.failed ─▶ cancelled, failed
 */

import { assign, setup } from 'xstate';

export type JobEvent =
  | { readonly type: 'job.started'; readonly at?: number }
  | { readonly type: 'job.progressed'; readonly step: number; readonly at?: number }
  | { readonly type: 'job.completed' | 'job.failed' | 'job.cancelled'; readonly at?: number };

export interface JobInput {
  readonly overallMs: number;
  readonly stuckMs: number;
}

/** Longer than a run may take: a deadline that came would end the job on one side only. */
export const JOB_INPUT: JobInput = { overallMs: 48 * 3_600_000, stuckMs: 24 * 3_600_000 };

export const jobMachine = setup({
  types: {
    context: {} as JobInput & { readonly progress: number; readonly lastAt: number },
    events: {} as JobEvent,
    input: {} as JobInput,
  },
  actions: {
    noteProgress: assign(({ context, event }) =>
      event.type === 'job.progressed'
        ? { progress: event.step, lastAt: event.at ?? context.lastAt }
        : {},
    ),
  },
  delays: {
    overallLimit: ({ context }) => context.overallMs,
    stuckLimit: ({ context }) => context.stuckMs,
  },
}).createMachine({
  id: 'job',
  context: ({ input }) => ({
    overallMs: input.overallMs,
    stuckMs: input.stuckMs,
    progress: 0,
    lastAt: 0,
  }),
  initial: 'queued',
  states: {
    queued: { on: { 'job.started': 'running', 'job.cancelled': 'cancelled' } },
    running: {
      initial: 'working',
      after: { overallLimit: 'timedOut' },
      on: { 'job.completed': 'completed', 'job.failed': 'failed', 'job.cancelled': 'cancelled' },
      states: {
        working: {
          after: { stuckLimit: '#job.timedOut' },
          on: { 'job.progressed': { target: 'working', reenter: true, actions: 'noteProgress' } },
        },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    timedOut: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

/** What an actor is to do next. `spawn` stands for a new actor in the place of one that has ended. */
export type Step = 'progress' | 'complete' | 'birth' | 'start';

/** One life of a job: of 100 turns 97 are progress, then it ends and another one begins. */
const LIFE_TURNS = 100;

/** Which step each actor is at; actors are out of step with each other, so spawns come evenly. */
export class JobScript {
  readonly #positions: Uint8Array;
  /** With false every turn is a progress report. */
  readonly #hasLives: boolean;

  constructor(actors: number, hasLives = true) {
    this.#hasLives = hasLives;
    this.#positions = Uint8Array.from({ length: actors }, (_, index) => index % (LIFE_TURNS - 3));
  }

  next(actor: number): Step {
    if (!this.#hasLives) return 'progress';
    const position = this.#positions[actor] as number;
    this.#positions[actor] = (position + 1) % LIFE_TURNS;
    if (position < LIFE_TURNS - 3) return 'progress';
    if (position === LIFE_TURNS - 3) return 'complete';
    return position === LIFE_TURNS - 2 ? 'birth' : 'start';
  }
}
