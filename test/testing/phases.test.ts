/** Phases: each finds a fault that no other phase finds, and a live run on the engine finds what was planted. */

import { describe, expect, test } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import {
  type Draft,
  draftOf,
  rebuild,
  type StateDraft,
  type TransitionDraft,
} from '../../testing/model/definition.ts';
import type { Driver } from '../../testing/model/driver.ts';
import { engineDriver } from '../../testing/model/engine-driver.ts';
import { oracleOf, playLive } from '../../testing/model/live.ts';
import type { Observation } from '../../testing/model/observation.ts';
import { PHASES, type Phase, Suite } from '../../testing/model/suite.ts';
import { testPaths } from '../../testing/model/test-paths.ts';
import { doorMachine } from './door.ts';

/** The machine with a fault. */
function faulty(change: (draft: Draft) => void, machine = doorMachine as never) {
  const draft = draftOf(machine);
  change(draft);
  return rebuild(draft);
}

/** Phases in which tests of a machine tell the other one from it, where no more of it is seen than that. */
async function found(
  other: ReturnType<typeof faulty>,
  machine = doorMachine as never,
  stepsMax = 400,
  shown: (seen: Observation) => Observation = (seen) => seen,
): Promise<Phase[]> {
  const finding: Phase[] = [];
  for (const phase of PHASES) {
    const suite = new Suite(machine, { phases: [phase] });
    const driver = (): Driver => {
      const engine = engineDriver(other);
      return { ...engine, observe: async () => shown(await engine.observe()) };
    };
    const oracle = await oracleOf(driver, undefined);
    const { failures } = await playLive(machine, suite.samples, suite.cases(stepsMax, oracle), {
      driver,
      failuresMax: 1,
    });
    if (failures.length > 0) finding.push(phase);
  }
  return finding;
}

/** A state that only who knows nine letters gets into: no walk finds it by chance. */
function behindLock(inside: object) {
  const letters = [...'abcdefghi'];
  const wheels = letters.map((letter, at) => {
    const next = at + 1 < letters.length ? `wheel${at + 1}` : 'inside';
    const back = letters.filter((other) => other !== letter).map((other) => [other, 'wheel0']);
    return [`wheel${at}`, { on: { ...Object.fromEntries(back), [letter]: next } }] as const;
  });
  return createMachine({
    id: 'lock',
    initial: 'outside',
    states: {
      outside: { on: { front: 'wheel0', side: 'wheel0' } },
      ...Object.fromEntries(wheels),
      inside,
    },
  }) as never;
}

const inside = ({ root }: Draft): StateDraft => root.states.inside as StateDraft;

describe('the engine, driven by tests of a machine', () => {
  test('does what the machine says, with restarts before every step', async () => {
    const report = await testPaths(doorMachine, { steps: 150 });
    expect(report.failures).toEqual([]);
    expect(report.steps).toBe(300);
  });

  test('is seen to take a deadline a millisecond late', async () => {
    const late = faulty(({ implementations }) => {
      implementations.delays.closing = 5_001;
    });
    expect(await found(late)).toContain('transitions');
  });
});

