/**
 * Ends of jobs, read from the history of a run: at their gates, in their datacenters, and their workflows.
 *
 * Guarantees: every value is of a turn that was durable, and every moment is true time since zero,
 * whatever the clocks of the nodes said. What an actor knew last counts, also when its record has
 * been dropped since.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import { extensionsMs } from '../../../machines/jobs/job/context.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  type JobStatus,
  statusOfWorkflow,
  type WorkflowState,
} from '../../../machines/jobs/words.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { RecordOf, TurnFact } from '../../history.ts';
import { workflowsIn } from '../invariants/reading-workflows.ts';
import { toShownName } from '../names.ts';
import type { DatacenterEnd, GateEnd, WorkflowEnd } from './result.ts';

type Turn = RecordOf<TurnFact>;

interface GateTrack {
  context: GateJobContext;
  publishedAtMs: number | null;
}

interface JobTrack {
  readonly acceptedAtMs: number;
  readonly startedAt: number;
  context: JobContext;
  endedAtMs: number | null;
  reportedAtMs: number | null;
}

interface WorkflowTrack {
  context: WorkflowContext;
  state: WorkflowState;
  stateAtMs: number;
}

export class JobEnds {
  readonly #gates = new Map<string, GateTrack>();
  readonly #jobs = new Map<string, JobTrack>();
  readonly #workflows = new Map<string, WorkflowTrack>();
  #reports = 0;

  /** Timeouts that datacenters have reported to gates. */
  get timeoutReports(): number {
    return this.#reports;
  }

  take(turn: Turn): void {
    // No event reached the machine.
    if (turn.context === undefined || turn.error !== undefined) return;
    if (turn.kind === 'job') this.#takeJob(turn, turn.context as JobContext);
    if (turn.kind === 'workflow') this.#takeWorkflow(turn, turn.context as WorkflowContext);
    if (turn.kind === 'gate-job') this.#takeGate(turn, turn.context as GateJobContext);
  }

  /** The end at the gate; null where no gate knows the job. */
  gateEnd(jobId: string): GateEnd | null {
    const tracks = [...this.#gates.values()].filter(({ context }) => context.jobId === jobId);
    const track = tracks.find(({ publishedAtMs }) => publishedAtMs !== null) ?? tracks.at(-1);
    if (track === undefined) return null;
    const { context, publishedAtMs } = track;
    const { outcome, declared, withdrawn } = context;
    return {
      status: outcome?.status ?? standing(context),
      reason: outcome?.reason ?? null,
      atMs: publishedAtMs,
      decisions: declared,
      withdrawn,
      unconfirmed: outcome?.unconfirmed ?? [],
    };
  }

  /** The end in a datacenter; null where it does not know the job. */
  datacenterEnd(jobId: string, datacenter: string): DatacenterEnd | null {
    const track = this.#jobs.get(`${jobId}@${datacenter}`);
    if (track === undefined) return null;
    const { context } = track;
    return {
      status: context.status,
      reason: context.reason,
      gateReason: context.gateReason,
      atMs: track.endedAtMs,
      leader: toShownName(context.managerId),
      leaderFence: context.leaderFence,
      startedAtMs: track.acceptedAtMs + (context.startedAt - track.startedAt),
      extensionsMs: extensionsMs(context),
      authority: context.gateId === null ? 'localAuthority' : 'gateCoordinated',
      localReason: context.localReason,
      reportedAtMs: track.reportedAtMs,
      workflows: Object.fromEntries(
        workflowsIn(context.table).ids.map((id) => [id, this.#workflowEnd(jobId, id, datacenter)]),
      ),
      lateEvents: context.lateEvents.length,
    };
  }

  #workflowEnd(jobId: string, workflowId: string, datacenter: string): WorkflowEnd {
    const track = this.#workflows.get(`${jobId}/${workflowId}@${datacenter}`);
    if (track === undefined) return { state: 'pending', attempts: 0, atMs: null };
    const { context, state, stateAtMs } = track;
    return { state: statusOfWorkflow(state), attempts: context.dispatched, atMs: stateAtMs };
  }

  #takeJob({ atMs }: Turn, context: JobContext): void {
    const name = `${context.jobId}@${context.datacenter}`;
    const known = this.#jobs.get(name);
    const track = known ?? {
      acceptedAtMs: atMs,
      startedAt: context.startedAt,
      context,
      endedAtMs: null,
      reportedAtMs: null,
    };
    track.context = context;
    if (context.endedAt !== null) track.endedAtMs ??= atMs;
    if (context.timeoutReportedAt !== null && track.reportedAtMs === null) {
      track.reportedAtMs = atMs;
      this.#reports += 1;
    }
    this.#jobs.set(name, track);
  }

  #takeWorkflow({ atMs, state: text }: Turn, context: WorkflowContext): void {
    const name = `${context.jobId}/${context.workflowId}@${context.datacenter}`;
    const state = stateOf(text);
    const known = this.#workflows.get(name);
    const stateAtMs = known?.state === state ? known.stateAtMs : atMs;
    this.#workflows.set(name, { context, state, stateAtMs });
  }

  #takeGate({ atMs, address }: Turn, context: GateJobContext): void {
    const known = this.#gates.get(address);
    const published = context.outcome === null ? null : atMs;
    this.#gates.set(address, { context, publishedAtMs: known?.publishedAtMs ?? published });
  }
}

/** While no outcome is published. */
function standing({ datacenters }: GateJobContext): JobStatus {
  const runs = Object.values(datacenters).map(({ run }) => run);
  return runs.some((run) => run === 'asked') ? 'submitted' : 'running';
}

/** The outermost state of a workflow: one of ten. */
function stateOf(text: string): WorkflowState {
  const state = text.startsWith('{') ? (Object.keys(JSON.parse(text))[0] as string) : text;
  return (state === 'FAILED_FOR_GOOD' ? 'FAILED' : state) as WorkflowState;
}
