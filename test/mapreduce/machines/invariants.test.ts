/** The invariants of runs over seeds with crashes, and bugs that were planted to see that they are found. */

import { expect, test } from 'vitest';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { MACHINES, type Machines, playSeed } from './pretend-world.ts';

const SEEDS = 60;

test(`hold over ${SEEDS} seeds`, async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { breaches } = await playSeed(seed);
    broken.push(...breaches.map((breach) => `seed ${seed}: ${breach}`));
  }
  expect(broken).toEqual([]);
});

const agent = (changes: object): Machines => ({
  ...MACHINES,
  'map-agent': mapAgentMachine.provide(changes as never) as typeof mapAgentMachine,
});
const run = (changes: object): Machines => ({
  ...MACHINES,
  mapreduce: runMachine.provide(changes as never) as typeof runMachine,
});

test.each<[string, string, Machines]>([
  ['an agent limit that is early', 'MR-1', agent({ delays: { agentLimit: 100 } })],
  ['an agent limit that is late', 'MR-1', agent({ delays: { agentLimit: 60_000 } })],
  ['a grace that has no end', 'MR-9', agent({ delays: { grace: 100_000 } })],
  ['a success that is one with any exit code', 'MR-7', agent({ guards: { endsWell: () => true } })],
  [
    'more items at a time than allowed',
    'MR-4',
    run({
      guards: {
        hasRoomAndWork: ({
          context,
        }: {
          context: { next: number; rules: { itemCount: number }; reason: unknown };
        }) => context.reason === null && context.next < context.rules.itemCount,
      },
      actions: {
        beginItems: (runMachine.implementations.actions as Record<string, unknown>).beginProbe,
      },
    }),
  ],
  [
    'a run that never ends',
    'MR-4',
    run({ guards: { isMapped: () => false, isMappedWithReduce: () => false } }),
  ],
  [
    'a reduce before all is mapped',
    'MR-15',
    run({
      guards: {
        isMappedWithReduce: ({
          context,
        }: {
          context: { next: number; rules: { itemCount: number; reduce: unknown } };
        }) => context.rules.reduce !== null && context.next === context.rules.itemCount,
      },
    }),
  ],
])('a planted bug is found: %s', async (_, id, machines) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { breaches } = await playSeed(seed, machines);
    if (breaches.some((breach) => breach.startsWith(id))) return;
  }
  expect.fail(`${id} was not found in ${SEEDS} seeds`);
});