describe('by one phase alone is found', () => {
  test('a step that leads elsewhere', async () => {
    const machine = behindLock({
      initial: 'safe',
      states: {
        safe: { on: { turn: 'open' } },
        open: { type: 'final' },
        jammed: { type: 'final' },
      },
      onDone: 'outside',
    });
    const jams = faulty((draft) => {
      const { safe } = inside(draft).states;
      (safe as StateDraft).on.turn = [{ target: 'jammed', actions: [] }];
      inside(draft).onDone = [];
    }, machine);
    expect(await found(jams, machine, 3_000)).toEqual(['transitions']);
  });

  test('an event that should be ignored', async () => {
    const machine = behindLock({ on: { leave: 'outside' } });
    const eager = faulty((draft) => {
      inside(draft).on.side = [{ target: 'outside', actions: [] }];
    }, machine);
    expect(await found(eager, machine, 3_000)).toEqual(['ignored events']);
  });

  test('a deadline that an event of the same instant comes before', async () => {
    // Whether `ping` is taken before the deadline of its instant shows only in what the deadline then finds.
    const isAtLimit = ({ event }: { event: { at?: number } }) => event.at === 1_800_000_001_000;
    const machine = setup({
      types: { context: {} as { pinged: boolean } },
      delays: { limit: 1_000 },
    }).createMachine({
      id: 'tie',
      context: { pinged: false },
      initial: 'waiting',
      states: {
        waiting: {
          on: { ping: { actions: assign({ pinged: isAtLimit as never }) } },
          after: {
            limit: [{ guard: ({ context }) => context.pinged, target: 'late' }, { target: 'over' }],
          },
        },
        late: {},
        over: {},
      },
    }) as never;
    const deaf = faulty(({ root }) => {
      const waiting = root.states.waiting as { after: Record<string, TransitionDraft[]> };
      waiting.after.limit = [{ target: 'over', actions: [] }];
    }, machine);
    expect(await found(deaf, machine)).toEqual(['ties']);
  });

  test('a deadline that signs of life move and should not', async () => {
    const machine = behindLock({
      after: { 10000: 'outside' },
      initial: 'heard',
      states: {
        heard: {
          on: { sign: { target: 'heard', reenter: true } },
          after: { 1000: '#lock.outside' },
        },
      },
    });
    // It begins everything again once signs have held the silence off for most of the time.
    const forgetful = faulty((draft) => {
      const { heard } = inside(draft).states as { heard: StateDraft };
      const guard = ({ event }: { event: { at: number } }) => event.at >= 1_800_000_006_000;
      heard.on.sign?.unshift({ guard, target: '#lock.inside', reenter: true, actions: [] });
    }, machine);
    expect(await found(forgetful, machine, 3_000)).toEqual(['holds']);
  });

  test('a promise that fails and is taken to be done', async () => {
    const machine = behindLock({
      initial: 'asking',
      states: {
        asking: { invoke: { src: fromPromise(async () => 1), onDone: 'told', onError: 'refused' } },
        told: { type: 'final' },
        refused: { type: 'final' },
      },
    });
    const blind = faulty((draft) => {
      const [child] = inside(draft).states.asking?.invoke ?? [];
      Object.assign(child as object, { onError: [{ target: 'told', actions: [] }] });
    }, machine);
    const suite = new Suite(machine);
    const { failures } = await playLive(machine, suite.samples, suite.cases(3_000), {
      driver: () => engineDriver(blind),
    });
    expect(failures.map(({ test: { steps } }) => steps.at(-1)?.type)).toEqual(['reject']);
  });

  test('what only long walks reach', async () => {
    // Nobody looks at the count but after sixty steps: to the graph all counts are one situation.
    const count = (limit: number) =>
      setup({ types: { context: {} as { parity: number[] } } }).createMachine({
        id: 'counter',
        context: { parity: [] },
        on: {
          tick: {
            actions: assign({
              parity: ({ context }) =>
                context.parity.length < limit ? [...context.parity, 1] : context.parity,
            }),
          },
        },
      });
    expect(await found(count(60) as never, count(61) as never)).toEqual(['walks']);
  });
});

test('where only the status is seen, a step that led to a state that looks the same is found by suffixes alone', async () => {
  const machine = behindLock({ type: 'final' });
  const ajar = faulty(({ root }) => {
    (root.states.outside as StateDraft).on.side = [{ target: 'wheel1', actions: [] }];
  }, machine);
  const shown = ({ status }: Observation) => ({ status });
  expect(await found(ajar, machine, 3_000, shown)).toEqual(['suffixes']);
});

test('what a restart would lose is found by restarting before each step, and by no phase without', async () => {
  const machine = setup({ types: { context: {} as { seen: Set<string> } } }).createMachine({
    id: 'set',
    context: { seen: new Set<string>() },
    on: {
      see: {
        actions: assign({ seen: ({ context }) => new Set([...context.seen, 'it']) }),
      },
    },
  });
  expect(await found(machine as never, machine as never, 40)).toEqual([]);
  await expect(testPaths(machine, { steps: 40 })).rejects.toThrow(/context|driver/);
});
