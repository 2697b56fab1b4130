/**
 * Work that must not begin after a gate has published the outcome: not late, not elsewhere, not when a
 * partition heals.
 */

import { jobAddress } from '../../../machines/jobs/addresses.ts';
import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import type { HistoryRecord } from '../../history.ts';
import type { JobsInvariant } from '../facts.ts';
import { type GateJobStep, jobsOf, PerActor, type WorkflowStep, watching } from './reading-jobs.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;

/** What a gate has heard of one datacenter, by the messages that it took. */
type Heard = 'runs' | 'ended';

interface Told {
  readonly heard: Map<string, Heard>;
  /** When the outcome was published, in true time. */
  publishedAt: number | undefined;
}

interface Said {
  readonly type: string;
  readonly jobId: string;
  readonly datacenter?: string;
  readonly accepted?: boolean;
  readonly ackOf?: string;
  readonly status?: string;
  readonly found?: { readonly status: string } | null;
  readonly input?: { readonly isReady?: boolean };
}

const isEnd = (status: string | undefined): boolean =>
  status !== undefined && status !== 'submitted' && status !== 'running';

const isDispatched = (state = ''): boolean => state.startsWith('{"DISPATCHED"');

/** What a message that a gate takes says of the job in its datacenter; undefined when it says nothing of it. */
function heardIn(said: Said): Heard | undefined {
  switch (said.type) {
    case 'submission.answered':
      return said.accepted === true ? 'runs' : undefined;
    case 'progress.reported':
    case 'timeout.reported':
    case 'leader.transferred':
      return 'runs';
    case 'final.reported':
      return 'ended';
    case 'status.corrected':
      return isEnd(said.status) ? 'ended' : 'runs';
    case 'status.found':
      return isEnd(said.found?.status) ? 'ended' : undefined;
    default:
      return undefined;
  }
}

/** What the record of a gate says of its datacenters: counted on from after turns that nobody saw. */
function heardUnseen({ before }: GateJobStep, heard: Map<string, Heard>): void {
  for (const [name, { run, final }] of Object.entries(before?.datacenters ?? {}))
    if (final !== null) heard.set(name, 'ended');
    else if (run === 'running' || run === 'reported') heard.set(name, 'runs');
}

/**
 * OUT-4. A datacenter that was heard to run the job and whose end was not heard had its end presumed:
 * it is out of reach, marked as unconfirmed, and works on until it is told. So does one that had let its
 * workflows ask for workers before, and of which the gate has heard nothing.
 */
export const nothingBeginsAfterTheOutcome: JobsInvariant = {
  id: 'OUT-4',
  kind: 'safety',
  says: 'No attempt of a job begins after its gate has published the outcome, but where a datacenter had begun it before and was out of reach.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const gates = new PerActor<GateJobStep['after'], Told>(() => ({
      heard: new Map(),
      publishedAt: undefined,
    }));
    /** Jobs of datacenters that have let a workflow ask for a worker. */
    const begun = new Set<string>();
    /** Published ends by address of the job in its datacenter. */
    const over = new Map<string, { readonly gate: string; readonly publishedAt: number }>();
    const gateJob = (step: GateJobStep): void => {
      const { record, after } = step;
      const told = gates.of(step);
      if (step.hasGap) heardUnseen(step, told.heard);
      const said = record.event as Said;
      const heard = heardIn(said);
      if (heard !== undefined && said.datacenter !== undefined && told.publishedAt === undefined)
        told.heard.set(said.datacenter, heard);
      if (after.outcome === null || told.publishedAt !== undefined) return;
      told.publishedAt = jobs.clocks.trueTime(record);
      verdict.exercised();
      for (const datacenter of facts.datacenters) {
        const address = jobAddress(after.jobId, datacenter);
        const known = told.heard.get(datacenter);
        const isCutOff = known === 'runs' || (known === undefined && begun.has(address));
        if (!isCutOff) over.set(address, { gate: record.place, publishedAt: told.publishedAt });
      }
    };
    const workflow = ({ after, record, stateBefore }: WorkflowStep): void => {
      if (!isDispatched(record.state) || isDispatched(stateBefore)) return;
      const ended = over.get(jobAddress(after.jobId, record.place));
      if (ended === undefined) return;
      const lateMs = jobs.clocks.trueTime(record) - ended.publishedAt;
      if (lateMs > 0)
        verdict.broken(
          `${record.address} begins run ${after.run} ${lateMs} ms after ${ended.gate} published the outcome`,
          record,
        );
    };
    const forget = (place: string): void => {
      gates.forget(place);
      for (const [address, { gate }] of over)
        if (gate === place || address.endsWith(`@${place}`)) over.delete(address);
    };
    const sent = ({ event, from, place }: SentRecord): void => {
      if (event.type === 'workflow.ready') begun.add(from);
      // Those that wait for no other are born asking, if need be by the leader after a crash.
      if (event.type === 'slot.requested') begun.add(jobAddress((event as Said).jobId, place));
      if (event.type === SPAWN_EVENT && (event as Said).input?.isReady === true) begun.add(from);
    };
    return watching(jobs, { gateJob, workflow, forget }, { sent });
  },
};
