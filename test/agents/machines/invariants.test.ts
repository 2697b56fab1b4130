/** Bugs that were planted into the machines of agent runs: the invariants find each over seeds. */

import { expect, test } from 'vitest';
import { assign, enqueueActions } from 'xstate';
import { agentMachine } from '../../../machines/agents/agent.ts';
import type { OrchestrationContext } from '../../../machines/agents/orchestration/context.ts';
import { dispatch, grant, type Step } from '../../../machines/agents/orchestration/steps.ts';
import { orchestrationMachine, type RunRules } from '../../../machines/agents/orchestration.ts';
import { taskMachine } from '../../../machines/agents/task.ts';
import { to } from '../../../runtime/machine.ts';
import { MACHINES, type Machines, playSeed } from './pretend-world.ts';

const HUNTED_SEEDS = 60;

const agent = (changes: object): Machines => ({
  ...MACHINES,
  agent: agentMachine.provide(changes as never) as typeof agentMachine,
});
const task = (changes: object): Machines => ({
  ...MACHINES,
  task: taskMachine.provide(changes as never) as typeof taskMachine,
});
const orchestration = (changes: object): Machines => ({
  ...MACHINES,
  orchestration: orchestrationMachine.provide(changes as never) as typeof orchestrationMachine,
});
const countTwice = assign({
  timeoutCount: ({ context }: { context: { timeoutCount: number } }) => context.timeoutCount + 2,
});

/** An action of an orchestration that takes other rules than those of its run. */
const withRules = (
  step: (context: OrchestrationContext) => Step,
  change: (rules: RunRules) => object,
) =>
  enqueueActions((args) => {
    const { context, enqueue } = args as unknown as {
      readonly context: OrchestrationContext;
      readonly enqueue: {
        assign(next: object): void;
        sendTo(target: unknown, event: unknown): void;
      };
    };
    const { rules } = context;
    const { next, says = [] } = step({
      ...context,
      rules: rules && { ...rules, ...change(rules) },
    });
    enqueue.assign(next);
    for (const said of says) enqueue.sendTo(to(said.to), said.event);
  });

const dispatchMore = withRules(
  (context) => dispatch(context, context.rules?.slots ?? 0),
  ({ slots }) => ({ slots: slots + 1 }),
);
const someWait = ({ context }: { context: OrchestrationContext }) =>
  [...context.delegations.values()].some(({ isGranted }) => !isGranted);
const grantAll = withRules(grant, () => ({ experts: { sql: 99 } }));

test.each<[string, string, Machines]>([
  ['a limit that is early', 'AG-4', agent({ delays: { agentLimit: 100 } })],
  ['a limit that is late', 'AG-4', agent({ delays: { agentLimit: 60_000 } })],
  [
    'a clock that counts what it waited for',
    'AG-4',
    agent({ actions: { stopClock: () => {}, continueClock: () => {} } }),
  ],
  ['a grace without an end', 'AG-7', agent({ delays: { grace: 10_000_000 } })],
  ['a stall after one miss', 'AG-11', agent({ guards: { stallsNow: () => true } })],
  ['misses that are never forgotten', 'AG-11', agent({ guards: { stallsNow: () => false } })],
  ['more attempts than slots', 'AG-2', orchestration({ actions: { dispatch: dispatchMore } })],
  [
    'experts without a queue',
    'AG-9',
    orchestration({ actions: { grant: grantAll }, guards: { canGrant: someWait } }),
  ],
  [
    'an end of the run before all is quiet',
    'AG-8',
    orchestration({ guards: { isDone: () => false } }),
  ],
  ['an attempt that counts twice', 'AG-3', task({ actions: { countTimeout: countTwice } })],
  [
    'failures that are taken for timeouts',
    'AG-10',
    task({ guards: { failsForGood: () => false } }),
  ],
])('a planted bug is found: %s', async (_, id, machines) => {
  for (let seed = 1; seed <= HUNTED_SEEDS; seed++) {
    const { breaches } = await playSeed(seed, machines);
    if (breaches.some((breach) => breach.startsWith(id))) return;
  }
  expect.fail(`${id} was not found in ${HUNTED_SEEDS} seeds`);
});
