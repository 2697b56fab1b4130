/**
 * Given answers of submissions, by the question that each was given to. A copy of a question that comes after its
 * answer has the same one: taken again, a job that was refused for want of room would be there after all.
 */

import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Counters } from '../counters.ts';

const KEPT_MAX = knob('submissionAnswersKept', 1_000);

export class GivenAnswers {
  readonly #counters: Pick<Counters, 'add'>;
  readonly #answers = new Map<string, SubmissionAnswer>();

  constructor(counters: Pick<Counters, 'add'>) {
    this.#counters = counters;
  }

  /** Finds the answer once. Null is not kept: more parts are to come. */
  async once(
    question: string,
    find: () => Promise<SubmissionAnswer | null>,
  ): Promise<SubmissionAnswer | null> {
    const given = this.#answers.get(question);
    if (given !== undefined) return given;
    const answer = await find();
    if (answer === null) return answer;
    this.#keep(question, answer);
    const { reason } = answer;
    if (reason !== null) this.#counters.add('job_submissions_refused_total', { reason });
    return answer;
  }

  /** Keeps an answer, and forgets the oldest when there are too many. */
  #keep(question: string, answer: SubmissionAnswer): void {
    this.#answers.set(question, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > KEPT_MAX.value && oldest !== undefined) this.#answers.delete(oldest);
  }
}
