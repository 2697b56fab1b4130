/** `escapement test --journal`: a machine against what a real run left in a directory, and in a recording. */

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOfLines } from '../../inspector/recording/formats.ts';
import { Recorder } from '../../inspector/recording/recorder.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { running } from '../rehearsal/releases.ts';
import { escapement } from './command-line.ts';
import { OwnProject } from './own-project.ts';

const ORDER = `
import { assign, setup } from 'xstate';
export const order = setup({
  delays: { limit: 900_000 },
  guards: { mayDiscount: ({ context }) => context.discounts < 2 },
}).createMachine({
  id: 'order', context: { discounts: 0 }, initial: 'open',
  states: {
    open: {
      on: {
        pay: 'paid',
        discount: { guard: 'mayDiscount', actions: assign({ discounts: ({ context }) => context.discounts + 1 }) },
      },
      after: { limit: 'expired' },
    },
    paid: {},
    expired: {},
  },
});

`;

let project: OwnProject;
const at = (name: string): string => join(project.folder, name);
const MACHINE = ['--machine', 'order', '--steps', '300', '--no-restarts'];
const held = (module: string, ...more: string[]) =>
  escapement(['test', at(module), ...MACHINE, ...more]);

beforeAll(async () => {
  project = await OwnProject.create();
  project.write('package.json', '{ "type": "module" }');
  const module = project.write('order.js', ORDER);
  project.write('paid.js', ORDER.replace("pay: 'paid'", "pay: 'expired'"));
  project.write('guard.js', ORDER.replace('discounts < 2', 'discounts < 1'));
  const { order } = (await import(/* @vite-ignore */ module)) as { order: never };
  const recorder = new Recorder(
    {
      ...{ now: () => 0, definition: () => undefined, version: '0' },
      ...{ node: 'shop', place: 'shop' },
    },
    { turnsMax: 1_000, bytesMax: 1_000_000 },
  );
  const runtime = await running({ order }, lmdbStore(at('data')));
  runtime.runtime.inspect(recorder.read);
  for (const number of [1, 2]) {
    const own = await runtime.spawn(`order/${number}` as 'order/1');
    for (let times = 0; times < 3; times += 1) await own.send({ type: 'discount' } as never);
    if (number === 1) await own.send({ type: 'pay' } as never);
  }
  await runtime.advance(900_000);
  await runtime.stop();
  project.write('run.jsonl', textOfLines(recorder.lines()));
});
afterAll(() => project.remove());

test('a machine does what its own run has left', async () => {
  const done = await held(
    'order.js',
    ...['--journal', at('data'), '--journal', at('run.jsonl'), '--json'],
  );
  expect(done.code, done.err + done.out).toBe(0);
  const [stored, recorded] = JSON.parse(done.out).journals;
  const whole = { kind: 'order', actors: 2, turns: 10, unknown: 0, failed: 0, issues: [] };
  expect(stored).toMatchObject({ ...whole, same: 0, moves: 10, seen: 4, untested: [] });
  expect(recorded).toMatchObject({ ...whole, same: 10, moves: 0, seen: 4, untested: [] });
});

test('a changed one does not, and the turn is named', async () => {
  const paid = await held('paid.js', '--journal', at('data'));
  expect(paid.code).toBe(1);
  expect(paid.out).toMatch(
    /✗ move: turn 5 of order\/1@\S+\n {2}open {2}pay {2}→ paid\n {2}recorded {3}paid\n {2}machine {4}expired\n/,
  );
  expect(paid.out).toContain('1 turn it does not take so');
  expect(paid.out).toContain('1 of 4 moves seen live and never tested');
  const guard = await held('guard.js', '--journal', at('run.jsonl'), '--json');
  expect([guard.code, JSON.parse(guard.out).journals[0].issues]).toEqual([
    1,
    [expect.objectContaining({ what: 'context', turn: 3, count: 2 })],
  ]);
});

test('a team keeps it as test files, which fail when the machine is changed', async () => {
  const out = at('kept');
  const made = await escapement([
    ...['test', 'generate', at('order.js'), '--out', out],
    ...['--journal', at('run.jsonl'), '--journal', at('data')],
  ]);
  expect(made.code, made.err).toBe(0);
  expect(readdirSync(out).filter((name) => name.includes('journal'))).toEqual([
    'order.journal.js',
    'order.journal.test.js',
  ]);
  project.write(
    'play.mjs',
    `
import { turns } from './kept/order.journal.js';
import { testJournal } from 'escapement/testing';
for (const file of process.argv.slice(2)) {
  const { order } = await import(file);
  try { console.log(testJournal(order, turns).issues.length); } catch (error) { console.log(error.name); }
}`,
  );
  const played = execFileSync('node', ['play.mjs', './order.js', './paid.js', './guard.js'], {
    cwd: project.folder,
    encoding: 'utf8',
  });
  expect(played).toBe('0\nJournalError\nJournalError\n');
});

test.each<readonly [string, readonly string[], number, string]>([
  ['no such path', ['--journal', 'nowhere'], 65, 'nowhere: there is no such file or directory'],
  ['a file that is none', ['--journal', 'order.js'], 65, 'order.js'],
  ['a recording with a turn that is none', ['--journal', 'torn.jsonl'], 65, 'Line 2 is no turn'],
  ['another kind', ['--journal', 'data', '--kind', 'ordr'], 65, 'it has turns of order'],
])('%s ends with its exit code', async (_, args, code, text) => {
  project.write(
    'torn.jsonl',
    '{"type":"recording","version":1}\n{"type":"turn","address":7,"turn":"x"}\n',
  );
  const whole = args.map((one) => (/^(nowhere|order|torn|data)/.test(one) ? at(one) : one));
  const refused = await held('order.js', ...whole);
  expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(text)]);
  expect(refused.err).not.toContain('Internal error');
});
