/**
 * Overview of one node: its kinds by state, its rates, its place and links, and what needs somebody.
 */

import type { Attention, KindLine, Overview } from '../protocol.ts';
import { type IndexScan, type KindCounts, STUCK_MS } from './index-scan.ts';
import type { LiveContext } from './live-context.ts';
import type { Rates } from './rates.ts';

/** States of a kind that are shown by themselves. */
const STATES_SHOWN = 40;
const SOONEST = 10;
/** Time for which a failed turn needs somebody. */
const FAILED_MS = 300_000;

export type LocalOverview = Omit<Overview, 'at' | 'missing'>;

export function overviewHere(
  context: LiveContext,
  {
    scan,
    rates,
    windowMs,
  }: { readonly scan: IndexScan; readonly rates: Rates; readonly windowMs: number },
): LocalOverview {
  const { runtime, watch, node, role } = context;
  const { result } = scan;
  // A node that stands by has no store: what is there is told by the host of its place.
  const undelivered = runtime.isHosting ? watch.undeliveredCount() : 0;
  const failed = rates.series(FAILED_MS).failed.values.reduce((sum, value) => sum + value, 0);
  const waiting = runtime.waiting();
  const peers = watch.peers();
  return {
    windowMs,
    kinds: watch.kinds().map(({ name, version }) => {
      const hash = context.definition(name)?.chart.hash;
      return kindLine(name, version, hash, result?.kinds.get(name));
    }),
    rates: rates.series(windowMs),
    nodes: [
      {
        node,
        place: runtime.place,
        ...(role !== undefined && { role }),
        isHosting: runtime.isHosting,
        fence: runtime.fence,
        health: 'up',
        latenessMs: runtime.latenessMs,
        actorsInMemory: runtime.counts().live,
      },
    ],
    links: peers.map((peer) => ({ from: node, to: peer, isUp: true })),
    backlog: waiting.map(({ place, messages }) => ({ place, count: messages, isSilent: true })),
    attention: attentionOf(context, result?.kinds ?? new Map(), { undelivered, failed }),
    soonest: soonestOf(context),
    undelivered,
  };
}

function kindLine(
  kind: string,
  version: number,
  hash: string | undefined,
  counts: KindCounts | undefined,
): KindLine {
  const states = [...(counts?.states ?? [])]
    .map(([state, count]) => ({ state, count }))
    .sort((one, other) => other.count - one.count);
  const shown = states.slice(0, STATES_SHOWN);
  const total = (counts?.active ?? 0) + (counts?.ended ?? 0);
  return {
    kind,
    version,
    ...(hash !== undefined && { definition: hash }),
    states: shown,
    more: total - shown.reduce((sum, { count }) => sum + count, 0),
    active: counts?.active ?? 0,
    ended: counts?.ended ?? 0,
  };
}

function attentionOf(
  context: LiveContext,
  kinds: ReadonlyMap<string, KindCounts>,
  { undelivered, failed }: { readonly undelivered: number; readonly failed: number },
): Attention[] {
  const { runtime } = context;
  const questions = context.runsTold().runs.flatMap((run) => run.questions).length;
  let overdue = 0;
  let stopped = 0;
  let stuck = 0;
  for (const counts of kinds.values()) {
    overdue += counts.overdue;
    stopped += counts.stopped;
    stuck += counts.stuck;
  }
  const silent = runtime.waiting().length;
  const { recordsDamaged } = runtime.metrics();
  const all: ReadonlyArray<readonly [Attention['sort'], number, string, string]> = [
    ['question', questions, '', questions === 1 ? 'question to you' : 'questions to you'],
    ['overdue', overdue, 'sort=deadline&dueWithin=0s', 'a deadline has passed and was not taken'],
    [
      'stuck',
      stuck,
      `status=active&pending=1&stuckFor=${STUCK_MS.value}ms`,
      `have something under way and took no turn for ${STUCK_MS.value / 1_000} s`,
    ],
    ['failed', failed, '', 'failed: turns of the last 5 minutes'],
    ['stopped', stopped, 'status=stopped', 'stopped after a failure'],
    ['undelivered', undelivered, '', 'undelivered: nobody could take it'],
    ['silentPlace', silent, '', 'places that do not answer'],
    ['damaged', recordsDamaged, '', 'records that cannot be trusted'],
  ];
  return all
    .filter(([, count]) => count > 0)
    .map(([sort, count, list, text]) => ({ sort, count, isAtLeast: false, list, text }));
}

function soonestOf({ runtime }: LiveContext): Overview['soonest'] {
  if (!runtime.isHosting) return [];
  return runtime
    .query({ sort: 'deadline', limit: SOONEST })
    .actors.flatMap(({ address, state, dueAt }) =>
      dueAt === null ? [] : [{ address, state, dueAt }],
    );
}

/** One overview of those of several nodes. */
export function mergeOverviews(all: readonly LocalOverview[]): LocalOverview {
  const [first] = all as [LocalOverview];
  if (all.length === 1) return first;
  const rates = Object.fromEntries(
    Object.keys(first.rates).map((name) => {
      const series = all.map((one) => one.rates[name as keyof Overview['rates']]);
      return [name, sumOf(series)];
    }),
  ) as unknown as Overview['rates'];
  const attention = new Map<string, Attention>();
  for (const one of all.flatMap((each) => each.attention)) {
    const known = attention.get(one.sort);
    attention.set(one.sort, known === undefined ? one : { ...one, count: known.count + one.count });
  }
  return {
    windowMs: first.windowMs,
    kinds: mergeKinds(all.flatMap((each) => each.kinds)),
    rates,
    nodes: all.flatMap((each) => each.nodes),
    links: all.flatMap((each) => each.links),
    backlog: all.flatMap((each) => each.backlog),
    attention: [...attention.values()],
    soonest: all
      .flatMap((each) => each.soonest)
      .sort((one, other) => one.dueAt - other.dueAt)
      .slice(0, SOONEST),
    undelivered: all.reduce((sum, each) => sum + each.undelivered, 0),
  };
}

export function sumOf(all: ReadonlyArray<{ stepMs: number; values: readonly number[] }>) {
  const stepMs = Math.max(...all.map((one) => one.stepMs));
  const alike = all.filter((one) => one.stepMs === stepMs);
  const length = Math.max(0, ...alike.map(({ values }) => values.length));
  const values = Array.from({ length }, (_, index) =>
    alike.reduce((sum, one) => sum + (one.values[one.values.length - length + index] ?? 0), 0),
  );
  return { stepMs, values };
}

function mergeKinds(lines: readonly KindLine[]): KindLine[] {
  const merged = new Map<string, KindLine>();
  for (const line of lines) {
    const known = merged.get(line.kind);
    if (known === undefined) {
      merged.set(line.kind, line);
      continue;
    }
    const states = new Map(known.states.map(({ state, count }) => [state, count]));
    for (const { state, count } of line.states) states.set(state, (states.get(state) ?? 0) + count);
    merged.set(line.kind, {
      ...known,
      states: [...states]
        .map(([state, count]) => ({ state, count }))
        .sort((one, other) => other.count - one.count),
      more: known.more + line.more,
      active: known.active + line.active,
      ended: known.ended + line.ended,
    });
  }
  return [...merged.values()];
}
