/**
 * Judge of a run in the pretend world: the invariants of runs by their ids. What should be is worked out from what the
 * world has seen (processes, signals, crashes, the clock) and from the drawn rules; what the system says of itself is
 * what is judged.
 */

import { isDeepStrictEqual } from 'node:util';
import type { MapAgentContext } from '../../../machines/mapreduce/map-agent/context.ts';
import { type Drawn, MEDIAN_FROM, MEDIAN_LEAST_MS } from './pretend-rules.ts';

export interface Params {
  readonly runId: string;
  readonly agentId: string;
  readonly role: 'map' | 'setup' | 'reduce';
  readonly itemIndex: number;
  readonly attempt: number;
}

/** A process of the world: it goes on when the runner has crashed. */
export interface Process {
  readonly params: Params;
  readonly index: number;
  readonly startedAt: number;
  /** How long after SIGTERM it ends; Infinity: never. */
  readonly heedsMs: number;
  readonly argv: readonly string[];
  readonly value: string;
  endedAt: number | null;
  exitCode: number | null;
  isKilled: boolean;
  readonly signals: Array<{ readonly signal: string; readonly at: number }>;
}

export interface LogLine {
  readonly event: string;
  readonly at: number;
  readonly [field: string]: unknown;
}

export interface Judged {
  readonly processes: readonly Process[];
  /** Items that were written to the failed ones, each time. */
  readonly kept: readonly number[];
  readonly log: readonly LogLine[];
  readonly drawn: Drawn;
  /** Nothing crashed and nobody interrupted it. */
  readonly isCalm: boolean;
  /** What the run says of itself at its end. */
  readonly claims: {
    readonly state: unknown;
    readonly outcomes: ReadonlyMap<number, string>;
    readonly counts: Readonly<Record<string, number>>;
    readonly agentsStarted: number;
    readonly timeouts: number;
    agent(agentId: string): MapAgentContext | undefined;
  };
}

/** A process as a line that two plays are compared by. */
export const lineOf = ({ params, index, startedAt, endedAt, exitCode, signals }: Process): string =>
  JSON.stringify([params.agentId, index, startedAt, endedAt, exitCode, signals]);

type Must = (isSo: boolean, what: string) => void;

const SECOND = 1_000;
/** Times are told apart by three digits, and a share of them is rounded up; what is said takes a moment. */
const MEDIAN_ROUNDING = 0.05;

/** The breaches, each beginning with the id of its invariant. */
export function judge(world: Judged): readonly string[] {
  const found = new Set<string>();
  const must: Must = (isSo, what) => void (isSo || found.add(what));
  const maps = world.processes.filter(({ params }) => params.role === 'map');
  judgeEnds(world, maps, must);
  for (const process of maps) judgeLimits(world, process, must);
  for (const process of maps) judgeCrowd(world, maps, process, must);
  for (const agentId of new Set(maps.map(({ params }) => params.agentId)))
    judgeAgent(
      world,
      maps.filter(({ params }) => params.agentId === agentId),
      agentId,
      must,
    );
  judgeCounts(world, maps, must);
  judgeReduce(world, maps, must);
  for (const { argv, value } of world.processes)
    must(
      argv[0] !== '/bin/sh' || !argv.join(' ').includes(value),
      'MR-16 no value stands in the text of a shell',
    );
  return [...found];
}

