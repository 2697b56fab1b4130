/** Modules that nobody should write: `test` and `lint` say what is wrong with them, and end. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, escapement, start } from './command-line.ts';
import { OwnProject } from './own-project.ts';

const machine = (name: string, definition: string): string =>
  `export const ${name} = setup({}).createMachine({ id: '${name}', ${definition} });`;
const LAMP = machine(
  'lamp',
  `initial: 'off', states: { off: { on: { press: 'on' } }, on: { on: { press: 'off' } } }`,
);
const ASKING = `initial: 'asking', states: {
  asking: { invoke: { src: fromCallback(({ sendBack }) => {
    const timer = setInterval(() => sendBack({ type: 'tick' }), 1);
    return () => clearInterval(timer);
  }), onDone: 'over', onError: 'over' }, on: { tick: 'ticked' } },
  ticked: {}, over: {},
}`;

const MODULES: Readonly<Record<string, string>> = {
  'ten.js': Array.from({ length: 10 }, (_, index) =>
    machine(`lamp${index}`, `initial: 'off', states: { off: {} }`),
  ).join('\n'),
  'noisy.js': `console.error('hello from the module'); setInterval(() => {}, 10); globalThis.seen = 1;\n${LAMP}`,
  'leaving.js': `process.exit(0);\n${LAMP}`,
  'looping.js': `while (true) {}\n${LAMP}`,
  'looping-action.js': machine(
    'lamp',
    `initial: 'off', states: { off: { on: { press: { target: 'off', actions: assign(() => { while (true) {} }) } } } }`,
  ),
  'endless-timers.js': machine(
    'lamp',
    `initial: 'off', context: { n: 0 }, states: { off: { after: { 0: { target: 'off', reenter: true, actions: assign({ n: ({ context }) => context.n + 1 }) } } } }`,
  ),
  'ticking.js': machine(
    'lamp',
    `initial: 'off', states: { off: { after: { 1: 'on' } }, on: { after: { 1: 'off' } } }`,
  ),
  'growing.js': machine(
    'lamp',
    `context: { all: [] }, on: { add: { actions: assign({ all: ({ context }) => [...context.all, context.all.length] }) } }`,
  ),
  'callback.js': machine('lamp', ASKING),
};

let project: OwnProject;
const at = (name: string): string => join(project.folder, name);

beforeAll(async () => {
  project = await OwnProject.create();
  project.write('package.json', '{ "type": "module" }');
  const imports = `import { assign, fromCallback, setup } from 'xstate';`;
  for (const [name, text] of Object.entries(MODULES))
    project.write(
      name,
      `${name === 'leaving.js' || name === 'looping.js' ? '' : imports}\n${text}`,
    );
});
afterAll(() => project.remove());

const tested = (name: string) =>
  escapement(['test', at(name), '--out', at(`${name}-failures`), '--steps', '80']);

describe('in this process', () => {
  test('ten machines are named, and one is asked for', async () => {
    const refused = await tested('ten.js');
    expect(refused.code).toBe(64);
    expect(refused.err).toContain('lamp0, lamp1');
    expect(
      (await escapement(['test', at('ten.js'), '--machine', 'lamp7', '--steps', '5'])).code,
    ).toBe(0);
  });

  test('deadlines that are due at once again and again are reported', async () => {
    const failed = await tested('endless-timers.js');
    expect(failed.code).toBe(65);
    expect(failed.err).toContain('throws as it is spawned');
  });

  test.each(['ticking.js', 'growing.js'])('%s never ends, and its tests do', async (name) => {
    expect((await tested(name)).code).toBe(0);
  });

  test('what a callback would send is an event like others', async () => {
    const done = await escapement([
      ...['test', at('callback.js'), '--coverage', '--json', '--out', at('callback')],
    ]);
    expect(done.code, done.out).toBe(0);
    expect(JSON.parse(done.out).coverage.transitions.missing).toEqual([]);
  });
});

describe('in a process of its own', () => {
  const run = (command: string, name: string) =>
    ended(
      start([command, at(name), '--steps', '80'].slice(0, command === 'lint' ? 2 : 4), {
        ESCAPEMENT_PATIENCE_MS: name.startsWith('looping') ? '3000' : '600000',
      }),
    );

  test('a module that prints, sets timers and leaves globals behind is tested all the same', async () => {
    const done = await run('test', 'noisy.js');
    expect(done.code, done.err).toBe(0);
    expect(done.err).toContain('hello from the module');
  });

  test.each(['test', 'lint'])('a module that ends the process ends %s with 65', async (command) => {
    const refused = await run(command, 'leaving.js');
    expect(refused.code).toBe(65);
    expect(refused.err).toContain('the module ends it');
  });

  test.each(['looping.js', 'looping-action.js'])('%s ends with 65', async (name) => {
    const refused = await run('test', name);
    expect(refused.code).toBe(65);
    expect(refused.err).toContain('loops for ever');
  });
});
