/**
 * The steps of a scenario file: what happens to the cluster, and when.
 *
 * Guarantees: each step does one thing, to somebody who exists; the steps come out in the order in
 * which they happen, those of the same moment in the order of the file.
 */

import type { Field } from '../../../reading/field.ts';
import { MESSAGE_NAMES } from '../message-names.ts';
import type { NodeSet, Step } from '../plan.ts';
import type { ScenarioLimits } from './limits.ts';
import { type LinkStep, readLink } from './link.ts';
import type { Places } from './places.ts';
import { readSubmission } from './submission.ts';

/** What a step does, but for the moment. */
type Deed = Step extends infer TStep
  ? TStep extends unknown
    ? Omit<TStep, 'atMs'>
    : never
  : never;
type Reader = (field: Field, places: Places) => Deed | undefined;

/** Wall clocks are off by that much at most. */
const SKEW_MAX_MS = 86_400_000;
const EXTENSION = { min: 1, max: 5_184_000_000 };
/** The first is the usual one. */
const REASONS = ['long_workflow', 'gc_pause', 'resource_contention'] as const;

const READERS: Readonly<Record<string, Reader>> = {
  submit(field, places) {
    const job = readSubmission(field, places);
    return job && { do: 'submit', job };
  },
  extend(field, places) {
    const keys = field.record({
      worker: true,
      progress: true,
      reason: false,
      job: false,
      workflow: false,
    });
    const worker = places.node(keys?.worker, 'worker');
    const reason = keys?.reason?.word(REASONS) ?? REASONS[0];
    const jobId = keys?.job?.id();
    const workflowId = keys?.workflow?.id();
    if (worker === undefined) return undefined;
    const progress = keepable(keys?.progress?.plain());
    const whose = { ...(jobId && { jobId }), ...(workflowId && { workflowId }) };
    return { do: 'extend', worker, progress, reason, ...whose };
  },
  cancel(field, places) {
    const keys = field.record({ job: true, to: true });
    const [jobId, to] = [keys?.job?.id(), places.jobsService(keys?.to)];
    return jobId && to ? { do: 'cancel', jobId, to } : undefined;
  },
  extendJob(field, places) {
    const keys = field.record({ job: true, to: true, by: true });
    const [jobId, to] = [keys?.job?.id(), places.jobsService(keys?.to)];
    const byMs = keys?.by?.duration(EXTENSION);
    return jobId && to && byMs ? { do: 'extendJob', jobId, to, byMs } : undefined;
  },
  crash(field, places) {
    const node = places.node(field);
    return node === undefined ? undefined : { do: 'crash', node };
  },
  restart(field, places) {
    const node = places.node(field);
    return node === undefined ? undefined : { do: 'restart', node };
  },
  pause(field, places) {
    const keys = field.record({ node: true, for: true });
    const [node, forMs] = [places.node(keys?.node), keys?.for?.duration()];
    return node === undefined || forMs === undefined ? undefined : { do: 'pause', node, forMs };
  },
  partition(field, places) {
    const keys = field.record({ sides: true, for: false });
    const sides = keys?.sides === undefined ? [] : readSides(keys.sides, places);
    return { do: 'partition', sides, forMs: keys?.for?.duration() ?? null };
  },
  heal(field) {
    if (field.flag() === false) field.wrong('must be true');
    return { do: 'heal' };
  },
  lead(field, places) {
    const manager = places.node(field, 'manager');
    return manager === undefined ? undefined : { do: 'lead', manager };
  },
  link: (field, places): LinkStep | undefined => readLink(field, places),
  skew(field, places) {
    const keys = field.record({ node: true, by: true });
    const node = places.node(keys?.node);
    const byMs = keys?.by?.signedDuration({ max: SKEW_MAX_MS });
    return node === undefined || byMs === undefined ? undefined : { do: 'skew', node, byMs };
  },
  inject(field, places) {
    const keys = field.record({ to: true, message: true });
    const to = places.jobsService(keys?.to);
    if (keys?.message === undefined) return undefined;
    const fields = new Map(keys.message.entries());
    const type = fields.get('type');
    if (type === undefined && keys.message.isMap) keys.message.wrong('must have "type"');
    type?.name(MESSAGE_NAMES, 'a message of the jobs system');
    const message = keys.message.plain() as Readonly<Record<string, unknown>>;
    return to === undefined ? undefined : { do: 'inject', to, message };
  },
};

