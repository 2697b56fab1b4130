/**
 * Judge of a run in the pretend world: the invariants of runs by their ids, over what the world has written down.
 */

import { agentIdOf } from '../../../machines/mapreduce/addresses.ts';
import type { RunContext } from '../../../machines/mapreduce/run/context.ts';
import type { RunRules } from '../../../machines/mapreduce/run.ts';

export interface Params {
  readonly runId: string;
  readonly agentId: string;
  readonly role: 'map' | 'setup' | 'reduce';
  readonly itemIndex: number;
}

/** A process of the world: it goes on when the runner has crashed. */
export interface Process {
  readonly params: Params;
  readonly index: number;
  readonly startedAt: number;
  /** How long after SIGTERM it ends; Infinity: never. */
  readonly heedsMs: number;
  endedAt: number | null;
  exitCode: number | null;
  readonly signals: Array<{ readonly signal: string; readonly at: number }>;
}

interface Judged {
  readonly processes: readonly Process[];
  /** Items that were written to the failed ones. */
  readonly kept: readonly number[];
  readonly rules: RunRules;
  /** Nothing crashed and nobody interrupted it. */
  readonly isCalm: boolean;
  readonly context: RunContext;
  readonly state: unknown;
  timeoutOf(agentId: string):
    | {
        readonly decidedAt: number;
        readonly dueAt: number;
        readonly resolution: string | null;
        readonly endedAt: number | null;
      }
    | undefined;
}

type Must = (isSo: boolean, what: string) => void;

const SECOND = 1_000;

/** The spec's invariants, by their ids. */
export function judge(world: Judged): readonly string[] {
  const { context, state, rules, kept } = world;
  const found: string[] = [];
  const must = (isSo: boolean, what: string): void => void (isSo || found.push(what));
  const { counts, items } = context;
  must(state === 'completed' || state === 'failed', `MR-4 the run ends: ${JSON.stringify(state)}`);
  must(
    counts.done + counts.dlq + counts.skipped + counts.failed === rules.itemCount,
    'MR-4 every item has one end',
  );
  must(
    world.processes.every(({ endedAt }) => endedAt !== null),
    'MR-10 no process is left',
  );
  const maps = world.processes.filter(({ params }) => params.role === 'map');
  for (const process of maps) judgeLimits(world, process, must);
  for (let at = 0; at < maps.length; at++) judgeCrowd(world, maps, at, must);
  for (const [key, row] of items) {
    const index = Number(key);
    const own = maps.filter(({ params }) => params.itemIndex === index);
    const isKept = kept.includes(index);
    must(isKept === (row.state === 'dlq'), `MR-5 item ${index} is kept exactly when it is dlq`);
    const agentId = agentIdOf('map', index, row.attempts);
    const last = own.filter(({ params }) => params.agentId === agentId);
    if (row.state === 'done')
      must(
        last.length === rules.map.steps.length && last.every(({ exitCode }) => exitCode === 0),
        `MR-7 item ${index} is done by its last attempt`,
      );
    must(row.counted <= rules.retry.maxAttempts, `MR-4 item ${index} has as many tries as it may`);
  }
  const reduces = world.processes.filter(({ params }) => params.role === 'reduce');
  const lastMap = Math.max(0, ...maps.map(({ endedAt }) => endedAt ?? 0));
  must(
    reduces.every(({ startedAt }) => startedAt >= lastMap),
    'MR-15 reduce follows all items',
  );
  must(
    (rules.reduce !== null && state === 'completed') === reduces.length > 0 ||
      state !== 'completed',
    'MR-15 reduce runs',
  );
  return [...new Set(found)];
}

function judgeLimits(world: Judged, process: Process, must: Must): void {
  const { agentLimitMs, steps, termination } = world.rules.map;
  const first = world.processes.find(({ params }) => params.agentId === process.params.agentId);
  const agentDue = (first?.startedAt ?? 0) + (agentLimitMs ?? Number.POSITIVE_INFINITY);
  const stepLimit = steps[process.index]?.limitMs ?? Number.POSITIVE_INFINITY;
  const due = Math.min(agentDue, process.startedAt + stepLimit);
  const end = process.endedAt ?? Number.POSITIVE_INFINITY;
  const isOfOneRunner = world.isCalm;
  // Where nothing fails the run, only a limit ends a command that runs.
  const isUndisturbed = world.isCalm && world.rules.timeoutAction !== 'fail';
  const [signal] = process.signals;
  if (isUndisturbed) must(signal === undefined || signal.at >= due, 'MR-1 no signal is early');
  const ranOver = isOfOneRunner && end > due + SECOND;
  if (ranOver)
    must(
      signal !== undefined && signal.at <= due + SECOND,
      'MR-1 a limit that ran out is signalled within a second',
    );
  const graceMs = termination[0]?.waitMs ?? 0;
  if (isOfOneRunner)
    must(end <= due + graceMs + 2 * SECOND, 'MR-9 what ignores SIGTERM is killed after the grace');
  const row = world.timeoutOf(process.params.agentId);
  if (row === undefined) return;
  must(row.decidedAt >= row.dueAt, 'MR-1 no timeout is early');
  const wasKilled = world.processes.some(
    ({ params, signals }) =>
      params.agentId === process.params.agentId &&
      signals.some((each) => each.signal === 'SIGKILL' && each.at <= (row.endedAt ?? 0)),
  );
  if (row.resolution === 'GracefulTermination')
    must(!wasKilled || termination.length > 0, 'MR-8 a graceful end needed no SIGKILL');
}

/** As many attempts at a time as the rules say; those of a runner that crashed are being ended. */
function judgeCrowd(world: Judged, maps: readonly Process[], at: number, must: Must): void {
  if (!world.isCalm) return;
  const { startedAt } = maps[at] as Process;
  const atWork = maps.filter(
    (each) => each.startedAt <= startedAt && (each.endedAt ?? 0) > startedAt,
  );
  must(
    new Set(atWork.map(({ params }) => params.agentId)).size <= world.rules.maxParallel,
    'MR-4 no more at a time than allowed',
  );
}
