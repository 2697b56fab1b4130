/**
 * Faults found by generated tests: mutants of the corpus, killed within a budget of steps, by us and by others.
 *
 * Everything but the time is the same in every run. A mutant that neither our tests nor the search tell from its
 * machine counts as equal to it and for nobody.
 */

import { createHash } from 'node:crypto';
import type { Oracle } from '../testing/model/observation.ts';
import type { TestCase } from '../testing/model/step.ts';
import { Suite as ModelSuite } from '../testing/model/suite.ts';
import type { Mutant } from '../testing/mutants/mutant.ts';
import { mutantsOf, TIMING_OPERATORS } from '../testing/mutants/operators.ts';
import { expectedOf, killedAfter } from '../testing/mutants/score.ts';
import { killingTest } from '../testing/mutants/search.ts';
import { CONTENDERS } from './model-contenders.ts';
import { CORPUS } from './model-corpus/corpus.ts';
import { rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions, Suite } from './suite.ts';

const BUDGETS = [300, 3_000, 30_000] as const;
const QUICK_BUDGETS = [300, 1_000] as const;

interface Killed {
  readonly machine: string;
  readonly mutant: Mutant;
  /** The step that killed it, by contender; left out where it lives. */
  readonly after: Record<string, number | undefined>;
}

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

async function measure({ isQuick, rounds, progress }: MeasureOptions): Promise<Measured> {
  const budgets = isQuick ? QUICK_BUDGETS : BUDGETS;
  const most = budgets.at(-1) as number;
  const full: Killed[] = [];
  const tags: Killed[] = [];
  const hash = createHash('sha256');
  let slowestMs = 0;
  let equal = 0;
  for (const [machine, entry] of Object.entries(CORPUS)) {
    const startedAt = performance.now();
    const suite = new ModelSuite(entry.machine, { samples: entry.samples ?? {} });
    const ownCases = cut(CONTENDERS.ours?.(entry, suite.samples) ?? [], most);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    const mutants = mutantsOf(entry.machine);
    for (const { id } of mutants) hash.update(`${machine} ${id}\n`);
    const kills = (cases: readonly TestCase[], oracle: Oracle) => {
      const expected = expectedOf(entry.machine, suite.samples, cases, oracle);
      return (mutant: Mutant) => killedAfter(mutant, suite.samples, expected, oracle);
    };
    const ours = kills(ownCases, 'full');
    const oursByTags = kills(ownCases, 'tags');
    const others = Object.entries(CONTENDERS)
      .filter(([name]) => name !== 'ours')
      .map(([name, make]) => [name, kills(cut(make(entry, suite.samples), most), 'full')] as const);
    for (const mutant of mutants) {
      const after = ours(mutant);
      if (after === undefined && killingTest(entry.machine, mutant, suite.samples) === undefined) {
        equal += 1;
        continue;
      }
      const all = Object.fromEntries(others.map(([name, kill]) => [name, kill(mutant)]));
      full.push({ machine, mutant, after: { ours: after, ...all } });
      const byTags = oursByTags(mutant);
      const isSeen =
        byTags !== undefined ||
        killingTest(entry.machine, mutant, suite.samples, { oracle: 'tags' }) !== undefined;
      if (isSeen) tags.push({ machine, mutant, after: { ours: byTags } });
    }
    progress(`  ${machine}: ${mutants.length} mutants`);
  }
  const timing = full.filter(({ mutant }) => TIMING_OPERATORS.includes(mutant.operator));
  const value = share(full, 'ours', most);
  const shortest = Math.max(
    share(full, 'shortestByState', 300),
    share(full, 'shortestByValue', 300),
  );
  const figure = (measured: number) => ({
    value: rounded(measured),
    range: [measured, measured] as const,
    rounds,
  });
  return {
    ...figure(value),
    others: {
      killedTiming: figure(share(timing, 'ours', most)),
      killedTagsOnly30k: figure(share(tags, 'ours', most)),
      vsShortestPaths300: figure(share(full, 'ours', 300) / shortest),
      slowestMachineMs: figure(slowestMs),
    },
    details: {
      mutants: full.length + equal,
      killable: full.length,
      equal,
      frozen: hash.digest('hex').slice(0, 16),
      ...Object.fromEntries(
        Object.keys(CONTENDERS).map((name) => [
          name,
          Object.fromEntries(budgets.map((budget) => [budget, rounded(share(full, name, budget))])),
        ]),
      ),
      operators: byKey(full, ({ mutant }) => mutant.operator, most),
      machines: byKey(full, ({ machine }) => machine, most),
      missed: full
        .filter(({ after }) => after.ours === undefined)
        .map(({ machine, mutant }) => `${machine} ${mutant.id}`)
        .slice(0, 40),
    },
    raw: { killedFull: [value] },
  };
}

/** Cases of `stepsMax` steps together; the last one may be cut. */
function cut(cases: Iterable<TestCase>, stepsMax: number): TestCase[] {
  const taken: TestCase[] = [];
  let left = stepsMax;
  for (const one of cases) {
    if (left <= 0) break;
    const steps = one.steps.slice(0, left);
    left -= steps.length;
    taken.push({ ...one, steps });
  }
  return taken;
}

function share(killed: readonly Killed[], contender: string, budget: number): number {
  if (killed.length === 0) return 1;
  const within = killed.filter(
    ({ after }) => (after[contender] ?? Number.POSITIVE_INFINITY) <= budget,
  );
  return within.length / killed.length;
}

/** Our share by a key of each mutant. */
function byKey(
  killed: readonly Killed[],
  keyOf: (one: Killed) => string,
  budget: number,
): Record<string, number> {
  const groups = new Map<string, Killed[]>();
  for (const one of killed) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return Object.fromEntries(
    [...groups].map(([key, all]) => [key, rounded(share(all, 'ours', budget))]),
  );
}
