/**
 * Progress that a handler reports reaches its job: judged by what the handler said, not by what anybody
 * noted of it.
 *
 * A report counts when it is further than all before it in its run. Between worker and job it is a hint
 * that may be lost, so it is judged where nothing is: from the healing on, or in a run without faults.
 */

import { placeOf } from '../../../machines/jobs/addresses.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { HistoryRecord, RecordOf, TurnFact, WorkFact } from '../../history.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { electionMs, healedAtMs, isInCore, LATENESS_MS } from './reading-healed.ts';

type WorkRecord = RecordOf<WorkFact>;

interface Reported {
  readonly progress?: number;
  readonly completedItems?: number;
}

/** A run of a handler, and the furthest that it has said. */
interface Run {
  readonly startedAtMs: number;
  progress: number;
  items: number;
}

interface Awaited {
  readonly record: HistoryRecord;
  readonly atMs: number;
  readonly dueAtMs: number;
}

/** A worker sends at most one report in that time. */
const THROTTLE_MS = 1_000;
/** A workflow that has just begun may hear a report before it hears that its worker has taken it. */
const BEGINNING_MS = 2_000;
/** From worker to leader, and from workflow to job: two turns that are committed. */
const HOPS = 3;

export const progressArrives: JobsInvariant = {
  id: 'TO-13',
  kind: 'liveness',
  says: 'Where nothing is lost, a job hears within a second and a hop that a handler has reported more than before in its run.',
  watch(facts, verdict) {
    const calmFromMs = calmIn(facts);
    if (calmFromMs === null || facts.dropsHints === true) return {};
    const limitMs = THROTTLE_MS + HOPS * facts.deltaMs + LATENESS_MS;
    const runs = new Map<string, Run>();
    const awaited = new Map<string, Awaited>();
    const judge = (atMs: number): void => {
      for (const [workflow, { dueAtMs, record, atMs: reportedAtMs }] of awaited) {
        if (atMs <= dueAtMs) continue;
        awaited.delete(workflow);
        verdict.broken(
          `${workflow} got further at ${reportedAtMs} ms, and its job did not hear of it`,
          record,
        );
      }
    };
    const work = (record: WorkRecord): void => {
      const { atMs, change, node } = record;
      const workflow = workflowOf(record);
      const own = `${workflow} ${node} ${record.run}`;
      if (change === 'started') runs.set(own, { startedAtMs: atMs, progress: 0, items: 0 });
      else if (change !== 'progressed' && change !== 'asked' && change !== 'answered') {
        runs.delete(own);
        awaited.delete(workflow);
      }
      const run = runs.get(own);
      if (change !== 'progressed' || run === undefined || !rises(run, record.about as Reported))
        return;
      if (atMs < Math.max(calmFromMs, run.startedAtMs + BEGINNING_MS) || !isInCore(facts, node))
        return;
      verdict.exercised();
      // One that waits already has the earlier limit.
      if (!awaited.has(workflow)) awaited.set(workflow, { record, atMs, dueAtMs: atMs + limitMs });
    };
    const turn = (record: RecordOf<TurnFact>): void => {
      judge(record.atMs);
      if (awaited.size === 0) return;
      const { address, kind, event, atMs, state } = record;
      if (kind === 'workflow' && !state.includes('RUNNING')) awaited.delete(address);
      if (kind !== 'job') return;
      const context = record.context as JobContext | undefined;
      const { workflowId, sinceProgressMs = 0 } = event as unknown as {
        readonly workflowId?: string;
        readonly sinceProgressMs?: number;
      };
      const [job = '', place = ''] = [
        address.slice('job/'.length, address.lastIndexOf('@')),
        placeOf(address),
      ];
      if (context === undefined || context.endedAt !== null || context.timeoutReportedAt !== null) {
        for (const workflow of [...awaited.keys()])
          if (workflow.startsWith(`workflow/${job}/`) && workflow.endsWith(`@${place}`))
            awaited.delete(workflow);
        return;
      }
      if (event.type !== 'workflow.progressed') return;
      const workflow = `workflow/${job}/${workflowId}@${place}`;
      const known = awaited.get(workflow);
      if (known !== undefined && atMs - sinceProgressMs >= known.atMs) awaited.delete(workflow);
    };
    return {
      work(record) {
        judge(record.atMs);
        work(record);
      },
      turn,
      end: judge,
    };
  },
};

/** From when on nothing is lost; null when that cannot be said. */
function calmIn(facts: JobsFacts): number | null {
  const healed = healedAtMs(facts);
  if (healed === null) return null;
  const { heartbeatIntervalMs } = facts.config;
  return facts.isFaultFree ? healed : healed + 2 * electionMs(facts) + 2 * heartbeatIntervalMs;
}

/** Notes what a run has said, and whether it was more than ever before. */
function rises(run: Run, about: Reported | number): boolean {
  const { progress = 0, completedItems } = typeof about === 'number' ? { progress: about } : about;
  const hasRisen =
    completedItems === undefined ? progress > run.progress : completedItems > run.items;
  run.progress = Math.max(run.progress, progress);
  run.items = Math.max(run.items, completedItems ?? 0);
  return hasRisen;
}

/** A worker is called `A.worker-1`. */
function workflowOf({ jobId, workflowId, node }: WorkRecord): string {
  return `workflow/${jobId}/${workflowId}@${node.slice(0, node.indexOf('.'))}`;
}
