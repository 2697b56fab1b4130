/**
 * The workflows of a job in a scenario file: what each of them is, and what its work is like where.
 *
 * An entry with `in` is about these datacenters only; others of the same id say the rest. Keys of an
 * entry without `in` hold everywhere, those of one with `in` come before them.
 */

import { CORES_MAX, WORKFLOWS_MAX } from '../../../machines/jobs/messages/client.ts';
import type { Field } from '../../../reading/field.ts';
import type { PlannedWorkflow, WorkflowScript } from '../plan.ts';
import type { Places } from './places.ts';

const KEYS = {
  id: true,
  runs: false,
  progressEvery: false,
  stopsProgressAt: false,
  failsTimes: false,
  dependsOn: false,
  onWorker: false,
  cores: false,
  completesItems: false,
  ignoresCancel: false,
  rejects: false,
  in: false,
} as const;

/** No more than a run can count to. */
const COUNTS = { min: 0, max: 1_000_000_000 };

/** What is said of one workflow, by one entry or several. */
interface Draft {
  readonly field: Field;
  dependsOn?: readonly string[];
  dependsOnField?: Field;
  cores?: number;
  readonly onWorker: Record<string, string>;
  /** Said of all datacenters. */
  everywhere?: WorkflowScript;
  readonly byDatacenter: Map<string, WorkflowScript>;
}

export function readWorkflows(
  field: Field,
  targets: readonly string[],
  places: Places,
): readonly PlannedWorkflow[] {
  const entries = field.items();
  if (field.isList && entries.length === 0) field.wrong('must have a workflow');
  const drafts = new Map<string, Draft>();
  for (const entry of entries) readEntry(entry, drafts, targets, places);
  if (drafts.size > WORKFLOWS_MAX)
    field.wrong(`must have at most ${WORKFLOWS_MAX.toLocaleString('en-GB')} workflows`);
  checkDependencies(drafts);
  return [...drafts].map(([id, draft]) => planned(id, draft, targets));
}

function readEntry(
  entry: Field,
  drafts: Map<string, Draft>,
  targets: readonly string[],
  places: Places,
): void {
  const keys = entry.record(KEYS);
  const id = keys?.id?.id();
  if (keys === undefined || id === undefined) return;
  const where = keys.in?.items().flatMap((item) => places.datacenter(item) ?? []);
  const draft: Draft = drafts.get(id) ?? { field: entry, onWorker: {}, byDatacenter: new Map() };
  drafts.set(id, draft);
  if (keys.dependsOn !== undefined) {
    draft.dependsOn = keys.dependsOn.items().flatMap((item) => item.id() ?? []);
    draft.dependsOnField = keys.dependsOn;
  }
  const cores = keys.cores?.whole({ min: 1, max: CORES_MAX });
  if (cores !== undefined && (draft.cores ?? cores) !== cores)
    keys.cores?.wrong(
      `must be ${draft.cores}, as elsewhere: a workflow has the same size everywhere`,
    );
  else if (cores !== undefined) draft.cores = cores;
  const script = readScript(keys);
  const twice =
    where === undefined
      ? draft.everywhere !== undefined
      : where.some((datacenter) => draft.byDatacenter.has(datacenter));
  if (twice)
    entry.wrong(`must have another id, or be "in" other datacenters: "${id}" is there twice`);
  if (where === undefined) draft.everywhere = script;
  for (const datacenter of where ?? []) draft.byDatacenter.set(datacenter, script);
  readPins(keys.onWorker, where ?? targets, places, draft.onWorker);
}

