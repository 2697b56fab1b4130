/**
 * Faults found by generated tests: mutants of the corpus, killed within a budget of steps, by us and by others.
 *
 * Everything but the time is the same in every run. A mutant counts as equal to its machine only when no
 * contender and no search of the bound tells them apart: who kills what the others call equal is credited.
 */

import { createHash } from 'node:crypto';
import { ORACLES, type Oracle } from '../testing/model/observation.ts';
import { type Samples, samplesFor } from '../testing/model/samples.ts';
import type { Mutant } from '../testing/mutants/mutant.ts';
import { mutantsOf, TIMING_OPERATORS } from '../testing/mutants/operators.ts';
import { killingTest } from '../testing/mutants/search.ts';
import { mayShow, searchedStates, siteOf } from '../testing/mutants/site.ts';
import { CONTENDERS } from './model-contenders.ts';
import { CORPUS } from './model-corpus/corpus.ts';
import type { CorpusEntry } from './model-corpus/entry.ts';
import { cut, type GoesOn, Played } from './model-kills.ts';
import { byKey, type Judged, killable, share, stepsTo, tableOf } from './model-table.ts';
import { rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions, Suite } from './suite.ts';

/** Steps that the search for a killing test tries. */
const SEARCHED_MAX = 4_000;

const killedFull: Field = {
  name: 'killedFull30k',
  about: 'share of killable mutants that our tests kill within 30,000 steps, by state and context',
  better: 'higher',
  goal: 0.99,
  others: [
    {
      name: 'killedTiming',
      about: 'the same, of delays a millisecond off or doubled',
      better: 'higher',
      goal: 1,
    },
    {
      name: 'killedTagsOnly30k',
      about: 'the same, where only tags are seen',
      better: 'higher',
      goal: 0.9,
    },
    {
      name: 'vsShortestPaths300',
      about: 'ours ÷ shortest paths of xstate/graph, within 300 steps',
      better: 'higher',
      goal: 1.5,
    },
    {
      name: 'slowestMachineMs',
      about: 'ms to make all tests of the slowest machine',
      better: 'lower',
      goal: 10_000,
    },
  ],
  measure,
};

export const modelTests: Suite = {
  name: 'model-tests',
  about: 'which faults tests made from machines find',
  fields: [killedFull],
};

interface Plan {
  /** Steps: the tables have a column for each. */
  readonly budgets: readonly [number, number, number];
  readonly mutantsMax: number;
  readonly contenders: readonly string[];
}

const WHOLE = { budgets: [300, 3_000, 30_000], mutantsMax: 40 } as const;
const QUICK = { budgets: [100, 300, 1_000], mutantsMax: 10 } as const;

interface Made {
  readonly played: Played;
  readonly ms: number;
}

/** One machine of the corpus: its mutants with everybody's kills, and what making the tests took. */
interface JudgedMachine {
  readonly machine: string;
  readonly judged: readonly Judged[];
  /** All its mutants; more than those that were judged where there are many. */
  readonly mutants: number;
  readonly makingMs: Readonly<Record<string, number>>;
}

function measure({ isQuick, rounds, parts, progress }: MeasureOptions): Promise<Measured> {
  const contenders = chosen(CONTENDERS, 'contender', ['ours', ...(parts.contender ?? [])]);
  const plan: Plan = {
    ...(isQuick ? QUICK : WHOLE),
    contenders: parts.contender === undefined ? Object.keys(CONTENDERS) : contenders,
  };
  const names = chosen(CORPUS, 'machine', parts.machine ?? Object.keys(CORPUS));
  const machines = names.map((name, index) => {
    const { user } = process.cpuUsage();
    const one = judgeMachine(name, CORPUS[name] as CorpusEntry, plan);
    const seconds = Math.round((process.cpuUsage().user - user) / 1_000_000);
    const which = `${index + 1} of ${names.length}, ${name}`;
    progress(`  ${which}: ${one.judged.length} of ${one.mutants} mutants, ${seconds} s of CPU`);
    return one;
  });
  return Promise.resolve(measuredOf(machines, plan, rounds));
}

/** @throws for a name that there is not */
function chosen(
  all: Readonly<Record<string, unknown>>,
  what: string,
  names: readonly string[],
): readonly string[] {
  const unknown = names.find((name) => all[name] === undefined);
  if (unknown === undefined) return [...new Set(names)];
  const has = Object.keys(all).join(', ');
  throw new Error(`There is no ${what} "${unknown}". There are: ${has}.`);
}

function judgeMachine(name: string, entry: CorpusEntry, plan: Plan): JudgedMachine {
  const samples = samplesFor(entry.machine, entry.samples ?? {});
  const made = Object.fromEntries(
    plan.contenders.map((one) => [one, makeAndPlay(one, entry, samples, plan.budgets[2])]),
  );
  const all = mutantsOf(entry.machine);
  const searched = searchedStates(entry.machine, samples, { stepsMax: SEARCHED_MAX });
  const judged = spread(all, plan.mutantsMax).map((mutant) =>
    judge(name, entry, { samples, searched }, mutant, made, plan),
  );
  const makingMs = Object.entries(made).map(([one, { ms }]) => [one, Math.round(ms)] as const);
  return { machine: name, judged, mutants: all.length, makingMs: Object.fromEntries(makingMs) };
}

