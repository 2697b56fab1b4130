/** `simulate`: what it finds, how small it makes it, that it comes again, and what it refuses. */

import assert from 'node:assert/strict';
import { describe, expect, test, vi } from 'vitest';
import { assign, setup } from 'xstate';
import {
  carefulAccount,
  forgetfulAccount,
  simulateTransfers,
} from '../../examples/simulate-transfer.ts';
import { invariant, NEMESES, type SimulateOptions, simulate } from '../../simulator/index.ts';
import { MENU } from '../../simulator/nemeses/menu.ts';
import { readProjectFile } from '../project-files.ts';

// Shrinking takes a hundred runs, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

/** Counts what it is told, and has it written down outside, then rests. */
const counter = setup({
  types: {
    context: {} as { count: number },
    events: {} as { type: 'number.told'; number: number } | { type: 'counter.end' },
  },
  actions: { writeDown: (_, _params: { number: number }) => {} },
  delays: { rest: 3_000 },
}).createMachine({
  context: { count: 0 },
  initial: 'resting',
  on: {
    'number.told': {
      target: '.resting',
      actions: [
        assign({ count: ({ context }) => context.count + 1 }),
        { type: 'writeDown', params: ({ event }) => ({ number: event.number }) },
      ],
    },
    'counter.end': '.ended',
  },
  states: { resting: { after: { rest: 'waiting' } }, waiting: {}, ended: { type: 'final' } },
});

const kinds = { counter };
const TOLD = 6;

/** Numbers are told one after the other; what is done to them is up to the test. */
function counting(more: Partial<SimulateOptions<typeof kinds>> = {}) {
  return simulate({
    kinds,
    places: { left: { nodes: 2 }, right: { nodes: 2 } },
    workload: ({ chance, at, actor, spawn }) => {
      at(0, 'begin', () => Promise.all([spawn('counter/1@left'), spawn('counter/2@left')]));
      for (let number = 1; number <= TOLD; number++)
        at(chance.whole(1_000, 20_000), 'tell', () =>
          Promise.all(
            [actor('counter/1'), actor('counter/2')].map((told) =>
              told.send({ type: 'number.told', number }),
            ),
          ),
        );
      at('21s', 'end', () => actor('counter/1').send({ type: 'counter.end' }));
    },
    until: '1m',
    seeds: 8,
    ...more,
  });
}

const neverThree = invariant<typeof kinds>('nobody counts to three', (run) => ({
  turn: (record) => {
    for (const { context, address } of run.actors('counter'))
      run.check(context.count < 3, `${address} counts to ${context.count}`, record);
  },
}));

