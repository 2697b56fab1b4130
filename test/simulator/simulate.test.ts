/** `simulate`: what it finds, how small it makes it, and that it comes again. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  carefulAccount,
  forgetfulAccount,
  simulateTransfers,
} from '../../examples/simulate-transfer.ts';
import { Recorded, readLines } from '../../inspector/recording/recorded.ts';
import { findPage } from '../../inspector/static-files.ts';
import { invariant, NEMESES, simulate } from '../../simulator/index.ts';
import { JOBS_MENU } from '../../simulator/jobs/faults/menu.ts';
import { readProjectFile } from '../project-files.ts';
import { counting, kinds, neverThree, TOLD } from './counting.ts';

const hasPage = findPage() !== undefined;

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
    // Without the one fault that is left, or without the transfer, everything holds.
    expect(failure?.nearest?.change).toMatch(
      /^without (?:fault n\d+ \(\w+\)|step "transfer #\d+")$/,
    );
    expect(failure?.nearest?.parts).toEqual([
      expect.stringMatching(/^there: #\d+ T=/),
      expect.stringMatching(/^here: {2}#\d+ T=/),
    ]);
    expect(report.text()).toContain(`The same ${failure?.nearest?.change} holds.`);
  });

  test('has a page that shows it, in a file that the report names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'escapement-simulate-'));
    const file = join(folder, 'pages', 'counting.html');
    const report = await counting({ invariants: [neverThree], ...(hasPage && { page: file }) });
    await expect(report.page(1)).rejects.toThrow('There is no failure 1: there are 1.');
    // Without a build of the page there is no file to be made.
    if (hasPage) {
      expect(() => report.assertNone()).toThrow(`The run as a page: ${file}`);
      const page = readFileSync(file, 'utf8');
      expect(page).toBe(await report.page());
      expect(page).not.toMatch(/(?:src|href)="(?!#)/);
      const [, text = ''] = /id="escapement-recording">(.*)<\/script>/.exec(page) ?? [];
      const recorded = new Recorded(readLines(JSON.parse(text)));
      expect(recorded.failure?.what).toBe(report.failures[0]?.what);
      expect(recorded.failure?.why).not.toEqual([]);
      expect(recorded.other?.change).toBe(report.failures[0]?.nearest?.change);
      expect([...recorded.charts.keys()]).toEqual(['counter']);
    }
    rmSync(folder, { recursive: true });
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
    // What was tried when it was shrunk is not tried again.
    expect(again.failures[0]).toEqual({ ...first, nearest: undefined });
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
    const menu = Object.fromEntries(JOBS_MENU.map(({ kind, says }) => [kind, says]));
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
