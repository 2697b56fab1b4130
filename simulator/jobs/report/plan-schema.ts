/**
 * The shape of a plan as it lies in a file: every field, its kind and its size.
 *
 * What a plan names must also exist, and its configuration must be one that programs accept: that is
 * checked where the file is read.
 */

import { z } from 'zod';
import { JOB_STATUSES } from '../../../machines/jobs/words.ts';
import { nemesisSchema, rangeMs } from '../../faults.ts';
import { DATACENTER_PATTERN } from '../names.ts';
import { PLAN_VERSION } from '../plan.ts';
import { SCENARIO_LIMITS } from '../scenario/limits.ts';

const { datacentersMax, nodesMax, stepsMax, workflowsMax, untilMaxMs } = SCENARIO_LIMITS;
/** Faults of one plan. */
const NEMESES_MAX = 1_000;
const NAME_LENGTH_MAX = 300;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const names = z.array(name).max(nodesMax);
const atMs = z.number().min(0).max(untilMaxMs);
const durationMs = z.number().min(0).max(untilMaxMs);
const skewMs = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const share = z.number().min(0).max(1);
const count = z.int().min(0).max(10_000);
const fields = z.record(z.string().max(NAME_LENGTH_MAX), z.unknown());

const script = {
  runsMs: z.number().min(0).nullable().optional(),
  progressEveryMs: z.number().min(0).nullable().optional(),
  stopsProgressAtMs: z.number().min(0).optional(),
  secondReportAfterMs: z.number().min(0).optional(),
  failsTimes: count.optional(),
  completesItems: count.optional(),
  ignoresCancel: z.boolean().optional(),
  rejects: z.union([z.boolean(), count]).optional(),
};

const workflow = z.strictObject({
  ...script,
  id: name,
  dependsOn: names.optional(),
  cores: count.optional(),
  onWorker: z.union([name, z.record(name, name)]).optional(),
  in: z.record(name, z.strictObject(script)).optional(),
});

const job = z.strictObject({
  jobId: name,
  to: name,
  datacenters: names.optional(),
  // What a program must refuse can be planned too.
  timeoutMs: z.number(),
  failFast: z.boolean().optional(),
  stuckThresholdMs: z.number().optional(),
  allStuckThresholdMs: z.number().optional(),
  datacenterTimeoutQuorum: z.unknown().optional(),
  workflows: z.array(workflow).max(workflowsMax),
  malformed: fields.optional(),
});

const action = z.union([
  z.literal('drop'),
  z.strictObject({ duplicate: count }),
  z.strictObject({ holdMs: durationMs }),
]);

const question = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('list'),
    status: z.enum(JOB_STATUSES).optional(),
    stuckForMs: durationMs.optional(),
    deadlineBeforeMs: durationMs.optional(),
    limit: count.optional(),
  }),
  z.strictObject({ kind: z.literal('stuck'), thresholdMs: durationMs }),
  z.strictObject({
    kind: z.literal('sinceProgress'),
    jobId: name,
    workflowId: name.optional(),
  }),
  z.strictObject({ kind: z.literal('workers') }),
  z.strictObject({ kind: z.literal('watch'), jobId: name, seenSeq: count }),
]);

const step = z.discriminatedUnion('do', [
  z.strictObject({ atMs, do: z.literal('submit'), job }),
  z.strictObject({ atMs, do: z.literal('cancel'), jobId: name, to: name }),
  z.strictObject({ atMs, do: z.literal('get'), jobId: name, to: name }),
  z.strictObject({ atMs, do: z.literal('ask'), to: name, question }),
  z.strictObject({
    atMs,
    do: z.literal('extendJob'),
    jobId: name,
    to: name,
    byMs: z.number(),
    requestId: name.optional(),
  }),
  z.strictObject({
    atMs,
    do: z.literal('extend'),
    worker: name,
    progress: z.unknown().optional(),
    reason: z.string().max(NAME_LENGTH_MAX),
    jobId: name.optional(),
    workflowId: name.optional(),
  }),
  z.strictObject({ atMs, do: z.literal('crash'), node: name }),
  z.strictObject({ atMs, do: z.literal('restart'), node: name, forgets: z.boolean().optional() }),
  z.strictObject({ atMs, do: z.literal('pause'), node: name, forMs: durationMs }),
  z.strictObject({
    atMs,
    do: z.literal('partition'),
    sides: z.array(names).max(nodesMax),
    forMs: durationMs.nullable(),
  }),
  z.strictObject({ atMs, do: z.literal('heal') }),
  z.strictObject({ atMs, do: z.literal('lead'), manager: name }),
  z.strictObject({
    atMs,
    do: z.literal('link'),
    between: z.tuple([names, names]),
    action,
    messageType: name.optional(),
    count: count.optional(),
  }),
  z.strictObject({ atMs, do: z.literal('skew'), node: name, byMs: skewMs }),
  z.strictObject({ atMs, do: z.literal('inject'), to: name, message: fields }),
]);

const datacenter = z.strictObject({
  managers: z.int().min(1).max(nodesMax),
  workers: z.int().min(0).max(nodesMax),
  cores: z.int().min(1).max(1_024).optional(),
});

const book = z.strictObject({
  entries: z.array(z.strictObject({ atMs, id: name, pages: count.optional() })).max(stepsMax),
  deaths: z
    .array(z.strictObject({ atMs, node: z.enum(['book', 'clerk']), downMs: durationMs }))
    .max(stepsMax),
  commitMs: durationMs,
  mailboxMax: z.int().min(1),
  sendersMax: z.int().min(1),
  outboxMax: z.int().min(1),
  dedupRetentionMs: z.int().min(1),
});

export const planSchema = z.strictObject({
  version: z.literal(PLAN_VERSION),
  release: name.optional(),
  name: z.string().max(NAME_LENGTH_MAX),
  system: z.literal('jobs'),
  seed: z.int().min(0),
  untilMs: z.number().min(1).max(untilMaxMs).nullable(),
  network: z.strictObject({
    delayMs: rangeMs,
    loss: share,
    duplicate: share,
    reorder: share,
  }),
  topology: z.strictObject({
    gates: z.int().min(0).max(nodesMax),
    datacenters: z
      .record(z.string().regex(DATACENTER_PATTERN), datacenter)
      .refine((all) => Object.keys(all).length > 0, 'there must be a datacenter')
      .refine((all) => Object.keys(all).length <= datacentersMax, `at most ${datacentersMax}`),
  }),
  config: fields,
  bounds: z.record(name, z.int().min(0)).optional(),
  steps: z.array(step).max(stepsMax),
  book: book.optional(),
  nemeses: z.array(nemesisSchema).max(NEMESES_MAX),
  healAtMs: z.number().min(0).max(untilMaxMs).nullable(),
  isDrawn: z.boolean().optional(),
  commitMs: rangeMs.optional(),
});
