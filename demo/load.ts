/**
 * Load: submits jobs to the gate, watches them, and has each judged when it has ended.
 *
 * Guarantees: the same seed submits the same jobs in the same order. A submission is repeated under
 * its id until the gate has taken it, so a gate that is away costs no job. No more than `openMax` are
 * open at a time: where the machine does not keep up, the load waits. It learns of ends from the
 * gate's log, and asks for what it may have missed.
 */

import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../runtime/base/errors.ts';
import type { Random } from '../runtime/ports/random.ts';
import type { Fault } from './faults.ts';
import { type GateApi, GateAway } from './gate-api.ts';
import { isEnd, type JobBook } from './job-book.ts';
import { drawKind, type JobKind, jobIdOf } from './job-kinds.ts';
import { DATACENTERS } from './topology.ts';

export interface LoadSetup {
  readonly api: GateApi;
  readonly book: JobBook;
  readonly random: Random;
  readonly run: number;
  /** Jobs per second. */
  readonly rate: number;
  readonly faults: () => readonly Fault[];
}

const OPEN_MAX = 300;
/** Pause before a gate that is away is asked again. */
const AWAY_MS = 300;
const SWEEP_MS = 2_000;

export class Load {
  readonly #setup: LoadSetup;
  readonly #asking = new Set<string>();
  /** Aborts what was said to be repeated: nothing repeats for ever. */
  readonly #stopped = new AbortController();
  #endsAt: number | undefined;
  #isSubmitting = true;
  #index = 0;
  #submitting: Promise<void> = Promise.resolve();
  #sweeping: Promise<void> = Promise.resolve();

  constructor(setup: LoadSetup) {
    this.#setup = setup;
  }

  /** Left out: it goes on until it is told to finish. */
  start(durationMs?: number): void {
    if (durationMs !== undefined) this.#endsAt = Date.now() + durationMs;
    this.#submitting = this.#submitAll();
    this.#sweeping = this.#sweepAll();
  }

  /** Submits nothing new. What is open goes on. */
  finish(): void {
    this.#isSubmitting = false;
  }

  /** Resolves when all jobs have ended, or after `limitMs`: then the rest counts as wrong. */
  async settle(limitMs: number): Promise<void> {
    this.finish();
    await this.#submitting;
    const endsAt = Date.now() + limitMs;
    while (this.#setup.book.open.size > 0 && Date.now() < endsAt && !this.#stopped.signal.aborted)
      await pause(100);
    if (!this.#stopped.signal.aborted) this.#setup.book.giveUpOpen();
  }

  /** Asks once more how all jobs ended. */
  async compare(): Promise<void> {
    const { api, book } = this.#setup;
    for (const status of ['completed', 'failed', 'cancelled', 'timedOut'] as const)
      await this.#untilAnswered('the list of jobs', async () => {
        for (const job of await api.list(status, book.ends.size + 1_000)) book.compare(job);
      });
  }

  /** Stops all of it at once. */
  async stop(): Promise<void> {
    this.finish();
    this.#stopped.abort();
    await Promise.all([this.#submitting, this.#sweeping]);
  }

  /** The gate's log says that a job has ended. */
  heardOf(jobId: string): void {
    if (this.#setup.book.open.has(jobId)) void this.#look(jobId);
  }

  async #submitAll(): Promise<void> {
    const { book, random, rate } = this.#setup;
    while (this.#isSubmitting) {
      // Around the wanted rate, as arrivals are.
      await pause((-Math.log(1 - random.next()) * 1_000) / rate);
      const leftMs = (this.#endsAt ?? Number.POSITIVE_INFINITY) - Date.now();
      if (leftMs <= 0) return;
      if (!this.#isSubmitting || book.open.size >= OPEN_MAX) continue;
      const kind = drawKind(random, leftMs);
      if (kind !== undefined) await this.#submit(kind);
    }
  }

  /** A job of this kind beside the load; returns its id at once. */
  submitOne(kind: JobKind): string {
    const jobId = this.#newId(kind);
    void this.#submit(kind, jobId);
    return jobId;
  }

  #newId(kind: JobKind): string {
    this.#index += 1;
    return jobIdOf(kind, this.#setup.run, this.#index);
  }

  async #submit(kind: JobKind, jobId = this.#newId(kind)): Promise<void> {
    const { api, book, random } = this.#setup;
    const body = { jobId, ...kind.make(random) };
    const submittedAt = Date.now();
    const answer = await this.#untilAnswered(jobId, () => api.submit(body));
    if (answer === undefined) return;
    if (!answer.accepted) {
      book.complain(jobId, `was refused: ${answer.reason} ${answer.detail ?? ''}`);
      return;
    }
    const datacenters = body.targetDatacenters ?? DATACENTERS;
    book.submit({ jobId, kind, datacenters, submittedAt, isResumed: false });
    const { cancelAfterMs } = kind;
    if (cancelAfterMs !== undefined) void pause(cancelAfterMs).then(() => this.#cancel(jobId));
  }

  async #cancel(jobId: string): Promise<void> {
    const { api, book } = this.#setup;
    const answer = await this.#untilAnswered(jobId, () => api.cancel(jobId));
    const job = book.open.get(jobId);
    if (job !== undefined && answer !== undefined) job.isCancelTaken = answer.accepted;
  }

  /** A line of the gate's log may be lost with its process: what is open is asked for. */
  async #sweepAll(): Promise<void> {
    const { api, book } = this.#setup;
    while (!this.#stopped.signal.aborted) {
      await this.#untilAnswered('the list of jobs', async () => {
        const before = [...book.open.keys()];
        const lists = await Promise.all([api.list('running', 5_000), api.list('submitted', 5_000)]);
        const alive = new Set<string>();
        for (const job of lists.flat()) {
          alive.add(job.jobId);
          book.resume(job, Date.now());
        }
        for (const jobId of before) if (!alive.has(jobId)) void this.#look(jobId);
      });
      await pause(SWEEP_MS, this.#stopped.signal);
    }
  }

  async #look(jobId: string): Promise<void> {
    if (this.#asking.has(jobId)) return;
    this.#asking.add(jobId);
    const { api, book, faults } = this.#setup;
    try {
      const view = await api.get(jobId);
      if (view === undefined) book.lose(jobId);
      else if (isEnd(view.status)) book.end(view, faults(), Date.now());
    } catch (thrown) {
      // The sweep asks again.
      if (!(thrown instanceof GateAway)) book.complain(jobId, messageOf(thrown));
    } finally {
      this.#asking.delete(jobId);
    }
  }

  /** Undefined when the load was stopped before there was an answer, or the answer makes no sense. */
  async #untilAnswered<TAnswer>(
    about: string,
    ask: () => Promise<TAnswer>,
  ): Promise<TAnswer | undefined> {
    while (!this.#stopped.signal.aborted) {
      try {
        return await ask();
      } catch (thrown) {
        if (!(thrown instanceof GateAway)) {
          this.#setup.book.complain(about, messageOf(thrown));
          return undefined;
        }
        await pause(AWAY_MS, this.#stopped.signal);
      }
    }
    return undefined;
  }
}

/** Ends early, without an error, when the signal says so. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, signal && { signal }).catch(() => {});
}
