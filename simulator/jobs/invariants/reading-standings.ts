/**
 * Standing of the workflows of a job, counted from what they told the job, and not read from its table.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { JobStep } from './reading-jobs.ts';
import { workflowsIn } from './reading-workflows.ts';

type Standing = 'waiting' | 'out' | 'succeeded' | 'failed' | 'cancelled';

/** All that a deadline or an end of the job depends on. */
export interface Standings {
  /** Standing by workflow; the same object goes on from step to step. */
  readonly byId: Map<string, Standing>;
  /** Dispatched or running. */
  readonly out: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Why the first one failed for good; one that failed because of another does not count. */
  readonly failure: string | null;
}

interface Told {
  readonly type: string;
  readonly state?: string;
  readonly final?: boolean;
  readonly cause?: string | null;
  readonly workflowId?: string;
  readonly to?: string;
}

const LETTERS: Readonly<Record<string, Standing>> = {
  d: 'out',
  r: 'out',
  s: 'succeeded',
  f: 'failed',
  c: 'cancelled',
};
const STATES: Readonly<Record<string, Standing>> = {
  DISPATCHED: 'out',
  RUNNING: 'out',
  COMPLETED: 'succeeded',
  AGGREGATED: 'succeeded',
  CANCELLED: 'cancelled',
};

/** Where nobody saw what the workflows told, the table is believed. */
export function standingsOf({ table, failure }: JobContext): Standings {
  const { ids, standing } = workflowsIn(table);
  const byId = new Map<string, Standing>();
  const counts = { out: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const [index, id] of ids.entries()) {
    const one = LETTERS[standing[index] ?? ''] ?? 'waiting';
    byId.set(id, one);
    if (one !== 'waiting') counts[one] += 1;
  }
  return { byId, ...counts, failure };
}

/** The same object where nothing has changed. What has come to its end stays there. */
export function standingsAfter(was: Standings, { before, record }: JobStep): Standings {
  const event = record.event as Told;
  const id = concerned(event);
  const known = id === undefined ? undefined : was.byId.get(id);
  if (id === undefined || known === undefined || isOver(known)) return was;
  const now = standingIn(event, before?.endedAt === null);
  if (now === known) return was;
  was.byId.set(id, now);
  const counts = { ...was };
  if (known !== 'waiting') counts[known] -= 1;
  if (now !== 'waiting') counts[now] += 1;
  const isFirst = was.failure === null && now === 'failed' && event.cause !== 'parentFailed';
  const cause = event.cause === 'dispatch' ? 'dispatchExhausted' : 'workflowFailed';
  return { ...counts, failure: isFirst ? cause : was.failure };
}

export const areAllOver = ({ byId, succeeded, failed, cancelled }: Standings): boolean =>
  succeeded + failed + cancelled === byId.size;

const isOver = (one: Standing): boolean => one !== 'waiting' && one !== 'out';

function concerned({ type, workflowId, to = '' }: Told): string | undefined {
  if (type === 'workflow.changed') return workflowId;
  if (type !== 'message.refused' || !to.startsWith('workflow/')) return undefined;
  return to.slice(to.lastIndexOf('/') + 1, to.lastIndexOf('@'));
}

/** A workflow that is not there any more has failed, or has nothing to stop. */
function standingIn({ type, state = '', final }: Told, isGoingOn: boolean): Standing {
  if (type === 'message.refused') return isGoingOn ? 'failed' : 'cancelled';
  if (state === 'FAILED' && final === true) return 'failed';
  return STATES[state] ?? 'waiting';
}
