/**
 * Recount of what a new leader finds waiting: done once from the records of jobs, a portion at a time, while
 * other work goes on. Until it is through, less is counted than there is.
 */

import { idOf } from '../../../machines/jobs/addresses.ts';
import { waitingIn } from '../../../machines/jobs/job/workflows.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { ROWS_PER_PAGE } from '../jobs-service/all-rows.ts';
import { inPortions } from '../jobs-service/portions.ts';
import { type ManagerNode, readJob } from './node.ts';

/** Records read at a time. */
const READ_AT_ONCE = knob('jobsRecountedAtOnce', 32);
/** Owner of the jobs that another leader has taken: nobody knows it any more. */
const FORMER = '';

export async function recountBacklog(node: ManagerNode): Promise<void> {
  const { runtime, clock, backlog } = node;
  const { fence } = runtime;
  const isOurs = (): boolean => runtime.isHosting && runtime.fence === fence;
  let cursor: string | undefined;
  do {
    if (!isOurs()) return;
    const page = runtime.query({
      kind: 'job',
      status: 'active',
      limit: ROWS_PER_PAGE.value,
      ...(cursor !== undefined && { cursor }),
    });
    await inPortions(clock, page.actors, { max: READ_AT_ONCE.value, weigh: () => 1 }, (rows) => {
      for (const { address } of rows) {
        const jobId = idOf(address);
        const job = isOurs() ? readJob(node, jobId) : undefined;
        if (job !== undefined && job.endedAt === null)
          backlog.add(jobId, FORMER, waitingIn(job.table));
      }
    });
    cursor = page.cursor;
  } while (cursor !== undefined);
}