function measuredOf(
  machines: readonly JudgedMachine[],
  { budgets, contenders }: Plan,
  rounds: number,
): Measured {
  const judged = machines.flatMap((one) => one.judged);
  const [few, , most] = budgets;
  const figure = (measured: number) => ({
    value: rounded(measured),
    range: [measured, measured] as const,
    rounds,
  });
  const timing = judged.filter(({ operator }) => TIMING_OPERATORS.includes(operator));
  const better = (...names: readonly string[]): number =>
    Math.max(...names.map((name) => share(judged, name, few)));
  const shortest = better('shortestByState', 'shortestByValue');
  const timed = better('timedShortestByState', 'timedShortestByValue');
  const slowest = Math.max(...machines.map(({ makingMs }) => makingMs.ours ?? 0));
  const value = share(judged, 'ours', most);
  return {
    ...figure(value),
    others: {
      killedTiming: figure(share(timing, 'ours', most)),
      killedTagsOnly30k: figure(share(judged, 'ours', most, 'tags')),
      vsShortestPaths300: figure(share(judged, 'ours', few) / shortest),
      slowestMachineMs: figure(slowest),
    },
    details: {
      ...detailsOf(machines, judged, { budgets, contenders }),
      vsTimedShortestPaths300: rounded(share(judged, 'ours', few) / timed),
    },
    raw: { killedFull: [value] },
  };
}

function detailsOf(
  machines: readonly JudgedMachine[],
  judged: readonly Judged[],
  { budgets, contenders: names }: Pick<Plan, 'budgets' | 'contenders'>,
): Measured['details'] {
  const most = budgets[2];
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const list = judged.map(({ machine, id }) => `${machine} ${id}\n`).join('');
  return {
    machines: machines.length,
    mutantsOfAll: sum(machines.map(({ mutants }) => mutants)),
    mutants: judged.length,
    killable: Object.fromEntries(
      ORACLES.map((oracle) => [oracle, killable(judged, oracle).length]),
    ),
    equalWithinSteps: SEARCHED_MAX,
    frozen: createHash('sha256').update(list).digest('hex').slice(0, 16),
    stepsTo: Object.fromEntries(names.map((name) => [name, stepsOf(judged, name)])),
    makingMs: Object.fromEntries(
      names.map((name) => [name, sum(machines.map(({ makingMs }) => makingMs[name] ?? 0))]),
    ),
    killedByOthersOnly: others(judged),
    byMachine: byKey(judged, ({ machine }) => machine, most),
    missed: missed(judged),
    table: tableOf(judged, names, budgets),
  };
}

const stepsOf = (judged: readonly Judged[], name: string): Record<string, number | null> =>
  Object.fromEntries(
    [0.5, 0.9, 0.99].map((wanted) => [`${wanted * 100} %`, stepsTo(judged, name, wanted)]),
  );

/** Cases of a contender up to the largest budget, and what is seen of the machine on them. */
function makeAndPlay(name: string, entry: CorpusEntry, samples: Samples, budget: number): Made {
  const startedAt = performance.now();
  const cases = cut(CONTENDERS[name]?.(entry, samples) ?? [], budget);
  const ms = performance.now() - startedAt;
  return { played: new Played(entry, samples, cases), ms };
}

/**
 * Everybody's kills of one mutant: by state and context to the largest budget, by coarser oracles to the second
 * one. Only we are played to the end by value and tags, and only those kills count for the goal of tags.
 */
function judge(
  machine: string,
  { machine: original }: CorpusEntry,
  { samples, searched }: { readonly samples: Samples; readonly searched: ReadonlySet<string> },
  mutant: Mutant,
  made: Readonly<Record<string, Made>>,
  { budgets: [, middle] }: Plan,
): Judged {
  const hasTags = [...tagsIn(original.root)].length > 0;
  const looked: readonly Oracle[] = hasTags ? ['full', 'value', 'tags'] : ['full', 'value'];
  const goesOnFor =
    (oracles: readonly Oracle[]): GoesOn =>
    (steps, kills) =>
      (steps < middle ? looked : oracles).some((oracle) => kills[oracle] === undefined);
  const site = siteOf(original, mutant);
  const by = Object.fromEntries(
    Object.entries(made).map(([name, { played }]) => [
      name,
      played.killsOf(mutant, site, goesOnFor(name === 'ours' ? looked : ['full'])),
    ]),
  );
  const isFound = (oracle: Oracle): boolean =>
    Object.values(by).some((kills) => kills[oracle] !== undefined) ||
    (looked.includes(oracle) && mayShow(site, searched) && isToldApart(oracle));
  const isToldApart = (oracle: Oracle): boolean =>
    killingTest(original, mutant, samples, { oracle, stepsMax: SEARCHED_MAX }) !== undefined;
  // What is equal in full is equal to every oracle.
  const killableBy = isFound('full') ? ORACLES.filter(isFound) : [];
  const { id, operator } = mutant;
  return { machine, operator, id, by, killableBy };
}

interface Node {
  readonly tags: readonly string[];
  readonly states: Readonly<Record<string, Node>>;
}

function* tagsIn({ tags, states }: Node): Generator<string> {
  yield* tags;
  for (const child of Object.values(states)) yield* tagsIn(child);
}

/** At most `max` of them, evenly spread: the list is in order of operators. */
function spread<T>(all: readonly T[], max: number): T[] {
  if (all.length <= max) return [...all];
  return Array.from({ length: max }, (_, at) => all[Math.floor((at * all.length) / max)] as T);
}

/** Mutants that somebody kills and we do not, by who does. */
function others(judged: readonly Judged[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { by } of judged) {
    if (by.ours?.full !== undefined) continue;
    for (const [name, { full }] of Object.entries(by))
      if (full !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const missed = (judged: readonly Judged[]): string[] =>
  killable(judged, 'full')
    .filter(({ by }) => by.ours?.full === undefined)
    .map(({ machine, id }) => `${machine} ${id}`);
