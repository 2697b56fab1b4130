/**
 * Order in which jobs are listed: what runs first, then what has ended, and of each the newest first.
 *
 * It is a rank in the store's index, so a page costs what its own rows cost, however many jobs there are.
 * Jobs that ended under a release without these ranks come last, by name. A job that ends while somebody
 * reads page by page may be seen twice, and is never missed.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { idOf } from '../../../machines/jobs/addresses.ts';
import type { JobPage, JobsAsked, JobView } from '../../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../../machines/jobs/words.ts';
import type { ActorQuery, ActorRow } from '../../../runtime/api.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Rank } from '../../../runtime/ports/store.ts';
import { isAskedFor } from './job-filter.ts';
import { RECORD_WEIGHT, type Steps } from './slices.ts';

/** Before the names of all lanes of workflows, which begin with that of a handler. */
const ALL = '!job ';
const RUNNING = `${ALL}1`;
const ENDED = `${ALL}2`;
/** A cursor behind them, and before all lanes. */
export const BEHIND_JOBS = '"';
/** A job that came later has the smaller number. */
const LATEST_MS = 1e16;
const DIGITS = 21;
/** Prefixes of cursors: they say where a list by rank, or by name, goes on. */
const BY_RANK = 'r';
const BY_NAME = 'n';

/** Rows of the index that are asked for at once. */
const ROWS_AT_ONCE = knob('managerJobsAtOnce', 500);
/** Rows for one page at most: a client that looks for few among many asks again. */
const ROWS_PER_PAGE_MAX = knob('managerRowsPerPageMax', 5_000);

/** The rank of a kind of jobs; its context says since when, and whether it has ended. */
export function jobRank<TContext>(
  read: (context: TContext) => { readonly since: number; readonly hasEnded: boolean },
) {
  return ({ context }: AnyMachineSnapshot): Rank => {
    const { since, hasEnded } = read(context as TContext);
    const order = (LATEST_MS - since).toFixed(3).padStart(DIGITS, '0');
    return { queue: hasEnded ? ENDED : RUNNING, order };
  };
}

type Query = (query: ActorQuery) => {
  readonly actors: readonly ActorRow[];
  readonly cursor?: string;
};

interface JobRows {
  readonly jobIds: readonly string[];
  /** Undefined when there are no more. */
  readonly cursor: string | undefined;
}

/** A page of what is asked for; it may have few jobs and still a cursor. */
export function* pageOfJobs(
  query: Query,
  kind: 'job' | 'gate-job',
  asked: JobsAsked,
  view: (jobId: string) => JobView | undefined,
): Steps<JobPage> {
  const { status, limit } = asked;
  const jobs: JobView[] = [];
  let rowsLeft = ROWS_PER_PAGE_MAX.value;
  let { cursor } = asked;
  do {
    const rows = nextJobs(query, kind, { limit: limit - jobs.length, cursor, status });
    for (const jobId of rows.jobIds) {
      const job = view(jobId);
      yield RECORD_WEIGHT;
      if (job === undefined || (status !== undefined && job.status !== status)) continue;
      if (isAskedFor(job, asked)) jobs.push(job);
    }
    cursor = rows.cursor;
    rowsLeft -= ROWS_AT_ONCE.value;
  } while (cursor !== undefined && jobs.length < limit && rowsLeft > 0);
  return { jobs, cursor: cursor ?? null };
}

/** Some jobs in their order, from the cursor on; there may be none and still a cursor. */
function nextJobs(
  query: Query,
  kind: 'job' | 'gate-job',
  asked: {
    readonly limit: number;
    readonly cursor: string | undefined;
    readonly status?: JobStatus | undefined;
  },
): JobRows {
  const { cursor = BY_RANK, status } = asked;
  const limit = Math.min(asked.limit, ROWS_AT_ONCE.value);
  const after = Buffer.from(cursor.slice(1), 'base64url').toString();
  const from = after === '' ? {} : { cursor: after };
  if (cursor.startsWith(BY_RANK)) {
    const { actors, cursor: next } = query({ kind, queue: queueOf(status), limit, ...from });
    return {
      jobIds: actors.map(jobIdOf),
      cursor: next === undefined ? BY_NAME : cursorOf(BY_RANK, next),
    };
  }
  const { actors, cursor: next } = query({ kind, limit: ROWS_AT_ONCE.value, ...from });
  const unranked = actors.filter(({ rank }) => rank === undefined);
  const some = unranked.slice(0, limit);
  const last = some.length < unranked.length ? some.at(-1)?.address : next;
  return {
    jobIds: some.map(jobIdOf),
    cursor: last === undefined ? undefined : cursorOf(BY_NAME, last),
  };
}

function queueOf(status: JobStatus | undefined): string {
  if (status === undefined) return ALL;
  return status === 'submitted' || status === 'running' ? RUNNING : ENDED;
}

const cursorOf = (how: string, key: string): string =>
  `${how}${Buffer.from(key).toString('base64url')}`;

const jobIdOf = ({ address }: ActorRow): string => idOf(address);
