/**
 * Questions of this process that wait for an answer.
 *
 * Each has an address of its own, `ask/<id>@<node>`, which travels as `replyTo` on the event: a
 * late answer to an earlier question is never taken for another one. Questions live in memory only;
 * the code that asked is gone when the process is.
 */

import { kindOf, placeOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import { whenAborted } from '../base/when-aborted.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: Cancel;
  /** The other node that has taken it. */
  takenBy: string | undefined;
}

export interface AskOptions {
  /** Time to wait for the answer. Default: the limit `askTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Time to wait for the answer once the event has been taken. Default: no other than `timeoutMs`. */
  readonly answerMs?: number | undefined;
  readonly signal?: AbortSignal;
}

export class Asks {
  readonly #node: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #questions = new Map<string, Question>();

  constructor(node: string, clock: Clock, random: Random) {
    this.#node = node;
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#questions.size;
  }

  /** True for the address of a question of this node. */
  owns(address: string): boolean {
    return kindOf(address) === 'ask' && placeOf(address) === this.#node;
  }

  /**
   * Opens a question and lets `send` carry its address. It resolves with the other node that has taken
   * the question, if one has; rejecting, it rejects the question.
   */
  ask(
    target: string,
    { timeoutMs, answerMs, signal }: AskOptions & { readonly timeoutMs: number },
    send: (replyTo: string) => Promise<string | undefined>,
  ): Promise<unknown> {
    const replyTo = `ask/${this.#random.id()}@${this.#node}`;
    return new Promise((resolve, reject) => {
      const end = (error: Error): void => this.refuse(replyTo, error);
      const aborted = (): void => end(abortError(signal as AbortSignal));
      const endAfter = (ms: number, what: string): Cancel =>
        this.#clock.schedule(this.#clock.now() + ms, () =>
          end(new RuntimeError('ASK_TIMED_OUT', `${target} ${what}`, { address: target })),
        );
      const what = `did not answer within ${timeoutMs} ms. It may still have taken the event.`;
      const cancelLate = endAfter(timeoutMs, what);
      let cancelUnanswered = (): void => {};
      let unwatch = (): void => {};
      const cancel = (): void => {
        cancelLate();
        cancelUnanswered();
        unwatch();
      };
      const question: Question = { resolve, reject, cancel, takenBy: undefined };
      this.#questions.set(replyTo, question);
      if (signal?.aborted === true) aborted();
      else {
        if (signal !== undefined) unwatch = whenAborted(signal, aborted);
        send(replyTo).then((node) => {
          question.takenBy = node;
          if (answerMs === undefined || this.#questions.get(replyTo) !== question) return;
          const unanswered = `took the event, and did not answer within ${answerMs} ms.`;
          cancelUnanswered = endAfter(answerMs, unanswered);
        }, end);
      }
    });
  }

  /** An answer came; one that nobody waits for any more is dropped. */
  answer(replyTo: string, value: unknown): void {
    this.#take(replyTo)?.resolve(value);
  }

  /** The question was not taken, or cannot be answered. */
  refuse(replyTo: string, error: Error): void {
    this.#take(replyTo)?.reject(error);
  }

  /** A node is gone, and with it the connection over which answers would come. */
  lost(node: string): void {
    for (const [replyTo, { takenBy }] of [...this.#questions]) {
      if (takenBy !== node) continue;
      const what = `The connection to ${node} ended, which had taken the question. Ask again where asking twice does no harm.`;
      this.refuse(replyTo, new RuntimeError('ASK_LOST', what));
    }
  }

  stop(): void {
    for (const [replyTo] of [...this.#questions]) {
      this.#take(replyTo)?.reject(
        new RuntimeError('RUNTIME_STOPPED', 'The runtime stopped before the answer came.'),
      );
    }
  }

  #take(replyTo: string): Question | undefined {
    const question = this.#questions.get(replyTo);
    this.#questions.delete(replyTo);
    question?.cancel();
    return question;
  }
}

export function abortError(signal: AbortSignal): RuntimeError {
  return new RuntimeError('ABORTED', 'The signal was aborted.', { cause: signal.reason });
}
