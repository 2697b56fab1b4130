/**
 * Handing in a job: page by page, to a desk that puts the pages together.
 *
 * Guarantees: a few pages are under way at a time, so that no answer is late because of other pages; the
 * last one goes when all others were taken, and then the job is complete. What no desk would read is
 * refused in the words of a desk.
 */

import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { type ErrorCode, RuntimeError } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import { inPortions } from '../desk/portions.ts';
import { inSlices } from '../desk/slices.ts';
import { SubmissionBody } from '../submission/body.ts';
import { type SubmissionPage, submissionPages } from '../submission/parts.ts';
import { isBreach } from '../submission.ts';

export interface HandIn {
  readonly jobId: string;
  readonly terms: unknown;
  readonly workflows: readonly unknown[];
}

export interface HandInLine {
  readonly clock: Clock;
  /** Time until which it is tried. */
  readonly endsAt: number;
  /** `isLast`: the answer to this page comes when all of the job has been taken in. */
  ask(page: Page, isLast: boolean): Promise<SubmissionAnswer | null>;
}

type Page = SubmissionPage<unknown>;

const UNDER_WAY_MAX = knob('submissionPartsUnderWayMax', 4);
/** Errors for an event that no peer would take. */
const UNSENDABLE: ReadonlySet<ErrorCode> = new Set(['ENVELOPE_MALFORMED', 'EVENT_REFUSED']);

/** @throws {RuntimeError} ASK_TIMED_OUT, and whatever asking ends with */
export async function handIn(line: HandInLine, job: HandIn): Promise<SubmissionAnswer> {
  const pages = await submissionPages(line.clock, job.workflows);
  try {
    do {
      const answer = await once(line, pages);
      if (answer !== null) return answer;
      // The page that was the last one was asked again, and became the first of another submission.
    } while (line.clock.now() < line.endsAt);
  } catch (thrown) {
    const wrong = await wrongBecause(thrown, line.clock, job, pages);
    if (wrong === undefined) throw thrown;
    return wrong;
  }
  const what = `No page of job ${job.jobId} was taken as the last one; submit it again.`;
  throw new RuntimeError('ASK_TIMED_OUT', what);
}

async function once({ ask }: HandInLine, pages: readonly Page[]) {
  const atOnce = UNDER_WAY_MAX.value;
  const last = pages.length - 1;
  for (let from = 0; from < last; from += atOnce) {
    const some = pages.slice(from, Math.min(from + atOnce, last));
    const answers = await Promise.all(some.map((page) => ask(page, false)));
    const early = answers.find((answer) => answer !== null);
    if (early !== undefined) return early;
  }
  return ask(pages[last] as Page, last > 0);
}

/** The answer that a desk would give, had it come there. */
async function wrongBecause(
  thrown: unknown,
  clock: Clock,
  { jobId, terms }: HandIn,
  pages: readonly Page[],
): Promise<SubmissionAnswer | undefined> {
  if (!(thrown instanceof RuntimeError) || !UNSENDABLE.has(thrown.code)) return undefined;
  const body = new SubmissionBody({ jobId, terms });
  await inPortions(clock, pages, { max: 1, weigh: () => 1 }, (some) => {
    for (const { page, workflows } of some) body.take(page, workflows);
  });
  const checked = await inSlices(clock, body.finish(undefined));
  if (!isBreach(checked)) return undefined;
  return { jobId, accepted: false, created: false, status: null, reason: 'invalid', ...checked };
}
