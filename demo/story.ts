/**
 * Story of the demo: one job whose life shows what timeouts are about. It begins when somebody opens the page.
 *
 *   begin ─▶ the job runs ─extension granted─▶ its worker falls silent ─heard again, or given up─▶ its leader is killed
 *
 * Each step follows from what the nodes log, and a pause, so that it can be seen. A story that is interrupted by another
 * fault stops where it is; the next one begins with the next opening.
 */

import type { Faults } from './faults.ts';
import type { LogRecord } from './node-process.ts';
import type { Datacenter } from './topology.ts';

/** Datacenter of all stories. */
const STORY_DATACENTER: Datacenter = 'A';
/** The worker is silent for longer than it may be, and for less than until it is given up. */
const SILENT_MS = 5_500;
const LEADER_AWAY_MS = 3_000;
/** Pause before a step, for those who look. */
const PAUSE_MS = 2_000;
/** A page that is opened while a story is young shows that one. */
const YOUNG_MS = 30_000;

export interface StorySetup {
  readonly faults: Faults;
  /** False: the job alone, and nothing goes wrong with it. */
  readonly hasFaults: boolean;
  /** Submits a job of the story's kind; returns its id. */
  submit(): string;
}

type Step = 'none' | 'running' | 'silent' | 'told';

export class Story {
  readonly #setup: StorySetup;
  #jobId: string | undefined;
  #begunAt = 0;
  #step: Step = 'none';
  #worker = '';
  #pause: NodeJS.Timeout | undefined;

  constructor(setup: StorySetup) {
    this.#setup = setup;
  }

  /** Address of the job that the page opens on. */
  get address(): string | undefined {
    return this.#jobId === undefined ? undefined : `job/${this.#jobId}@${STORY_DATACENTER}`;
  }

  /** Begins one, unless there is a young one. */
  begin(): void {
    if (Date.now() - this.#begunAt < YOUNG_MS) return;
    clearTimeout(this.#pause);
    this.#begunAt = Date.now();
    this.#jobId = this.#setup.submit();
    this.#step = 'running';
  }

  heard({ event, operationId, workerId }: LogRecord): void {
    const { faults, hasFaults } = this.#setup;
    if (!hasFaults) return;
    const isOwn = typeof operationId === 'string' && operationId.startsWith(`${this.#jobId}/`);
    if (this.#step === 'running' && event === 'extension.granted' && isOwn) {
      this.#step = 'silent';
      this.#worker = String(workerId);
      this.#soon(() => faults.pauseWorker(STORY_DATACENTER, SILENT_MS, this.#worker));
    } else if (this.#step === 'silent' && isEndOfSilence(event) && workerId === this.#worker) {
      this.#step = 'told';
      this.#soon(() => faults.killLeader(STORY_DATACENTER, LEADER_AWAY_MS));
    }
  }

  stop(): void {
    clearTimeout(this.#pause);
  }

  #soon(act: () => void): void {
    this.#pause = setTimeout(act, PAUSE_MS);
  }
}

const isEndOfSilence = (event: string | undefined): boolean =>
  event === 'worker.recovered' || event === 'worker.evicted';