describe('a mistake', () => {
  test('is found within a few seeds, and what is left of the run is what it takes', async () => {
    const report = await simulateTransfers(forgetfulAccount, 40);
    const [failure] = report.failures;
    expect(report.failures).toHaveLength(1);
    expect(failure).toMatchObject({ invariant: 'no money is made, and none is lost' });
    expect(failure?.plan.steps).toEqual(['open accounts', expect.stringMatching(/^transfer/)]);
    expect(failure?.plan.nemeses).toHaveLength(1);
    const booked = failure?.why.filter((line) => line.includes('took account.book'));
    expect(booked?.length).toBeGreaterThan(2);
    expect(report.text()).toContain(`"seed":${failure?.seed}`);
    expect(() => report.assertNone()).toThrow(/breaks "no money is made/);
  });

  test('is not found where there is none', async () => {
    const report = await simulateTransfers(carefulAccount, 25);
    report.assertNone();
    expect(report.runs).toBe(25);
    expect(report.exercised['no money is made, and none is lost']).toBeGreaterThan(25 * 5);
    expect(report.text()).toMatch(/No invariant was broken\.$/);
  });

  test('comes again when the plan that is left of it is played', async () => {
    const first = (await counting({ invariants: [neverThree] })).failures[0];
    assert(first);
    expect(first).toMatchObject({
      what: 'counter/1@left counts to 3',
      replay: { plan: first.plan },
    });
    // Kept in a file meanwhile.
    const plan = JSON.parse(JSON.stringify(first.plan));
    const again = await counting({ invariants: [neverThree], plan });
    expect(again.runs).toBe(1);
    expect(again.failures[0]).toEqual(first);
    expect(first.plan).toMatchObject({ nemeses: [], healAtMs: null });
    expect(first.plan.steps).toHaveLength(4);
  });

  test('of several ends the simulation when there are as many as may be', async () => {
    const report = await counting({ invariants: [neverThree], failuresMax: 3 });
    expect(report.failures.map(({ seed }) => seed)).toEqual([1, 2, 3]);
    expect(report.runs).toBe(3);
  });
});

test('the same options give the same runs, another seed another one', async () => {
  const traces = async (from: number) =>
    (await counting({ invariants: [neverThree], from })).failures.map(({ traceHash }) => traceHash);
  const first = await traces(5);
  expect(await traces(5)).toEqual(first);
  expect(await traces(6)).not.toEqual(first);
});

describe('faults', () => {
  test.each(Object.keys(NEMESES))('%s changes something in a cluster of counters', async (kind) => {
    let effective = 0;
    for (let from = 1; from < 100 && effective === 0; from += 5) {
      const report = await counting({ nemeses: [kind], from, seeds: 5 });
      report.assertNone();
      effective += report.faults[kind]?.effective ?? 0;
    }
    expect(effective).toBeGreaterThan(0);
  });

  test('that need a jobs system are none of the menu', () => {
    expect(NEMESES).not.toHaveProperty('gateOutage');
    expect(NEMESES).not.toHaveProperty('overload');
    expect(NEMESES).not.toHaveProperty('everythingAtOnce');
    expect(Object.keys(NEMESES).length).toBeGreaterThan(30);
  });

  test('are all in the guide, in the words of the menu, and no others', () => {
    const [own = '', jobs = ''] =
      readProjectFile('docs/simulator.md').split('\n## The jobs system');
    const toldIn = (text: string) => {
      const rows = text.matchAll(/^\| `(\w+)` +\| ([A-Z][^|]+?) +\|$/gm);
      return Object.fromEntries(Array.from(rows, ([, kind, says]) => [kind, `${says}.`]));
    };
    expect(toldIn(own)).toEqual(NEMESES);
    const menu = Object.fromEntries(MENU.map(({ kind, says }) => [kind, says]));
    expect({ ...toldIn(own), ...toldIn(jobs) }).toEqual(menu);
  });

  test('are left out on demand', async () => {
    const report = await counting({ nemeses: 'none', seeds: 3 });
    expect(report.faults).toEqual({});
    expect(report.text()).toMatch(/^3 runs \(3 without faults\)/);
  });
});

test('performers are made for each life of a node, and what they note is heard', async () => {
  const lives: string[] = [];
  const noted = new Set<unknown>();
  const report = await counting({
    nemeses: ['crashNodes'],
    options: ({ node, note }) => {
      lives.push(node);
      return {
        counter: {
          perform: {
            writeDown: { durable: true, run: ({ params }) => note('written', { ...params }) },
          },
        },
      };
    },
    invariants: [
      invariant('every number is written down', (run) => {
        noted.clear();
        return {
          log: ({ message, fields }) => void (message === 'written' && noted.add(fields.number)),
          end: () => {
            const told = run.actor('counter/2@left');
            run.check(
              told?.context.count === noted.size,
              `${noted.size} of ${told?.context.count}`,
            );
          },
        };
      }),
    ],
  });
  report.assertNone();
  expect(noted.size).toBeGreaterThan(0);
  expect(lives.length).toBeGreaterThan(8 * 4);
});

describe('an invariant', () => {
  test('that never had anything to say is told from one that held', async () => {
    const silent = invariant('a sentence about nothing', () => ({}));
    const report = await counting({ invariants: [silent], seeds: 2 });
    expect(report.neverExercised).toEqual(['a sentence about nothing']);
    expect(report.text()).toContain('never exercised: "a sentence about nothing"');
  });

  test('sees actors as they are on disk, their context typed by their machine', async () => {
    const seen: string[] = [];
    const report = await counting({
      nemeses: 'none',
      seeds: 1,
      invariants: [
        {
          says: 'all numbers arrive',
          watch: (run) => ({
            end: () => {
              for (const { context, status, value } of run.actors('counter')) {
                const count: number = context.count;
                run.check(count === TOLD, `${count} of ${TOLD}`);
                seen.push(`${status} ${value}`);
              }
              run.check(run.actor('counter/1@left')?.status === 'done', 'it goes on');
              run.check(run.actor('counter/3@left') === undefined, 'there is another one');
            },
          }),
        },
      ],
    });
    report.assertNone();
    expect(seen).toEqual(['done ended', 'active waiting']);
  });
});

describe('a step', () => {
  const asking = (action: (told: () => Promise<void>) => unknown) =>
    simulate({
      kinds,
      seeds: 1,
      nemeses: 'none',
      until: '1m',
      workload: ({ at, actor, spawn }) => {
        at(0, 'begin', () => spawn('counter/1'));
        at('1s', 'ask', () =>
          action(() => actor('counter/2').send({ type: 'number.told', number: 1 })),
        );
      },
    });

  test('may be refused by the runtime', async () => {
    const report = await asking((told) => told());
    report.assertNone();
    expect(report.exercised['STEP']).toBe(2);
  });

  test('that throws anything else has broken something', async () => {
    const report = await asking(() => assert.equal(1, 2, 'one is not two'));
    expect(report.failures).toMatchObject([
      {
        invariant: 'STEP',
        what: expect.stringContaining('Step "ask" threw: one is not two'),
        plan: { steps: ['ask'] },
      },
    ]);
  });
});

describe('refused is', () => {
  test('a machine that looks at the real clock', async () => {
    const hasty = setup({}).createMachine({ context: () => ({ at: Date.now() }) });
    const run = simulate({
      kinds: { hasty },
      seeds: 1,
      workload: ({ at, spawn }) => at(0, 'begin', () => spawn('hasty/1')),
    });
    await expect(run).rejects.toMatchObject({ code: 'SEALED' });
  });

  test.each<[string, Partial<SimulateOptions<typeof kinds>>]>([
    ['no runs', { seeds: 0 }],
    ['a seed that is no number', { from: Number.NaN }],
    ['a fault that nobody knows', { nemeses: ['rain'] }],
    ['a place without nodes', { places: { left: { nodes: 0 } } }],
    ['no place', { places: {} }],
    ['the place of the client', { places: { client: { nodes: 1 } } }],
    ['a length that is none', { until: 'long' }],
  ])('%s', async (_, options) => {
    await expect(counting(options)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  test('a workload that acts before the run', async () => {
    const workload: SimulateOptions<typeof kinds>['workload'] = ({ actor }) => {
      actor('counter/1').hint({ type: 'counter.end' });
    };
    await expect(counting({ workload })).rejects.toThrow(/inside of the steps/);
  });
});
