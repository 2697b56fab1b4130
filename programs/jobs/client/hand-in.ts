/**
 * Handing in a job: part by part, to a jobs service that puts the parts together.
 *
 * Guarantees: a few parts are under way at a time, so that no answer is late because of other parts; the
 * last one goes when all others were taken, and then the job is complete. What no jobs service would read is
 * refused in the words of a jobs service.
 */

import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { type ErrorCode, RuntimeError } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import { inPortions } from '../jobs-service/portions.ts';
import { inSlices } from '../jobs-service/slices.ts';
import { SubmissionBody } from '../submission/body.ts';
import { type SubmissionPart, submissionParts } from '../submission/parts.ts';
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
  /** `isLast`: the answer to this part comes when all of the job has been taken in. */
  ask(part: Part, isLast: boolean): Promise<SubmissionAnswer | null>;
}

type Part = SubmissionPart<unknown>;

const UNDER_WAY_MAX = knob('submissionPartsUnderWayMax', 4);
/** Errors for an event that no peer would take. */
const UNSENDABLE: ReadonlySet<ErrorCode> = new Set(['ENVELOPE_MALFORMED', 'EVENT_REFUSED']);

/** @throws {RuntimeError} ASK_TIMED_OUT, and whatever asking ends with */
export async function handIn(line: HandInLine, job: HandIn): Promise<SubmissionAnswer> {
  const parts = await submissionParts(line.clock, job.workflows);
  try {
    do {
      const answer = await once(line, parts);
      if (answer !== null) return answer;
      // The part that was the last one was asked again, and became the first of another submission.
    } while (line.clock.now() < line.endsAt);
  } catch (thrown) {
    const wrong = await wrongBecause(thrown, line.clock, job, parts);
    if (wrong === undefined) throw thrown;
    return wrong;
  }
  const what = `No part of job ${job.jobId} was taken as the last one; submit it again.`;
  throw new RuntimeError('ASK_TIMED_OUT', what);
}

async function once({ ask }: HandInLine, parts: readonly Part[]) {
  const atOnce = UNDER_WAY_MAX.value;
  const last = parts.length - 1;
  for (let from = 0; from < last; from += atOnce) {
    const some = parts.slice(from, Math.min(from + atOnce, last));
    const answers = await Promise.all(some.map((part) => ask(part, false)));
    const early = answers.find((answer) => answer !== null);
    if (early !== undefined) return early;
  }
  return ask(parts[last] as Part, last > 0);
}

/** The answer that a jobs service would give, had it come there. */
async function wrongBecause(
  thrown: unknown,
  clock: Clock,
  { jobId, terms }: HandIn,
  parts: readonly Part[],
): Promise<SubmissionAnswer | undefined> {
  if (!(thrown instanceof RuntimeError) || !UNSENDABLE.has(thrown.code)) return undefined;
  const body = new SubmissionBody({ jobId, terms });
  await inPortions(clock, parts, { max: 1, weigh: () => 1 }, (some) => {
    for (const { page, workflows } of some) body.take(page, workflows);
  });
  const checked = await inSlices(clock, body.finish(undefined));
  if (!isBreach(checked)) return undefined;
  return { jobId, accepted: false, created: false, status: null, reason: 'invalid', ...checked };
}