const KEYS = Object.fromEntries(Object.keys(READERS).map((name) => [name, false] as const));

/** A step, and where the file says what it does. */
interface ReadStep {
  readonly step: Step;
  readonly field: Field;
}

/** A plan is kept as JSON, which has no word for it. */
function keepable(progress: unknown): unknown {
  return typeof progress === 'number' && !Number.isFinite(progress) ? String(progress) : progress;
}

/** In the order in which they happen. */
export function readSteps(
  field: Field | undefined,
  places: Places,
  limits: ScenarioLimits,
  untilMs: number,
): readonly Step[] {
  const entries = field?.items() ?? [];
  if (entries.length > limits.stepsMax) {
    field?.wrong(`must have at most ${limits.stepsMax.toLocaleString('en-GB')} steps`);
    return [];
  }
  const inOrder = entries
    .flatMap((entry) => readStep(entry, places, untilMs) ?? [])
    .sort((one, other) => one.step.atMs - other.step.atMs);
  const steps = inOrder.map(({ step }) => step);
  const workflows = steps.reduce(
    (sum, step) => sum + (step.do === 'submit' ? step.job.workflows.length : 0),
    0,
  );
  if (workflows > limits.workflowsMax)
    field?.wrong(
      `must have at most ${limits.workflowsMax.toLocaleString('en-GB')} workflows in all`,
    );
  checkJobs(inOrder);
  checkLives(inOrder);
  return steps;
}

function readStep(entry: Field, places: Places, untilMs: number): ReadStep | undefined {
  const keys = entry.record({ at: true, ...KEYS });
  if (keys === undefined) return undefined;
  const { at, ...named } = keys as { at?: Field } & Readonly<Record<string, Field | undefined>>;
  const atMs = at?.duration({ min: 0, max: untilMs });
  const deeds = Object.entries(named).flatMap(([name, deed]) =>
    deed === undefined ? [] : [[name, deed] as const],
  );
  const [first, second] = deeds;
  if (first === undefined)
    return entry.wrong(`must do something: ${Object.keys(READERS).join(', ')}`);
  if (second !== undefined)
    return second[1].wrong('must be a step of its own: a step does one thing');
  const [name, field] = first;
  const deed = READERS[name]?.(field, places);
  if (atMs === undefined || deed === undefined) return undefined;
  return { step: { atMs, ...deed } as Step, field };
}

function readSides(field: Field, places: Places): readonly NodeSet[] {
  const sides = field.items().map((side) => side.items().flatMap((item) => places.nodes(item)));
  if (field.isList && sides.length < 2) field.wrong('must have two sides or more');
  if (sides.some((side) => side.length === 0)) field.wrong('must have a node on every side');
  const all = sides.flatMap((side) => [...new Set(side)]);
  if (new Set(all).size < all.length) field.wrong('must not have a node on two sides');
  return sides;
}

/** A job that nobody submits is a misspelt one. */
function checkJobs(inOrder: readonly ReadStep[]): void {
  const jobs = new Set(
    inOrder.flatMap(({ step }) => (step.do === 'submit' ? [step.job.jobId] : [])),
  );
  for (const { step, field } of inOrder) {
    if (step.do === 'submit' || !('jobId' in step) || step.jobId === undefined) continue;
    if (jobs.has(step.jobId)) continue;
    const job = new Map(field.entries()).get('job');
    job?.name([...jobs], 'a job that is submitted');
  }
}

/** Only what runs can crash, and only what has crashed can be restarted. */
function checkLives(inOrder: readonly ReadStep[]): void {
  const down = new Set<string>();
  for (const { step, field } of inOrder) {
    switch (step.do) {
      case 'crash':
        if (down.has(step.node)) field.wrong('must be running: it has crashed before');
        down.add(step.node);
        break;
      case 'restart':
        if (!down.delete(step.node)) field.wrong('must have crashed: it is running');
        break;
      case 'pause':
        if (down.has(step.node)) field.wrong('must be about a node that runs: it has crashed');
        break;
      case 'lead':
        if (down.has(step.manager)) field.wrong('must be running: it has crashed');
        break;
      case 'extend':
        if (down.has(step.worker)) field.wrong('must be about a worker that runs: it has crashed');
        break;
    }
  }
}
