/**
 * Extensions: a run's requests for more time, and the policy that asks when no handler does.
 *
 * A request keeps its id over every try, so that it is decided once; it goes on until it is
 * answered or its run stops, which without an answer its deadline sees to. Each try without one is
 * counted, and a request that has had all pauses is logged once. A policy is asked once a second about
 * each run; `whenNeeded` wishes for an extension shortly before the deadline that the datacenter told
 * last, and only where a grant is possible: after progress since the last one, and as long as there are
 * extensions left.
 */

import { workerHealthAddress } from '../../../machines/jobs/addresses.ts';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import { messageOf, RuntimeError } from '../../../runtime/base/errors.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import { pause } from '../client/pause.ts';
import type { Counters } from '../counters.ts';
import type { ExtensionWish } from './handlers.ts';
import type { Link } from './link.ts';
import type { Run } from './run.ts';

/** View of one run that a policy sees. */
export interface ExtensionView {
  readonly jobId: string;
  readonly attemptId: string;
  readonly runningMs: number;
  readonly progress: number;
  readonly completedItems: number | null;
  /**
   * Time to the worker's deadline as far as this run was told, or since its start; negative when it
   * has passed.
   */
  readonly deadlineInMs: number;
  /** The last answer to this run; null before the first. */
  readonly lastAnswer: ExtensionAnswer | null;
  /** Figures of its last request. */
  readonly askedWith: { readonly progress: number; readonly completedItems: number | null } | null;
}

/** Policy that says whether to ask for an extension now; called for every run once a second. */
export type ExtensionPolicy = (view: ExtensionView) => ExtensionWish | undefined;

/**
 * Time before the deadline at which `whenNeeded` asks: enough for the answer to be lost and asked for
 * again.
 */
const LEAD_MS = 5_000;
/** Denials that no later request of the same run can undo. */
const FINAL_DENIALS: ReadonlySet<string | null> = new Set([
  'malformed',
  'maxReached',
  'unknownOperation',
]);

export const whenNeeded: ExtensionPolicy = (view) => {
  const { deadlineInMs, lastAnswer, askedWith } = view;
  if (deadlineInMs > LEAD_MS) return undefined;
  if (lastAnswer === null || askedWith === null) return {};
  if (FINAL_DENIALS.has(lastAnswer.denialReason)) return undefined;
  if (lastAnswer.granted && lastAnswer.remainingExtensions === 0) return undefined;
  return hasRisen(view, askedWith) ? {} : undefined;
};

function hasRisen(
  { progress, completedItems }: ExtensionView,
  asked: NonNullable<ExtensionView['askedWith']>,
): boolean {
  return completedItems !== null && asked.completedItems !== null
    ? completedItems > asked.completedItems
    : progress > asked.progress;
}

export interface ExtensionServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly link: Link;
  readonly workerId: string;
  readonly datacenter: string;
  /** Deadline that a run has before anything was told. */
  readonly baseDeadlineMs: number;
  readonly policy: ExtensionPolicy | undefined;
  atWork(): Iterable<Run>;
}

/** Times for which a try waits for its answer; the last one for good. */
const ANSWER_LIMITS_MS = [1_000, 2_000, 4_000, 5_000] as const;
const POLICY_PAUSE_MS = 1_000;
/** Refusals that pass: the worker registers, its datacenter is about to know it again, or has taken it for lost. */
const PASSING: ReadonlySet<string> = new Set([
  'ACTOR_UNKNOWN',
  'ACTOR_ENDED',
  'ASK_UNANSWERED',
  'KIND_UNKNOWN',
]);

interface Asked {
  readonly deadlineAt: number;
  readonly lastAnswer: ExtensionAnswer | null;
  readonly askedWith: ExtensionView['askedWith'];
  readonly isAsking: boolean;
  /** Made so far. */
  readonly requests: number;
}

export class Extensions {
  readonly #services: ExtensionServices;
  readonly #asked = new WeakMap<Run, Asked>();
  /** Resolves when the last request of a run has its answer, or will never have one. */
  readonly #asking = new WeakMap<Run, Promise<void>>();
  /** Deadline of the worker, as told with its registration. */
  #deadlineAt = 0;

  constructor(services: ExtensionServices) {
    this.#services = services;
    if (services.policy !== undefined) void this.#watch(services.policy);
  }

  learnDeadline(deadlineInMs: number): void {
    this.#deadlineAt = this.#services.clock.now() + deadlineInMs;
  }

