/** `escapement test --suite`: a team's own tests against mutants, in processes of their own. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { ROOT } from '../project-files.ts';
import { ended, escapement, start } from './command-line.ts';
import { OwnProject } from './own-project.ts';

const LAMP = `
import { assign, setup } from 'xstate';
export const lamp = setup({ delays: { limit: 1000 } }).createMachine({
  id: 'lamp', context: { presses: 0 }, initial: 'off',
  states: {
    off: { on: { press: { target: 'on', actions: assign({ presses: ({ context }) => context.presses + 1 }) } } },
    on: { on: { press: 'off' }, after: { limit: 'off' } },
  },
});
`;
const PRESSED = `
import { createActor } from 'xstate';
import { lamp } from './lamp.js';
export function pressed() {
  const actor = createActor(lamp).start();
  actor.send({ type: 'press' });
  const first = actor.getSnapshot().value;
  actor.send({ type: 'press' });
  const second = actor.getSnapshot().value;
  actor.stop();
  return first + ', ' + second;
}`;
const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'lamp.js': LAMP,
  'pressed.js': PRESSED,
  'plain.mjs': `import { pressed } from './pressed.js'; if (pressed() !== 'on, off') process.exit(1);`,
  'failing.mjs': 'console.log("it is raining"); process.exit(1);',
  'strange.mjs': 'process.exit(0);',
  'loading.mjs': `import './lamp.js';`,
  'endless.mjs': `
import { createActor } from 'xstate';
import { lamp } from './lamp.js';
const actor = createActor(lamp).start();
actor.send({ type: 'press' });
while (actor.getSnapshot().value !== 'on') await new Promise((resolve) => setTimeout(resolve, 5));
process.exit(0);`,
  // It has another process run as long as it does itself, and both tell who they are.
  'lasting.mjs': `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
writeFileSync(process.argv[2], process.pid + ' ' + child.pid + ' ');
setInterval(() => {}, 1000);`,
  'vitest.config.js': `export default { test: { include: ['*.test.js'] } };`,
  'pressing.test.js': `
import { expect, test } from 'vitest';
import { pressed } from './pressed.js';
test('a press', () => expect(pressed()).toBe('on, off'));`,
  'loading.test.js': `
import { expect, test } from 'vitest';
import { lamp } from './lamp.js';
test('a name', () => expect(lamp.id).toBe('lamp'));`,
};

let project: OwnProject;
const scored = (suite: string, ...more: string[]) =>
  escapement([
    ...['test', join(project.folder, 'lamp.js'), '--steps', '20', '--no-restarts'],
    ...['--suite', suite, ...more],
  ]);
const file = (name: string): string => `node ${JSON.stringify(join(project.folder, name))}`;

beforeAll(async () => {
  project = await OwnProject.create();
  for (const [name, text] of Object.entries(FILES)) project.write(name, text);
});
afterAll(() => project.remove());

describe('the score of a team’s own tests', () => {
  test('has what they find, and for each other mutant the shortest test that would', async () => {
    const done = await scored(file('plain.mjs'), '--sample', '8', '--workers', '2', '--json');
    expect(done.code, done.err).toBe(0);
    const { score } = JSON.parse(done.out);
    const { mutant, test: killing } = score.survivors.at(-1);
    expect([score.mutants, score.killed, score.killable, score.untried]).toEqual([8, 4, 8, []]);
    expect(mutant).toBe('delayLonger: delay limit');
    expect(killing.steps.map(({ type }: { type: string }) => type)).toEqual(['send', 'advance']);
  });

  test('ends with 2 below the least share', async () => {
    expect((await scored(file('plain.mjs'), '--sample', '2', '--min', '90')).code).toBe(2);
  });

  test('runs only those files of vitest whose tests step the machine', async () => {
    const vitest = `node ${join(ROOT, 'node_modules/vitest/vitest.mjs')} run --root ${project.folder}`;
    const done = await scored(vitest, '--sample', '2', '--json');
    expect(done.code, done.err).toBe(0);
    const { score } = JSON.parse(done.out);
    expect(score.suite.files).toEqual([expect.stringMatching(/pressing\.test\.js$/)]);
    expect(score.killed).toBe(1);
  });
});

test.each([
  ['failing.mjs', 'it is raining'],
  ['strange.mjs', 'None of its tests makes the machine "lamp"'],
  ['loading.mjs', 'none of them steps it'],
])('refuses %s with exit 65', async (name, text) => {
  const refused = await scored(file(name));
  expect(refused.code).toBe(65);
  expect(refused.err).toContain(text);
});

test('a mutant under which they do not end is killed by the limit, and named', async () => {
  const limit = ['--limit', '2s', '--sample', '1', '--json'];
  const done = await scored(file('endless.mjs'), ...limit);
  expect(done.code, done.err).toBe(0);
  const { score } = JSON.parse(done.out);
  expect(score.suite.late).toEqual(['transitionRemoved: lamp.off on press']);
  expect([score.killed, score.survivors]).toEqual([1, []]);
});

/** True while a process is there and does something. */
function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test.runIf(existsSync('/proc/self/status')).each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGKILL', null],
] as const)('nothing that they have started is left after %s', async (signal, code) => {
  const pids = join(project.folder, `pids-${signal}`);
  const suite = `${file('lasting.mjs')} ${JSON.stringify(pids)}`;
  const command = start([
    'test',
    join(project.folder, 'lamp.js'),
    '--no-restarts',
    '--suite',
    suite,
  ]);
  const over = ended(command);
  const started = (): number[] =>
    existsSync(pids) ? readFileSync(pids, 'utf8').split(' ').slice(0, -1).map(Number) : [];
  await eventually(() => expect(started()).toHaveLength(2));
  command.kill(signal);
  expect((await over).code).toBe(code);
  await eventually(() => expect(started().filter(lives)).toEqual([]));
});
