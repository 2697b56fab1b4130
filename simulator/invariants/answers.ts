/** What clients may count on while nothing goes wrong: whoever asks is answered. */

import type { HistoryRecord } from '../history.ts';
import type { JobsInvariant } from '../jobs/facts.ts';

type CallRecord = Extract<HistoryRecord, { readonly type: 'call' }>;

/**
 * TS-7. Where frames are lost and nodes die an answer may be lost too: its client asks again then, and
 * nothing is judged.
 */
export const everyCallIsAnswered: JobsInvariant = {
  id: 'TS-7',
  kind: 'liveness',
  says: 'In a run without faults every call of a client is answered, with a yes or a no, before its client gives it up.',
  watch({ isFaultFree }, verdict) {
    if (!isFaultFree) return {};
    const open = new Map<string, CallRecord>();
    return {
      call: (record) => {
        open.set(record.call, record);
      },
      answer: (record) => {
        const { request, to, jobId } = open.get(record.call) ?? {};
        open.delete(record.call);
        verdict.exercised();
        if (record.outcome === 'unknown')
          verdict.broken(`Nobody answered ${request} of ${jobId} at ${to}.`, record);
      },
    };
  },
};
