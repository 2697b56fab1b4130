/** Explanations against causes that are known, and exits against XState itself. */

import { describe, expect, test } from 'vitest';
import { knownCases } from '../../../bench/inspector-cases.ts';
import { exitFigures } from '../../../bench/inspector-exits.ts';
import { verdicts } from '../../../bench/inspector-verdicts.ts';
import { explainRun } from '../../../inspector/recording/explain-run.ts';
import { recordsOf } from '../../../inspector/recording/simulated.ts';
import {
  gateJobMachine,
  jobMachine,
  workerHealthMachine,
  workflowMachine,
} from '../../../machines/index.ts';
import { play } from '../../../simulator/index.ts';
import { orderMachine } from './inspected.ts';

describe('why', () => {
  test('tells the cause of a timeout that was made to happen, for every sort of cause', async () => {
    const found = await verdicts(11);
    expect(found.filter(({ known, found: cause }) => known !== cause)).toEqual([]);
    expect(new Set(found.map(({ known }) => known)).size).toBe(4);
  });

  test('does the sums of a deadline that a person has put off', async () => {
    const known = knownCases(3)[2];
    if (known === undefined) throw new Error('there is no such case');
    const run = await play(known.plan, { invariants: [] });
    const answer = await explainRun('a run', recordsOf(run), known.address);
    const budget = answer?.why.budget ?? [];
    expect(budget.map(({ sort }) => sort)).toEqual(['base', 'raised']);
    expect(budget.reduce((sum, { ms }) => sum + ms, 0)).toBe(answer?.why.budgetMs);
    expect(answer?.why.usedMs).toBeGreaterThanOrEqual(
      answer?.why.budgetMs ?? Number.POSITIVE_INFINITY,
    );
    expect(answer?.why.chain.at(-1)?.address).toBe(known.address);
    expect(answer?.why.advice.length).toBeGreaterThan(0);
  });

  test('names everything that can end a state, as XState has it', () => {
    const figures = exitFigures({
      gateJobMachine,
      jobMachine,
      workerHealthMachine,
      workflowMachine,
      orderMachine,
    } as never);
    expect(figures.missed).toEqual([]);
    expect(figures.leaving).toBeGreaterThan(200);
  });
});