  /** One request of a run at a time: its datacenter keeps the answer to the last one, should it come again. */
  ask(run: Run, wish: ExtensionWish): Promise<ExtensionAnswer> {
    const before = this.#asking.get(run) ?? Promise.resolve();
    const answer = before.then(() => this.#ask(run, wish));
    const settled = answer.then(noMatter, noMatter);
    this.#asking.set(run, settled);
    return answer;
  }

  async #ask(run: Run, wish: ExtensionWish): Promise<ExtensionAnswer> {
    const { link, random, workerId, datacenter, atWork } = this.#services;
    const { reason = 'long_workflow', progress, estimatedRemainingMs } = wish;
    const { sinceProgressMs: _, ...known } = run.progress.figures;
    const { progress: knownProgress, ...items } = known;
    const askedWith = {
      progress: progress ?? knownProgress,
      completedItems: progress === undefined ? (known.completedItems ?? null) : null,
    };
    const asked = this.#of(run);
    const requestSeq = asked.requests + 1;
    this.#asked.set(run, { ...asked, requests: requestSeq });
    const request = {
      type: 'extension.requested',
      requestId: random.id(),
      workerId,
      operationId: run.operationId,
      requestSeq,
      reason,
      currentProgress: askedWith.progress,
      // Items would outweigh a progress that was given for this request.
      ...(progress === undefined && items),
      ...estimated(estimatedRemainingMs),
      activeWorkflowCount: [...atWork()].length,
    };
    const health = workerHealthAddress(workerId, datacenter);
    for (let tries = 0; ; tries += 1) {
      if (run.isOver || run.isStopping || link.ended.aborted)
        throw new RuntimeError('ABORTED', 'The run has stopped; nobody extends it.');
      const limitMs = ANSWER_LIMITS_MS[Math.min(tries, ANSWER_LIMITS_MS.length - 1)] as number;
      try {
        const answer = (await link.ask(health, request, limitMs, run.signal)) as ExtensionAnswer;
        this.#learn(run, answer, askedWith);
        return answer;
      } catch (thrown) {
        if (!isPassing(thrown)) throw thrown;
        this.#unanswered(run, tries, thrown);
        // A question that was refused has not waited.
        if (codeOf(thrown) !== 'ASK_TIMED_OUT')
          await pause(this.#services.clock, limitMs, run.signal);
      }
    }
  }

  #unanswered({ params: { jobId, attemptId } }: Run, tries: number, thrown: unknown): void {
    const { counters, logger, workerId } = this.#services;
    const code = codeOf(thrown) ?? 'INTERNAL';
    counters.add('extension_requests_unanswered_total', { code });
    if (tries !== ANSWER_LIMITS_MS.length - 1) return;
    const fields = { event: 'extension.unanswered', workerId, jobId, attemptId, tries: tries + 1 };
    logger.warn({ ...fields, code, error: messageOf(thrown) }, 'extension.unanswered');
  }

  #learn(run: Run, lastAnswer: ExtensionAnswer, askedWith: ExtensionView['askedWith']): void {
    const deadlineAt = this.#services.clock.now() + lastAnswer.deadlineInMs;
    this.#asked.set(run, { ...this.#of(run), deadlineAt, lastAnswer, askedWith });
  }

  #of(run: Run): Asked {
    const { baseDeadlineMs } = this.#services;
    const deadlineAt = Math.max(this.#deadlineAt, run.startedAt + baseDeadlineMs);
    const nothing = { lastAnswer: null, askedWith: null, isAsking: false, requests: 0 };
    return this.#asked.get(run) ?? { ...nothing, deadlineAt };
  }

  async #watch(policy: ExtensionPolicy): Promise<void> {
    const { clock, link, atWork } = this.#services;
    for (;;) {
      await pause(clock, POLICY_PAUSE_MS, link.ended);
      if (link.ended.aborted) return;
      for (const run of [...atWork()]) this.#consult(policy, run);
    }
  }

  #consult(policy: ExtensionPolicy, run: Run): void {
    const { clock, logger } = this.#services;
    const asked = this.#of(run);
    if (asked.isAsking || run.isStopping) return;
    const { jobId, attemptId } = run.params;
    const { progress, completedItems = null } = run.progress.figures;
    const { deadlineAt, lastAnswer, askedWith } = asked;
    const now = clock.now();
    const named = { jobId, attemptId, runningMs: now - run.startedAt };
    const failed = (thrown: unknown): void =>
      logger.warn({ ...named, error: messageOf(thrown) }, 'an extension was not asked for');
    let wish: ExtensionWish | undefined;
    try {
      const deadlineInMs = deadlineAt - now;
      wish = policy({ ...named, progress, completedItems, deadlineInMs, lastAnswer, askedWith });
    } catch (thrown) {
      failed(thrown);
    }
    if (wish === undefined) return;
    this.#asked.set(run, { ...asked, isAsking: true });
    this.ask(run, wish)
      .catch((thrown: unknown) => {
        if (!run.isOver && !run.isStopping) failed(thrown);
      })
      .finally(() => this.#asked.set(run, { ...this.#of(run), isAsking: false }));
  }
}

function noMatter(): void {}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof RuntimeError ? thrown.code : undefined;
}

function isPassing(thrown: unknown): boolean {
  return thrown instanceof RuntimeError && (thrown.retryable || PASSING.has(thrown.code));
}

/** It decides nothing, so that nothing may be refused because of it: an estimate has a fraction easily. */
function estimated(ms: number | undefined): { readonly estimatedRemainingMs?: number } {
  if (ms === undefined || !Number.isFinite(ms)) return {};
  const wholeMs = Math.round(Math.max(0, ms));
  return { estimatedRemainingMs: Math.min(wholeMs, Number.MAX_SAFE_INTEGER) };
}
