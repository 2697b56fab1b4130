/** Answers of jobs services to a cancel, an extension or a submission, held against records. */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type {
  CancelAnswer,
  ExtendAnswer,
  SubmissionAnswer,
} from '../../../machines/jobs/messages/client.ts';
import { creditOf } from './reading-deadlines.ts';
import {
  type AskedService,
  isThere,
  type JobThere,
  jobsThere,
  type Said,
} from './reading-services.ts';
import { stateOf } from './reading-views.ts';

/** Not accepted yet, or given up before it was: nobody was told that there is such a job. */
const isUnaccepted = ({ version }: JobThere): boolean =>
  stateOf(version) === 'assembling' || (version.context as JobContext).isAbandoned === true;

export function wrongCancel(asked: AskedService, { accepted, reason }: CancelAnswer): Said {
  const jobs = jobsThere(asked, String(asked.question.jobId));
  const isTrue = (): boolean => {
    if (accepted) return jobs.some((job) => job?.isCancelled);
    switch (reason) {
      case 'unknown':
        return jobs.some((job) => job === undefined || isUnaccepted(job));
      case 'alreadyFinal':
        return jobs.some((job) => job?.isFinal);
      default:
        return true;
    }
  };
  return isTrue()
    ? undefined
    : `the cancel is ${accepted ? 'accepted' : reason}, and ${tale(jobs)}`;
}

export function wrongExtension(asked: AskedService, answer: ExtendAnswer): Said {
  const { jobId, requestId, byMs } = asked.question as Record<string, unknown>;
  const { accepted, reason, extensionsMs } = answer;
  const jobs = jobsThere(asked, String(jobId));
  const contexts = jobs.filter(isThere).map(({ version }) => version.context as JobContext);
  const isTrue = (): boolean => {
    if (accepted)
      return contexts.some(
        (context) =>
          context.operatorCredits.some((one) => one.requestId === requestId) &&
          creditOf(context) === extensionsMs,
      );
    switch (reason) {
      case 'unknown':
        return jobs.some((job) => job === undefined || isUnaccepted(job));
      case 'alreadyFinal':
        return contexts.some(({ endedAt }) => endedAt !== null);
      case 'alreadyReported':
        return contexts.some(({ timeoutReportedAt }) => timeoutReportedAt !== null);
      case 'invalid':
        return (
          !Number.isSafeInteger(byMs) ||
          Number(byMs) < 1 ||
          contexts.some(({ operatorCredits }) => operatorCredits.length > 0)
        );
      default:
        return true;
    }
  };
  const said = accepted ? `accepted with ${extensionsMs} ms` : reason;
  return isTrue() ? undefined : `the extension is ${said}, and ${tale(jobs)}`;
}

export function wrongSubmission(asked: AskedService, answer: SubmissionAnswer): Said {
  const { accepted, status, reason } = answer;
  const jobs = jobsThere(asked, String(asked.question.jobId));
  const isTrue = accepted
    ? jobs.some((job) => job !== undefined && job.status === status)
    : reason !== 'conflict' || jobs.some(isThere);
  return isTrue ? undefined : `the job is ${accepted ? status : reason}, and ${tale(jobs)}`;
}

function tale(jobs: ReadonlyArray<JobThere | undefined>): string {
  const said = jobs.map((job) => (job === undefined ? 'not there' : job.status));
  return `the job is ${said.join(', then ')}`;
}
