/** Columns of tables of jobs, and of what they are made of. */

import type {
  DatacenterView,
  JobView,
  WorkerView,
  WorkflowView,
} from '../../machines/jobs/messages/client.ts';
import { colourOf, isFinal, reasonText } from './job-text.ts';
import { grouped } from './output.ts';
import type { Column } from './table.ts';
import { dueText, durationText } from './time-text.ts';

export const JOB_COLUMNS: ReadonlyArray<Column<JobView>> = [
  { title: 'job', text: ({ jobId }) => jobId },
  { title: 'status', text: ({ status }) => status, format: ({ status }) => colourOf(status) },
  {
    title: 'done',
    text: (job) => `${grouped(job.workflowsCompleted)}/${grouped(job.workflowsTotal)}`,
    side: 'right',
  },
  {
    title: 'due',
    text: ({ dueInMs }) => dueText(dueInMs),
    format: ({ dueInMs }) => (dueInMs !== null && dueInMs < URGENT_MS ? 'yellow' : undefined),
  },
  {
    title: 'no progress for',
    text: (job) => (isFinal(job) ? '' : durationText(job.sinceProgressMs)),
  },
  { title: 'in', text: ({ datacenters = [] }) => datacenters.map(nameOf).join(' ') },
  { title: 'note', text: noteOf },
];

const URGENT_MS = 60_000;

const nameOf = ({ datacenter }: DatacenterView): string => datacenter;

function noteOf(job: JobView): string {
  const parts = [reasonText(job)];
  if (job.workflowsFailed > 0) parts.push(`${grouped(job.workflowsFailed)} failed`);
  if (job.queued && !isFinal(job)) parts.push('queued');
  if (job.extensionsMs > 0) parts.push(`extended by ${durationText(job.extensionsMs)}`);
  if (!job.enforce) parts.push('timeouts only watch');
  return parts.filter((part) => part !== '').join(', ');
}

const AT_WORK: ReadonlySet<DatacenterView['status']> = new Set(['running', 'reported', 'silent']);

export const DATACENTER_COLUMNS: ReadonlyArray<Column<DatacenterView>> = [
  { title: 'datacenter', text: nameOf },
  { title: 'status', text: ({ status }) => status, format: ({ status }) => colourOf(status) },
  {
    title: 'no progress for',
    text: ({ status, sinceProgressMs }) =>
      AT_WORK.has(status) ? durationText(sinceProgressMs) : '',
  },
  {
    title: 'added',
    text: ({ extensionsMs }) => (extensionsMs > 0 ? durationText(extensionsMs) : ''),
  },
  { title: 'fence', text: ({ leaderFence }) => String(leaderFence), side: 'right' },
  {
    title: 'note',
    text: ({ reason, queued, unconfirmed }) =>
      [reason ?? '', queued ? 'queued' : '', unconfirmed ? 'presumed' : '']
        .filter((part) => part !== '')
        .join(', '),
  },
];

export const WORKFLOW_COLUMNS: ReadonlyArray<Column<WorkflowView>> = [
  { title: 'workflow', text: ({ workflowId }) => workflowId },
  { title: 'status', text: ({ status }) => status, format: ({ status }) => colourOf(status) },
  { title: 'runs', text: ({ attempts }) => String(attempts), side: 'right' },
  { title: 'worker', text: ({ workerId }) => workerId ?? '' },
  { title: 'result', text: resultOf },
];

/** Characters of a result, and of an error, of which people need more; the whole of it is in the JSON. */
const RESULT_MAX = 60;
const ERROR_MAX = 200;

function resultOf({ result, error, truncated }: WorkflowView): string {
  const text =
    error === null
      ? (result ?? '')
      : `${error.code}${error.detail === '' ? '' : `: ${error.detail}`}`;
  const most = error === null ? RESULT_MAX : ERROR_MAX;
  if (text.length > most) return `${text.slice(0, most)}…`;
  return truncated ? `${text}…` : text;
}

export const WORKER_COLUMNS: ReadonlyArray<Column<WorkerView>> = [
  { title: 'worker', text: ({ workerId }) => workerId },
  { title: 'datacenter', text: ({ datacenter }) => datacenter },
  { title: 'state', text: ({ state }) => state, format: ({ state }) => colourOf(state) },
  {
    title: 'cores free',
    text: ({ freeCores, cores }) => `${freeCores}/${cores}`,
    side: 'right',
  },
  { title: 'runs', text: ({ attempts }) => String(attempts), side: 'right' },
  { title: 'handlers', text: ({ handlers }) => String(handlers), side: 'right' },
  {
    title: 'suspected',
    text: ({ deadlineInMs, state }) =>
      state === 'suspect' || state === 'evicted' ? '' : dueText(deadlineInMs),
  },
  { title: 'note', text: ({ heard }) => (heard ? '' : 'not heard by this leader yet') },
];
