/**
 * Given answers of submissions, by the question that each was given to. A copy of a question that comes after its
 * answer has the same one: taken again, a job that was refused for want of room would be there after all.
 */

import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { knob } from '../../../runtime/base/knob.ts';

const KEPT_MAX = knob('submissionAnswersKept', 1_000);

export class GivenAnswers {
  readonly #answers = new Map<string, SubmissionAnswer>();

  of(question: string): SubmissionAnswer | undefined {
    return this.#answers.get(question);
  }

  /** Keeps an answer, and forgets the oldest when there are too many. */
  keep(question: string, answer: SubmissionAnswer): void {
    this.#answers.set(question, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > KEPT_MAX.value && oldest !== undefined) this.#answers.delete(oldest);
  }
}