function readScript(
  keys: { readonly [name in keyof typeof KEYS]: Field | undefined },
): WorkflowScript {
  const runsMs = keys.runs?.duration();
  const progressEveryMs = isNever(keys.progressEvery)
    ? null
    : keys.progressEvery?.duration({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const stopsProgressAtMs = keys.stopsProgressAt?.duration();
  const failsTimes = keys.failsTimes?.whole(COUNTS);
  const completesItems = keys.completesItems?.whole(COUNTS);
  const ignoresCancel = keys.ignoresCancel?.flag();
  const rejects = readRejects(keys.rejects);
  return {
    ...(runsMs !== undefined && { runsMs }),
    ...(progressEveryMs !== undefined && { progressEveryMs }),
    ...(stopsProgressAtMs !== undefined && { stopsProgressAtMs }),
    ...(failsTimes !== undefined && { failsTimes }),
    ...(completesItems !== undefined && { completesItems }),
    ...(ignoresCancel !== undefined && { ignoresCancel }),
    ...(rejects !== undefined && { rejects }),
  };
}

function isNever(field: Field | undefined): boolean {
  return field?.source.kind === 'scalar' && field.source.scalar === 'never';
}

function readRejects(field: Field | undefined): boolean | number | undefined {
  const { source } = field ?? {};
  const isFlag = source?.kind === 'scalar' && typeof source.scalar === 'boolean';
  return isFlag ? field?.flag() : field?.whole(COUNTS);
}

/** One worker, or one for each datacenter. */
function readPins(
  field: Field | undefined,
  targets: readonly string[],
  places: Places,
  pins: Record<string, string>,
): void {
  if (field === undefined) return;
  const named = field.isMap ? field.entries() : [[undefined, field] as const];
  for (const [datacenter, entry] of named) {
    const worker = places.node(entry, 'worker');
    if (worker === undefined) continue;
    const home = places.of(worker) as string;
    if (datacenter !== undefined && datacenter !== home)
      entry.wrong(`must be a worker of ${datacenter}`);
    else if (!targets.includes(home))
      entry.wrong('must be a worker of a datacenter that the workflow goes to');
    else pins[home] = worker;
  }
}

function planned(id: string, draft: Draft, targets: readonly string[]): PlannedWorkflow {
  const { dependsOn, cores, onWorker, everywhere, byDatacenter } = draft;
  const places = targets.map((datacenter): readonly [string, WorkflowScript] => [
    datacenter,
    { ...everywhere, ...byDatacenter.get(datacenter) },
  ]);
  for (const [datacenter, script] of places) {
    if (script.runsMs !== undefined || script.stopsProgressAtMs !== undefined) continue;
    const where = byDatacenter.size > 0 ? ` in ${datacenter}` : '';
    draft.field.wrong(`must have "runs"${where}: nobody says how much work "${id}" is there`);
  }
  return {
    id,
    ...(dependsOn !== undefined && { dependsOn }),
    ...(cores !== undefined && { cores }),
    ...(Object.keys(onWorker).length > 0 && { onWorker }),
    // Each datacenter has a script of its own then, whole.
    ...(byDatacenter.size > 0 ? { in: Object.fromEntries(places) } : everywhere),
  };
}

/** Names that nobody has, and circles. */
function checkDependencies(drafts: ReadonlyMap<string, Draft>): void {
  const names = [...drafts.keys()];
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [id, { dependsOn = [], dependsOnField }] of drafts) {
    const parents = new Set(dependsOn.filter((parent) => drafts.has(parent)));
    if (dependsOn.some((parent) => !drafts.has(parent)))
      for (const item of dependsOnField?.items() ?? []) item.name(names, 'a workflow of the job');
    waiting.set(id, parents.size);
    for (const parent of parents) {
      const known = dependents.get(parent);
      if (known === undefined) dependents.set(parent, [id]);
      else known.push(id);
    }
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    for (const dependent of dependents.get(id) ?? []) {
      const left = (waiting.get(dependent) as number) - 1;
      waiting.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
  }
  const [stuck] = [...waiting].find(([, count]) => count > 0) ?? [];
  const field = stuck === undefined ? undefined : drafts.get(stuck)?.dependsOnField;
  field?.wrong('must not be part of a circle');
}