function judgeEnds(world: Judged, maps: readonly Process[], must: Must): void {
  const { claims, drawn, log, kept, processes } = world;
  const { state, outcomes, counts } = claims;
  const { map } = drawn.workflow;
  must(state === 'completed' || state === 'failed', `MR-4 the run ends: ${JSON.stringify(state)}`);
  const sum = Object.values(counts).reduce((all, each) => all + each, 0);
  must(sum === drawn.itemCount, 'MR-4 every item has one end');
  must(
    processes.every(({ endedAt }) => endedAt !== null),
    'MR-10 no process is left',
  );
  for (const [index, outcome] of outcomes) {
    const own = maps.filter(({ params }) => params.itemIndex === index);
    must(
      kept.includes(index) === (outcome === 'dlq'),
      `MR-5 item ${index} is kept exactly when it is dlq`,
    );
    const last = Math.max(0, ...own.map(({ params }) => params.attempt));
    const ofLast = own.filter(({ params }) => params.attempt === last);
    const isDone =
      ofLast.length === map.template.length && ofLast.every(({ exitCode }) => exitCode === 0);
    must(outcome !== 'done' || isDone, `MR-7 item ${index} is done by its last attempt`);
  }
  for (const line of log) {
    if (line.event !== 'ItemFinal' || line.outcome !== 'done') continue;
    const again = maps.filter(
      ({ params, startedAt }) => params.itemIndex === line.item_index && startedAt > line.at,
    );
    must(
      again.length === 0,
      `MR-11 item ${String(line.item_index)} does not run again after it was done`,
    );
  }
}

function judgeLimits(world: Judged, process: Process, must: Must): void {
  const { drawn, isCalm, processes } = world;
  const own = processes.filter(({ params }) => params.agentId === process.params.agentId);
  const agentDue = (own[0]?.startedAt ?? 0) + agentLimitOf(world, process.params.agentId);
  const limitOf = (index: number) => drawn.stepLimits[index] ?? Number.POSITIVE_INFINITY;
  const commandDue = process.startedAt + limitOf(process.index);
  const due = Math.min(agentDue, commandDue);
  if (!isCalm) return;
  const [signal] = process.signals;
  const end = process.endedAt ?? Number.POSITIVE_INFINITY;
  // Where nothing fails the run, only a limit ends a command that runs.
  if (drawn.workflow.map.timeout.action !== 'fail' && signal !== undefined && signal.at < due) {
    const isOfEarlier = own.some(
      ({ index, startedAt }) =>
        index < process.index && Math.abs(startedAt + limitOf(index) - signal.at) <= 50,
    );
    must(
      false,
      isOfEarlier ? 'MR-3 the timer of a command ends with it' : 'MR-1 no signal is early',
    );
  }
  const isOfCommand = commandDue < agentDue;
  if (end > due + SECOND)
    must(
      signal !== undefined && signal.at <= due + SECOND,
      isOfCommand
        ? 'MR-2 the limit of a command is that which is stated for it'
        : 'MR-1 a limit that ran out is signalled within a second',
    );
  must(
    end <= due + drawn.graceMs + 2 * SECOND,
    'MR-9 what ignores SIGTERM is killed after the grace',
  );
}

/** The stated limit, or the share of the median that the attempt has got. */
function agentLimitOf({ claims, drawn }: Judged, agentId: string): number {
  if (drawn.percent === null) return drawn.agentLimit;
  return claims.agent(agentId)?.rules.agentLimitMs ?? drawn.agentLimit;
}

/** The limit of an attempt is the stated one, or the drawn share of the median of the successes before it. */
function judgeMedian(
  { drawn, claims, processes }: Judged,
  { agentId, startedAt, rules }: MapAgentContext,
  must: Must,
): void {
  if (drawn.percent === null || startedAt === null) return;
  const maps = processes.filter(({ params }) => params.role === 'map');
  const agents = [...new Set(maps.map(({ params }) => params.agentId))];
  const tookUntil = (at: number): readonly number[] =>
    agents
      .filter((other) => isSuccess(claims.agent(other), drawn, at))
      .map((other) => {
        const own = maps.filter(({ params }) => params.agentId === other);
        return (own.at(-1)?.endedAt ?? 0) - (own[0]?.startedAt ?? 0);
      })
      .sort((a, b) => a - b);
  const limits = [startedAt - 1, startedAt].map((at) => {
    const took = tookUntil(at);
    const median = took[Math.ceil(took.length / 2) - 1];
    if (median === undefined || took.length < MEDIAN_FROM) return drawn.agentLimit;
    return Math.max(MEDIAN_LEAST_MS, (median * (drawn.percent ?? 0)) / 100);
  });
  const own = rules.agentLimitMs ?? Number.POSITIVE_INFINITY;
  must(
    limits.some((limit) => own === limit || Math.abs(own - limit) <= MEDIAN_ROUNDING * limit),
    `MR-1 the limit of ${agentId} is ${own} and should be ${limits.join(' or ')}`,
  );
}

