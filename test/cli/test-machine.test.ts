/** `escapement test` and `lint`: what they print, the files they write, and how they end on bad modules. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, escapement, start } from './command-line.ts';
import { OwnProject } from './own-project.ts';

const LAMP = `
import { setup, assign } from 'xstate';
export const lamp = setup({ delays: { limit: 1000 } }).createMachine({
  id: 'lamp', context: { presses: 0 }, initial: 'off',
  states: {
    off: { on: { press: { target: 'on', actions: assign({ presses: ({ context }) => context.presses + 1 }) } } },
    on: { on: { press: 'off' }, after: { limit: 'off' } },
  },
});
`;

const MODULES: Readonly<Record<string, string>> = {
  'lamp.js': LAMP,
  'two.js': `${LAMP}\nexport const other = lamp.provide({});`,
  'none.js': 'export const lamp = 42;',
  'broken.js': 'export const lamp = ;',
  'throwing.js': 'throw new Error("no database");',
  'waiting.js': `${LAMP}\nexport const invariants = [];`,
  'endless.js': `
import { setup } from 'xstate';
export const endless = setup({}).createMachine({
  id: 'endless', initial: 'a',
  states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
});`,
  'needy.js': `
import { setup } from 'xstate';
export const needy = setup({}).createMachine({
  id: 'needy', context: ({ input }) => ({ total: BigInt(input.order.lines.total.in('cents')) }), initial: 'a', states: { a: {} },
});`,
  'functions.js': `
import { setup } from 'xstate';
export const functions = setup({}).createMachine({
  id: 'functions', context: { run: () => 1 }, initial: 'a', states: { a: { on: { go: 'b' } }, b: { on: { go: 'a' } } },
});`,
  'shop.js': `
import { fromPromise, setup } from 'xstate';
export const shop = setup({
  actors: { charge: fromPromise(async () => 1) },
  delays: { patience: 60_000 },
  guards: { free: () => false },
}).createMachine({
  id: 'shop',
  initial: 'open',
  states: {
    open: {
      on: { pay: [{ guard: 'free', target: 'paying' }, { target: 'paying' }] },
      after: { patience: 'lost' },
    },
    paying: { invoke: { src: 'charge', onDone: 'packing', onError: 'open' } },
    packing: { initial: 'taken', states: { taken: { on: { pack: 'packed' } }, packed: { type: 'final' } }, onDone: 'sent' },
    closed: { on: { reopen: 'open' } },
    sent: { type: 'final' },
    lost: { type: 'final' },
  },
});`,
  'false-invariant.js': `${LAMP}\nexport const invariants = { 'few presses': (s) => s.context.presses < 3 };`,
  'wrong-driver.js': `
export const driver = () => {
  let value = 'off';
  return {
    start() { value = 'off'; },
    perform(step) { if (step.type === 'send') value = value === 'off' ? 'on' : 'off'; },
    observe() { return { value }; },
  };
};`,
};

let project: OwnProject;
const at = (name: string): string => join(project.folder, name);
const run = (...args: string[]) => escapement(args);

beforeAll(async () => {
  project = await OwnProject.create();
  project.write('package.json', '{ "type": "module" }');
  for (const [name, text] of Object.entries(MODULES)) project.write(name, text);
});
afterAll(() => project.remove());

describe('test', () => {
  test('plays tests, and says what they covered and found', async () => {
    const done = await run(
      'test',
      at('lamp.js'),
      '--steps',
      '60',
      '--coverage',
      '--mutants',
      '--json',
    );
    expect(done.code).toBe(0);
    const { failures, coverage, score } = JSON.parse(done.out);
    expect(failures).toEqual([]);
    expect(coverage.states).toEqual({ reached: 3, all: 3, missing: [], excused: 0 });
    expect(score.survivors).toEqual([]);
    expect(score.killed).toBeGreaterThan(10);
  });

  test('draws what they took, with counts, and what they left out in red', async () => {
    const out = at('pictures');
    const few = ['--steps', '300', '--no-restarts'];
    const done = await run('test', at('shop.js'), ...few, '--picture', out, '--json');
    const { picture } = JSON.parse(done.out);
    expect(picture).toBe(join(out, 'shop-coverage.svg'));
    const svg = readFileSync(picture, 'utf8');
    const labels = [...svg.matchAll(/<text[^>]*>([^<]* ×[^<]*)<\/text>/g)].map(([, text]) => text);
    const shown = labels.map((text) => String(text).replace(/[1-9]\d*/, 'N')).sort();
    expect(shown).toEqual([
      'after patience ×N',
      'charge done ×N',
      'charge failed ×N',
      'done ×N',
      'pack ×N',
      'pay [free | else] ×0 ×N',
      'reopen ×0',
    ]);
    expect(svg.match(/class="state [^"]*untaken" data-state="closed"/g)).toHaveLength(1);
    const file = await run('test', at('shop.js'), ...few, '--picture', at('shop.js'));
    expect([file.code, file.err]).toEqual([74, expect.stringContaining('shop.js')]);
  });

  test('shrinks a failure, writes it, and plays it again', async () => {
    const out = at('failures');
    const failed = await run(
      'test',
      at('false-invariant.js'),
      '--out',
      out,
      '--no-restarts',
      '--json',
    );
    expect(failed.code).toBe(1);
    const { failures, files } = JSON.parse(failed.out);
    expect(failures).toHaveLength(1);
    expect(failures[0].test.steps).toHaveLength(5);
    // The page of the inspector is built with the program.
    const again = await ended(start(['test', 'replay', files[0], '--inspect']));
    expect(again.code).toBe(1);
    const [, page = ''] = /step: (file:\S+\.html)/.exec(again.out) ?? [];
    expect(readFileSync(new URL(page), 'utf8')).toContain('few presses');
    expect((await run('test', 'replay', at('lamp.js'))).code).toBe(65);
  });

  test('plays them on a driver, and finds a deadline that it does not keep', async () => {
    const failed = await run(
      'test',
      at('lamp.js'),
      '--driver',
      at('wrong-driver.js'),
      '--out',
      at('driver'),
    );
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('1 ms pass');
  });

  test('ends with 2 below the least share', async () => {
    expect(
      (await run('test', at('lamp.js'), '--steps', '1', '--coverage', '--min', '100')).code,
    ).toBe(2);
  });

  test('writes files that it does not write again without need, and keeps the driver', async () => {
    const out = at('generated');
    const first = await run('test', 'generate', at('lamp.js'), '--out', out);
    expect(first.code).toBe(0);
    const paths = readFileSync(join(out, 'lamp.paths.js'), 'utf8');
    const again = JSON.parse(
      (await run('test', at('lamp.js'), 'generate', '--out', out, '--json')).out,
    );
    expect(again.files.map(({ what }: { what: string }) => what)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
    expect(existsSync(join(out, 'lamp.driver.js'))).toBe(true);
    project.write('renamed.js', LAMP.replaceAll("'off'", "'dark'").replace('off:', 'dark:'));
    await run('test', 'generate', at('renamed.js'), '--out', at('renamed'));
    const renamed = readFileSync(join(at('renamed'), 'lamp.paths.js'), 'utf8').split('\n');
    const changed = paths.split('\n').filter((line, index) => line !== renamed[index]);
    expect(changed).toHaveLength(1);
  });

  test.each([
    ['none.js', 65, 'exports no machine'],
    ['broken.js', 65, 'cannot be loaded'],
    ['throwing.js', 65, 'no database'],
    ['missing.js', 65, 'no such file'],
    ['two.js', 64, '--machine'],
    ['waiting.js', 65, 'must be an object'],
    ['needy.js', 65, 'samples'],
  ])('refuses %s with exit %i', async (name, code, text) => {
    const refused = await run('test', at(name));
    expect(refused.code, refused.err).toBe(code);
    expect(refused.err).toContain(text);
  });

  test('reports a machine that never rests, and goes on', async () => {
    const failed = await run('test', at('endless.js'), '--out', at('endless'), '--no-restarts');
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('the machine threw');
  });

  test('reports functions in a context, which a restart loses', async () => {
    const failed = await run('test', at('functions.js'), '--out', at('functions'), '--steps', '20');
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('context');
  });
});

test('lint ends with 1 for what is to be mended, and with 0 for notes', async () => {
  expect((await run('lint', at('functions.js'))).code).toBe(1);
  expect((await run('lint', at('lamp.js'))).code).toBe(0);
  expect((await run('lint', at('none.js'))).code).toBe(65);
});
