/** Subjects of the records of a jobs system: the job that each is about. */

import type { Subjects } from '../../explanation.ts';

/** Addresses that begin with the id of a job. */
const OF_JOB = /^(?:job|gate-job|workflow|attempt|submission-page)\/([^/@]+)/;

export const JOBS_SUBJECTS: Subjects = {
  of: (record) => {
    if (record.type === 'log') return textOf(record.fields.jobId);
    if (record.type !== 'turn' && record.type !== 'question')
      return 'jobId' in record ? record.jobId : undefined;
    const { jobId } = record.event as { readonly jobId?: unknown };
    return OF_JOB.exec(record.address)?.[1] ?? textOf(jobId);
  },
  inFrame: (frame) => /"jobId":"([^"]+)"/.exec(frame)?.[1],
  isWorkFor: ({ jobId, workflowId }, address) =>
    address.startsWith(`attempt/${jobId}/${workflowId}/`),
  isOfWork: ({ type }) => type.startsWith('handler.'),
};

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
