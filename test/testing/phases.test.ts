/** Phases: each finds a fault that no phase before it finds, and a live run on the engine finds what was planted. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import {
  type Draft,
  draftOf,
  rebuild,
  type TransitionDraft,
} from '../../testing/model/definition.ts';
import { engineDriver } from '../../testing/model/engine-driver.ts';
import { playLive } from '../../testing/model/live.ts';
import { PHASES, type Phase, Suite } from '../../testing/model/suite.ts';
import { testPaths } from '../../testing/model/test-paths.ts';
import { doorMachine } from './door.ts';

/** The machine with a fault. */
function faulty(change: (draft: Draft) => void, machine = doorMachine as never) {
  const draft = draftOf(machine);
  change(draft);
  return rebuild(draft);
}

/** Phases in which the tests of the door tell the other machine from it. */
async function found(
  other: ReturnType<typeof faulty>,
  machine = doorMachine as never,
): Promise<Phase[]> {
  const finding: Phase[] = [];
  for (const phase of PHASES) {
    const suite = new Suite(machine, { phases: [phase] });
    const { failures } = await playLive(machine, suite.samples, suite.cases(400), {
      driver: () => engineDriver(other),
      failuresMax: 1,
    });
    if (failures.length > 0) finding.push(phase);
  }
  return finding;
}

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

  test('is seen to take an event that it should ignore, by the ignored events alone', async () => {
    const machine = setup({}).createMachine({
      id: 'lamp',
      initial: 'off',
      states: { off: { on: { press: 'on' } }, on: { on: { release: 'off' } } },
    });
    const eager = faulty(({ root }) => {
      (root.states.on as { on: object }).on = {
        ...root.states.on?.on,
        press: [{ target: 'off', actions: [] } satisfies TransitionDraft],
      };
    }, machine as never);
    const [first] = await found(eager, machine as never);
    expect(first).toBe('ignored events');
  });

  test('is seen to forget a deadline when an event of the same instant comes first', async () => {
    // Whether `ping` is taken before the deadline of its instant shows only in what the deadline then finds.
    const machine = setup({
      types: { context: {} as { pinged: boolean } },
      delays: { limit: 1_000 },
    }).createMachine({
      id: 'tie',
      context: { pinged: false },
      initial: 'waiting',
      states: {
        waiting: {
          on: {
            ping: {
              actions: assign({
                pinged: ({ event }) => (event as { at?: number }).at === 1_800_000_001_000,
              }),
            },
          },
          after: {
            limit: [{ guard: ({ context }) => context.pinged, target: 'late' }, { target: 'over' }],
          },
        },
        late: {},
        over: {},
      },
    });
    const deaf = faulty(({ root }) => {
      const waiting = root.states.waiting as { after: Record<string, TransitionDraft[]> };
      waiting.after.limit = [{ target: 'over', actions: [] }];
    }, machine as never);
    const finding = await found(deaf, machine as never);
    expect(finding[0]).toBe('ties');
  });

  test('is seen to let signs of life move a deadline that they should not, by the holds alone', async () => {
    const machine = setup({ delays: { silence: 1_000, whole: 10_000 } }).createMachine({
      id: 'held',
      initial: 'working',
      states: {
        working: {
          after: { whole: 'over' },
          initial: 'heard',
          states: {
            heard: {
              on: { sign: { target: 'heard', reenter: true } },
              after: { silence: '#held.silent' },
            },
          },
        },
        silent: { type: 'final' },
        over: { type: 'final' },
      },
    });
    // It begins everything again once signs have held the silence off for most of the time.
    const forgetful = faulty(({ root }) => {
      const heard = root.states.working?.states.heard as { on: Record<string, TransitionDraft[]> };
      const guard = ({ event }: { event: { at: number } }) => event.at >= 1_800_000_006_000;
      heard.on.sign?.unshift({ guard, target: '#held.working', reenter: true, actions: [] });
    }, machine as never);
    const [first] = await found(forgetful, machine as never);
    expect(first).toBe('holds');
  });

  test('is seen to lose what only long walks reach', async () => {
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
    const finding = await found(count(60) as never, count(61) as never);
    expect(finding).toEqual(['walks']);
  });
});

test('what a restart would lose is found by restarting before each step', async () => {
  const machine = setup({ types: { context: {} as { seen: Set<string> } } }).createMachine({
    id: 'set',
    context: { seen: new Set<string>() },
    on: {
      see: {
        actions: assign({ seen: ({ context }) => new Set([...context.seen, 'it']) }),
      },
    },
  });
  await expect(testPaths(machine, { steps: 40 })).rejects.toThrow(/context|driver/);
});
