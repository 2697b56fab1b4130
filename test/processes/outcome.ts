/**
 * Outcome of a scenario that real processes have played, in the words of the simulator's result.
 *
 * Statuses, reasons and workflows are what the nodes answer over HTTP when it is over; moments are
 * those of what they noted, at the pace of the scenario. Where a place has nobody left to ask, what
 * it noted has to do.
 */

import type { JobView, WorkflowView } from '../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../machines/jobs/words.ts';
import { datacenterOf, gatesOf, toShownName, workersOf } from '../../simulator/jobs/names.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import type {
  Counters,
  DatacenterEnd,
  GateEnd,
  JobEnd,
  WorkerEnd,
  WorkflowEnd,
} from '../../simulator/jobs/scenario/result.ts';
import { Tally } from '../../simulator/jobs/scenario/tally.ts';
import type { LogRecord } from './log-book.ts';
import { placeOf } from './process-cluster.ts';

export interface RealResult {
  readonly jobs: Readonly<Record<string, JobEnd>>;
  readonly workers: Readonly<Record<string, WorkerEnd>>;
  readonly counters: Counters;
}

export interface Witnesses {
  readonly plan: Pick<Plan, 'topology' | 'steps'>;
  readonly factor: number;
  /** When the scenario began, in epoch milliseconds. */
  readonly zeroAt: number;
  readonly records: readonly LogRecord[];
  /** What a place answers about a job now; undefined where nobody can be asked, or knows it. */
  readonly views: ReadonlyMap<string, JobView>;
}

/** What a view is kept under. */
export const viewKey = (jobId: string, place: string): string => `${jobId}@${place}`;

export function realResult(witnesses: Witnesses): RealResult {
  const { plan, records } = witnesses;
  const jobIds = new Set(
    plan.steps.flatMap((step) => (step.do === 'submit' ? step.job.jobId : [])),
  );
  const jobs = [...jobIds].map((jobId) => [jobId, jobEnd(jobId, witnesses)] as const);
  const tally = new Tally();
  for (const { node, fields, at } of records)
    tally.takeLog({
      type: 'log',
      level: 'info',
      message: '',
      index: 0,
      atMs: at,
      node,
      fields: scaledFields(fields, witnesses.factor),
    });
  const workers = Object.keys(plan.topology.datacenters).flatMap((datacenter) =>
    workersOf(plan.topology, datacenter),
  );
  return {
    jobs: Object.fromEntries(jobs),
    workers: Object.fromEntries(
      workers.map((worker) => [
        toShownName(worker),
        { ...tally.worker(worker), health: healthOf(worker, records) },
      ]),
    ),
    counters: tally.counters(reportsIn(records)),
  };
}

/** Grants are told at the pace of the processes. */
function scaledFields(
  fields: LogRecord['fields'],
  factor: number,
): Readonly<Record<string, unknown>> {
  const { extensionMs } = fields;
  return typeof extensionMs === 'number'
    ? { ...fields, extensionMs: extensionMs * factor }
    : fields;
}

function jobEnd(jobId: string, witnesses: Witnesses): JobEnd {
  const { topology } = witnesses.plan;
  const known = Object.keys(topology.datacenters).flatMap((datacenter) => {
    const end = datacenterEnd(jobId, datacenter, witnesses);
    return end === undefined ? [] : [[datacenter, end] as const];
  });
  const [gate] = gatesOf(topology);
  return {
    gate: gate === undefined ? null : gateEnd(jobId, gate, witnesses),
    datacenters: Object.fromEntries(known),
  };
}

function gateEnd(jobId: string, gate: string, witnesses: Witnesses): GateEnd | null {
  const notes = notesOf(jobId, gate, witnesses);
  const view = witnesses.views.get(viewKey(jobId, gate));
  const ended = notes.find(({ event }) => event === 'job.ended');
  if (view === undefined && notes.length === 0) return null;
  const count = (name: string): number => notes.filter(({ event }) => event === name).length;
  return {
    status: view?.status ?? ((ended?.fields.status ?? 'running') as JobStatus),
    reason: view?.reason ?? textOf(ended?.fields.reason),
    atMs: momentOf(ended, witnesses),
    decisions: count('timeout.declared'),
    withdrawn: count('timeout.withdrawn'),
    unconfirmed: (ended?.fields.unconfirmed ?? []) as readonly string[],
  };
}

function datacenterEnd(
  jobId: string,
  datacenter: string,
  witnesses: Witnesses,
): DatacenterEnd | undefined {
  const notes = notesOf(jobId, datacenter, witnesses);
  const view = witnesses.views.get(viewKey(jobId, datacenter));
  const first = (name: string): LogRecord | undefined => notes.find(({ event }) => event === name);
  const accepted = first('job.accepted');
  if (view === undefined && accepted === undefined) return undefined;
  const ended = first('job.ended');
  const last = notes.findLast(({ fields }) => typeof fields.leaderFence === 'number');
  const { factor } = witnesses;
  const said = { ...ended?.fields, ...view };
  return {
    status: (said.status ?? 'running') as JobStatus,
    reason: textOf(said.reason),
    gateReason: textOf(said.gateReason),
    atMs: momentOf(ended, witnesses),
    leader: toShownName(view?.leader ?? last?.node ?? ''),
    leaderFence: view?.leaderFence ?? Number(last?.fields.leaderFence ?? 0),
    startedAtMs: momentOf(accepted, witnesses) ?? 0,
    extensionsMs: Number(said.extensionsMs ?? 0) * factor,
    authority: view?.authority ?? 'localAuthority',
    localReason: textOf(said.localReason),
    reportedAtMs: momentOf(first('timeout.reported'), witnesses),
    workflows: Object.fromEntries(
      (view?.workflows ?? []).map((workflow) => [
        workflow.workflowId,
        workflowEnd(workflow, notes, witnesses),
      ]),
    ),
    lateEvents: notes.filter(({ event }) => event === 'event.late').length,
  };
}

function workflowEnd(
  { workflowId, status, attempts }: WorkflowView,
  notes: readonly LogRecord[],
  witnesses: Witnesses,
): WorkflowEnd {
  const moved = notes.findLast(
    ({ event, fields }) => event === 'workflow.transition' && fields.workflowId === workflowId,
  );
  return { state: status, attempts, atMs: momentOf(moved, witnesses) };
}

/** What the nodes of a place noted about a job. */
function notesOf(jobId: string, place: string, { records }: Witnesses): readonly LogRecord[] {
  return records.filter(({ node, fields }) => fields.jobId === jobId && placeOf(node) === place);
}

function momentOf(record: LogRecord | undefined, { zeroAt, factor }: Witnesses): number | null {
  return record === undefined ? null : Math.round((record.at - zeroAt) * factor);
}

const HEALTH: Readonly<Record<string, string>> = {
  'worker.registered': 'healthy',
  'worker.recovered': 'healthy',
  'worker.suspect': 'suspect',
  'worker.evicted': 'evicted',
};

function healthOf(worker: string, records: readonly LogRecord[]): string | null {
  const last = records.findLast(
    ({ event, fields }) => event in HEALTH && fields.workerId === worker,
  );
  return last === undefined ? null : (HEALTH[last.event] ?? null);
}

/** Timeouts that datacenters have reported, each once. */
function reportsIn(records: readonly LogRecord[]): number {
  const reported = records.filter(
    ({ event, node }) => event === 'timeout.reported' && datacenterOf(node) !== undefined,
  );
  return new Set(reported.map(({ node, fields }) => `${fields.jobId}@${placeOf(node)}`)).size;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