function isSuccess(said: MapAgentContext | undefined, { workflow }: Drawn, at: number): boolean {
  return (
    said !== undefined &&
    (said.endedAt ?? Number.POSITIVE_INFINITY) <= at &&
    said.timeout === null &&
    said.stopCause === null &&
    said.commands.length === workflow.map.template.length &&
    said.commands.every(({ exitCode }) => exitCode === 0)
  );
}

/** What an attempt says of itself, against what happened to its processes. */
function judgeAgent(world: Judged, own: readonly Process[], agentId: string, must: Must): void {
  const { claims, isCalm } = world;
  const said = claims.agent(agentId);
  if (said === undefined) return;
  judgeMedian(world, said, must);
  const limits = said.rules.steps.map(({ limitMs }) => limitMs ?? Number.POSITIVE_INFINITY);
  must(
    said.role !== 'map' || isDeepStrictEqual(limits, world.drawn.stepLimits),
    `MR-2 the commands of ${agentId} have ${limits} and should have ${world.drawn.stepLimits}`,
  );
  const indexes = said.commands.map(({ index }) => index);
  must(
    own.every(({ index }) => indexes.includes(index)),
    `MR-6 ${agentId} keeps each command that was begun`,
  );
  if (said.timeout === null) return;
  const last = own.at(-1);
  const wasKilled = last?.isKilled === true;
  if (said.resolution === 'GracefulTermination')
    must(!wasKilled, `MR-8 ${agentId} is called graceful, and was killed`);
  if (said.resolution === 'ForceTermination' && isCalm)
    must(
      wasKilled || last?.signals.some(({ signal }) => signal === 'SIGKILL') === true,
      `MR-8 ${agentId} is called forced, and was not killed`,
    );
}

function judgeCounts(
  { isCalm, claims, log, drawn }: Judged,
  maps: readonly Process[],
  must: Must,
): void {
  if (!isCalm) return;
  const begun = new Set(maps.map(({ params }) => params.agentId)).size;
  const of = (event: string) =>
    log.filter((line) => line.event === event && line.role === 'map').length;
  must(claims.agentsStarted === begun, 'MR-13 agents started are those that had a process');
  must(of('AgentStarted') === begun, 'MR-13 each agent that started is told of');
  must(
    of('AgentCompleted') + of('TimeoutOccurred') === begun,
    'MR-13 agents started are those that completed, failed or timed out',
  );
  if (drawn.workflow.map.timeout.action === 'fail') return;
  const stopped = new Set(
    maps.filter(({ signals }) => signals.length > 0).map(({ params }) => params.agentId),
  );
  must(claims.timeouts >= stopped.size, 'MR-13 what was stopped is counted as a timeout');
}

function judgeReduce(
  { claims, drawn, processes }: Judged,
  maps: readonly Process[],
  must: Must,
): void {
  const reduces = processes.filter(({ params }) => params.role === 'reduce');
  const lastMap = Math.max(0, ...maps.map(({ endedAt }) => endedAt ?? 0));
  must(
    reduces.every(({ startedAt }) => startedAt >= lastMap),
    'MR-15 reduce follows all items',
  );
  if (claims.state === 'completed')
    must((drawn.workflow.reduce !== null) === reduces.length > 0, 'MR-15 reduce runs');
}

/** As many attempts at a time as the rules say; those of a runner that crashed are being ended. */
function judgeCrowd(
  { isCalm, drawn }: Judged,
  maps: readonly Process[],
  { startedAt }: Process,
  must: Must,
): void {
  if (!isCalm) return;
  const atWork = maps.filter(
    (each) => each.startedAt <= startedAt && (each.endedAt ?? 0) > startedAt,
  );
  const agents = new Set(atWork.map(({ params }) => params.agentId)).size;
  must(agents <= drawn.workflow.map.maxParallel, 'MR-4 no more at a time than allowed');
}
