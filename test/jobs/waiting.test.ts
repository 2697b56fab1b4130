/** Searches for waiting workflows in the index, which may be ahead of what is shown by a commit. */

import { expect, test } from 'vitest';
import type { WaitingFound } from '../../machines/jobs/messages/local.ts';
import { laneName } from '../../machines/jobs/ranks.ts';
import { initialWorkflow, rankOfWorkflow } from '../../machines/jobs/workflow/context.ts';
import { workflowRules } from '../../programs/jobs/configuration.ts';
import { poolOptions, type Searcher } from '../../programs/jobs/manager/waiting.ts';
import { JOBS_FACTS } from '../simulator/invariants/tale.ts';

const LANE = laneName('h', 1, false);

/** A workflow in its n-th run: as the index has it, and as it is shown. */
function workflow(index: number, isShown = true) {
  const input = {
    ...{ jobId: 'j1', workflowId: `w${index}`, datacenter: 'A', index, handler: 'h', payload: '' },
    ...{ cores: 1, acceptedAt: 1_000, at: 1_000, rules: workflowRules(JOBS_FACTS.config) },
  };
  const context = { ...initialWorkflow(input), run: 2 };
  const waiting = { value: { PENDING: 'queued' }, context };
  const paused = { value: { FAILED_READY_FOR_RETRY: 'pausing' }, context: { ...context, run: 1 } };
  return {
    address: `workflow/j1/w${index}@A`,
    rank: rankOfWorkflow(waiting),
    shown: isShown ? waiting : paused,
  };
}

async function find(...workflows: ReadonlyArray<ReturnType<typeof workflow>>) {
  const answers: WaitingFound[] = [];
  const runtime = {
    query: () => ({ actors: workflows }),
    actor: (address: string) => ({
      getSnapshot: () => workflows.find((one) => one.address === address)?.shown,
    }),
  };
  const node = { runtime, datacenter: 'A' } as unknown as Searcher;
  const { findWaiting } = poolOptions(
    () => node,
    () => {},
  ).perform;
  const search = { what: 'next', lane: LANE, after: '', max: 10, number: 1 } as const;
  await findWaiting({
    params: { ...search, isOutrun: false, withdrawn: [] },
    send: async (answer) => void answers.push(answer as WaitingFound),
  });
  return answers[0];
}

test('all who wait are found, each with the attempt that waits', async () => {
  const last = workflow(2);
  const { found, isAll, upTo } = (await find(workflow(1), last)) ?? {};
  expect(found?.map(({ attemptId }) => attemptId)).toEqual(['w1#2', 'w2#2']);
  expect({ isAll, upTo }).toEqual({ isAll: true, upTo: last.rank?.order });
});

test('a search ends in front of one that is not shown as waiting yet, so that the next one finds it', async () => {
  const first = workflow(1);
  const { found, isAll, upTo } = (await find(first, workflow(2, false), workflow(3))) ?? {};
  expect(found?.map(({ attemptId }) => attemptId)).toEqual(['w1#2']);
  expect({ isAll, upTo }).toEqual({ isAll: false, upTo: first.rank?.order });
});
