/** Pages of failing tests: a vitest file as a newcomer writes it fails, names its page, and leaves it. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Recorded, readLines } from '../../../inspector/recording/recorded.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { compiledProgram } from '../../kit/compiled.ts';
import { ROOT } from '../../project-files.ts';
import { orderMachine } from './inspected.ts';

const folder = join(ROOT, 'test', '.tmp', `failing-${process.pid}`);
/** As it is built, with the page beside it. */
const BUILT = join(dirname(dirname(compiledProgram())), 'simulator', 'testing.js');
const page = join(folder, 'failures', 'order.html');
const kinds = { order: orderMachine };

beforeEach(() => {
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function recordedIn(file: string): Recorded {
  const [, text = ''] =
    /id="escapement-recording">(.*)<\/script>/.exec(readFileSync(file, 'utf8')) ?? [];
  return new Recorded(readLines(JSON.parse(text)));
}

test('a vitest file that fails leaves its page', () => {
  writeFileSync(
    join(folder, 'order.test.ts'),
    `import { expect, test } from 'vitest';
import { testRuntime } from ${JSON.stringify(BUILT)};
import { orderMachine } from '../../inspector/server/inspected.ts';

test('an order is paid for', () =>
  testRuntime({ kinds: { order: orderMachine }, page: 'failures/order.html' }, async (runtime) => {
    const order = await runtime.spawn('order/1');
    await order.send({ type: 'order.add' } as never);
    await runtime.advance('2s');
    await runtime.crash();
    expect(order.getSnapshot().value).toBe('paid');
  }));
`,
  );
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    'export default { test: { include: ["*.test.ts"], environment: "node" }, resolve: { conditions: ["node"] } };',
  );
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const run = spawnSync(process.execPath, [vitest, 'run', '--root', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  const told = run.stdout + run.stderr;
  expect(run.status, told).toBe(1);
  expect(told).toContain("to be 'paid'");
  expect(told).toContain('The run as a page: failures/order.html');
  const recorded = recordedIn(page);
  expect(recorded.failure?.what).toContain("to be 'paid'");
  expect(recorded.failure?.why.map(({ what }) => what)).toContainEqual(
    expect.stringContaining('order/1@test took order.add'),
  );
  expect(recorded.chart('order')?.states.length).toBeGreaterThan(2);
  expect(recorded.actors.get('order/1@test')?.context).toMatchObject({ items: 1 });
  const [life] = recorded.cluster.nodes(recorded.range.to);
  expect(life?.bars.map(({ label }) => label)).toEqual(['life 1', 'life 2']);
});

test('a test that passes has its result, leaves no page and no runtime', async () => {
  let stopped: { spawn(address: 'order/2'): Promise<unknown> } | undefined;
  const result = await testRuntime({ kinds, page }, async (runtime) => {
    stopped = runtime.runtime;
    await runtime.spawn('order/1');
    return runtime.actor('order/1').getSnapshot().value;
  });
  expect(result).toBe('open');
  expect(existsSync(page)).toBe(false);
  await expect(stopped?.spawn('order/2')).rejects.toMatchObject({ code: 'RUNTIME_STOPPED' });
});

test('what a test threw stays what it is where no page can be written', async () => {
  writeFileSync(join(folder, 'failures'), 'a file where the folder should be');
  const thrown = new RangeError('too few');
  const failing = testRuntime({ kinds, page }, () => {
    throw thrown;
  });
  await expect(failing).rejects.toBe(thrown);
  expect(thrown.message).toMatch(/^too few\n\nThe run could not be written as a page: /);
  expect(thrown.stack).toContain('could not be written');
  const word = testRuntime({ kinds, page }, () => {
    throw 'a word';
  });
  await expect(word).rejects.toMatchObject({ cause: 'a word', message: /^a word\n/ });
});

test('a page without a test to write it for is refused', async () => {
  await expect(testRuntime({ kinds, page } as never)).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining('second argument'),
  });
});
