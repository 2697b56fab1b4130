/**
 * Which deadlines an actor waits for in a state, as its machine is drawn.
 *
 * Read from the drawing alone: no machine is run. Every kind of the jobs system waits by `after` only.
 */

import { attemptMachine } from '../../machines/jobs/attempt.ts';
import { gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { jobMachine } from '../../machines/jobs/job.ts';
import { submissionPageMachine } from '../../machines/jobs/submission-page.ts';
import { workerMachine } from '../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';

/** The part of a machine's drawing that says what it waits for. */
interface Drawing {
  readonly id?: string;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, Drawing>>;
}

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  attempt: attemptMachine.config as Drawing,
  'gate-job': gateJobMachine.config as Drawing,
  job: jobMachine.config as Drawing,
  'submission-page': submissionPageMachine.config as Drawing,
  worker: workerMachine.config as Drawing,
  'worker-health': workerHealthMachine.config as Drawing,
  workflow: workflowMachine.config as Drawing,
};

const drawn = new Map<string, Map<string, ReadonlySet<string>>>();

/** Names of the deadlines of a state as a turn's record tells it; undefined for an unknown kind. */
export function deadlinesOf(kind: string, state: string): ReadonlySet<string> | undefined {
  const drawing = DRAWINGS[kind];
  if (drawing === undefined) return undefined;
  const known = drawn.get(kind) ?? new Map<string, ReadonlySet<string>>();
  drawn.set(kind, known);
  const found = known.get(state);
  if (found !== undefined) return found;
  const names = new Set<string>();
  collect(drawing, state.startsWith('{') ? JSON.parse(state) : state, drawing.id ?? '', names);
  known.set(state, names);
  return names;
}

function collect(drawing: Drawing, value: unknown, path: string, names: Set<string>): void {
  for (const delay of Object.keys(drawing.after ?? {})) names.add(`xstate.after.${delay}.${path}`);
  const below = typeof value === 'string' ? { [value]: {} } : ((value ?? {}) as object);
  for (const [name, inside] of Object.entries(below)) {
    const state = drawing.states?.[name];
    if (state !== undefined) collect(state, inside, `${path}.${name}`, names);
  }
}
