/** Bugs of runs that are put into their machines and parts, to see that the invariants find them. */

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { assign, enqueueActions, sendTo } from 'xstate';
import { runAddress } from '../../../machines/mapreduce/addresses.ts';
import type { MapAgentContext } from '../../../machines/mapreduce/map-agent/context.ts';
import { failureEntry } from '../../../machines/mapreduce/map-agent/failure.ts';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import type { RunContext } from '../../../machines/mapreduce/run/context.ts';
import { begin, reopen } from '../../../machines/mapreduce/run/steps.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { replaceLiterally } from '../../../programs/mapreduce/placeholders.ts';
import { limitsOf } from '../../../programs/mapreduce/workflow.ts';
import { Table, to } from '../../../runtime/machine.ts';
import { MACHINES, type Machines, PARTS, type Parts } from './pretend-parts.ts';
import { playSeed } from './pretend-world.ts';

type Timed = { readonly at: number };

const SEEDS = 60;

const parts = (machines: Machines): Parts => ({ ...PARTS, machines });
const agent = (changes: object): Parts =>
  parts({
    ...MACHINES,
    'map-agent': mapAgentMachine.provide(changes as never) as typeof mapAgentMachine,
  });
const run = (changes: object): Parts =>
  parts({
    ...MACHINES,
    mapreduce: runMachine.provide(changes as never) as typeof runMachine,
  });

test.each<[string, string, Parts]>([
  ['an agent limit that is early', 'MR-1', agent({ delays: { agentLimit: 100 } })],
  ['an agent limit that is late', 'MR-1', agent({ delays: { agentLimit: 60_000 } })],
  [
    'a share of the longest success in place of the median',
    'MR-1',
    run({
      actions: {
        beginItems: enqueueActions((args) => {
          const context = args.context as RunContext;
          const [longest] = context.durations.last() ?? [];
          const durations = Table.of(
            longest === undefined ? {} : { [longest]: context.counts.done },
          );
          const step = begin(
            { ...context, durations },
            (args.event as never as Timed).at,
            context.rules.maxParallel,
          );
          args.enqueue.assign(step.next);
          for (const { to: address, event } of step.says ?? [])
            args.enqueue.sendTo(to(address) as never, event as never);
        }),
      },
    }),
  ],
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
  [
    'a limit of a place that does not come before that of its type',
    'MR-2',
    {
      ...PARTS,
      limits: (map, stated) => {
        const commandTimeouts = map.timeout.commandTimeouts.filter(({ index }) => index === null);
        return limitsOf({ ...map, timeout: { ...map.timeout, commandTimeouts } }, stated);
      },
    },
  ],
  [
    'a timer of a command that goes on after it',
    'MR-3',
    agent({
      actions: {
        changeLimits: enqueueActions(({ context, event, enqueue }) => {
          const { command } = context as MapAgentContext;
          if (command?.index === 0) enqueue.raise({ ...event, type: 'limits.changed' });
        }),
      },
    }),
  ],
  ['a command that was cut and is forgotten', 'MR-6', agent({ actions: { keepCut: () => {} } })],
  [
    'a killed group that is called graceful',
    'MR-8',
    agent({ guards: { timedOutAndEndedItself: () => true } }),
  ],
  [
    'a run that does again what was done when it is continued',
    'MR-11',
    run({
      actions: {
        reopen: assign(({ context, event }) => {
          const { items } = context as RunContext;
          const all = [...items].reduce(
            (rows, [key, row]) => rows.with(key, { ...row, state: 'failed' }),
            items,
          );
          const { at } = event as unknown as { readonly at: number };
          return reopen({ ...(context as RunContext), items: all }, at).next;
        }),
      },
    }),
  ],
  [
    'an attempt that is not counted',
    'MR-13',
    agent({
      actions: {
        tellRun: sendTo(
          ({ context }) => to(runAddress((context as MapAgentContext).runId)),
          ({ context, event }, outcome) => {
            const { role, itemIndex, attempt } = context as MapAgentContext;
            const { at } = event as unknown as { readonly at: number };
            const failure = failureEntry(context as MapAgentContext, at);
            const isFailed = String(outcome) === 'timedOut' || String(outcome) === 'failed';
            const ended = {
              role,
              itemIndex,
              attempt,
              outcome,
              durationMs: 0,
              enforcementFailure: null,
            };
            return {
              type: 'agent.ended',
              ...ended,
              hasStarted: false,
              failure: isFailed ? failure : null,
            };
          },
        ),
      },
    }),
  ],
  [
    'a value that is put into the text of a shell',
    'MR-16',
    {
      ...PARTS,
      commandLine: (step, scope, values) => ({
        argv: ['/bin/sh', '-c', ...step.texts.map((text) => replaceLiterally(text, scope, values))],
        env: {},
      }),
    },
  ],
])('a planted bug is found: %s', async (_, id, planted) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { breaches } = await playSeed(seed, planted);
    if (breaches.some((breach) => breach.startsWith(id))) return;
  }
  expect.fail(`${id} was not found in ${SEEDS} seeds`);
});

describe('MR-12: monitoring that throws', () => {
  const areAlike = async (seed: number, planted: Parts) => {
    const [calm, thrown] = [await playSeed(seed, planted), await playSeed(seed, planted, true)];
    return isDeepStrictEqual(calm.timeline, thrown.timeline);
  };

  test('moves no limit and no process', async () => {
    for (let seed = 1; seed <= 20; seed++)
      expect([seed, await areAlike(seed, PARTS)]).toEqual([seed, true]);
  });

  test('is found where it hinders', async () => {
    for (let seed = 1; seed <= SEEDS; seed++)
      if (!(await areAlike(seed, { ...PARTS, sinkHinders: true }))) return;
    expect.fail(`it was not found in ${SEEDS} seeds`);
  });
});
