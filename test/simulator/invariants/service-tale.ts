/** Histories of one question to a jobs service and its answer, by hand: a job that runs, its workflow and its worker. */

import { workerHealthAddress, workerPoolAddress } from '../../../machines/jobs/addresses.ts';
import { initialJob } from '../../../machines/jobs/job/context.ts';
import { READS } from '../../../machines/jobs/jobs-service.ts';
import { initialWorkflow } from '../../../machines/jobs/workflow/context.ts';
import type { HistoryFact } from '../../../simulator/history/history.ts';
import { commit, history, record, turn } from './builders.ts';
import { standingAt } from './standing-at.ts';
import { EPOCH, input } from './tale.ts';

export const NODE = 'A.manager-1';
export const TAKEN_MS = 10_000;
const replyTo = 'ask/1@client-1';

export const stored = (value: unknown, context: object): string =>
  record(1, { snapshot: { value, context } });

const born = { ...initialJob({ ...input(), at: EPOCH }), status: 'running', seq: 2 } as const;
export const job = {
  ...born,
  table: standingAt(born.table, 'r'),
  lastProgressAt: EPOCH + 4_000,
};
const workflow = {
  ...initialWorkflow({
    ...{ jobId: 'j1', workflowId: 'w1', datacenter: 'A', index: 0, handler: 'h', payload: '' },
    ...{ cores: 1, acceptedAt: EPOCH, rules: {} as never, at: EPOCH },
  }),
  ...{ dispatched: 1, lastWorkerId: 'w-1', lastProgressAt: EPOCH + 4_000 },
  slot: { workerId: 'w-1', registration: 1, bootEpoch: 1, cores: 1 },
};
const pooled = {
  ...{ registration: 1, bootEpoch: 1, coresTotal: 4, coresReserved: 1, handlers: ['h'] },
  ...{ state: 'healthy', heard: true },
};
export const RECORDS = {
  'desk/main@A': stored('open', {}),
  'job/j1@A': stored('active', job),
  'workflow/j1/w1@A': stored('RUNNING', workflow),
  [workerPoolAddress('A')]: stored('serving', { workers: { 'w-1': pooled } }),
  [workerHealthAddress('w-1', 'A')]: stored('healthy', {
    operations: { o: {} },
    deadline: EPOCH + 12_000,
  }),
};

/** As it is 10 s after zero. */
export const view = {
  jobId: 'j1',
  status: 'running',
  reason: null,
  localReason: null,
  gateReason: null,
  authority: 'localAuthority',
  enforce: true,
  elapsedMs: 10_000,
  timeoutMs: 60_000,
  extensionsMs: 0,
  dueInMs: 50_000,
  sinceProgressMs: 6_000,
  queued: false,
  leader: NODE,
  leaderFence: 1,
  shadow: null,
  seq: 2,
  workflowsTotal: 1,
  workflowsCompleted: 0,
  workflowsFailed: 0,
  workflows: [],
  page: 1,
  pages: 1,
};
export const shownWorkflow = {
  ...{ workflowId: 'w1', status: 'running', attempts: 1, workerId: 'w-1' },
  ...{ result: null, truncated: false, error: null },
};
export const whole = { ...view, workflows: [shownWorkflow] };
export const stuck = { jobId: 'j1', workflowId: 'w1', workerId: 'w-1', sinceProgressMs: 6_000 };
export const worker = {
  ...{ workerId: 'w-1', datacenter: 'A', state: 'healthy', heard: true, cores: 4, freeCores: 3 },
  ...{ attempts: 1, handlers: 1, deadlineInMs: 2_000 },
};
export const workers = { workers: [worker], cursor: null, unanswered: [] };

export type Question = { readonly type: string; readonly [field: string]: unknown };

export function taken(question: Question): HistoryFact {
  const told = { takenAt: EPOCH + TAKEN_MS, event: { ...question, replyTo } };
  if (!Object.hasOwn(READS, question.type)) return turn('desk/main@A', told);
  const who = {
    place: 'A',
    address: 'desk/main@A',
    kind: 'desk',
    from: undefined,
    counter: undefined,
  };
  return { type: 'question', ...who, ...told };
}
export const reply = (event: object) =>
  ({
    type: 'frame',
    to: 'client-1',
    change: 'sent',
    frame: JSON.stringify({
      v: 1,
      envelopes: [
        {
          to: replyTo,
          from: 'desk/main@A',
          counter: 0,
          event: { type: 'escapement.reply', ...event },
        },
      ],
      receipts: [],
    }),
  }) as const;

export function answered(
  question: Question,
  value: unknown,
  records: Record<string, string | null> = RECORDS,
) {
  return history()
    .at(1_000)
    .add(NODE, commit('A', 1, records))
    .at(TAKEN_MS)
    .add(NODE, taken(question), reply({ value }));
}
