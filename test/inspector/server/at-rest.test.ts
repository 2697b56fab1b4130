/** Recordings at rest: read back, patched, turned into a test that runs, served, and explained without a node. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyOf } from '../../../inspector/lookup.ts';
import { diff, patched } from '../../../inspector/recording/patch.ts';
import { Recorded, readLines } from '../../../inspector/recording/recorded.ts';
import { recordedLookup } from '../../../inspector/recording/recorded-views.ts';
import { serveLines } from '../../../inspector/resting-inspector.ts';
import { ROOT } from '../../project-files.ts';
import { call, inspected } from './inspected.ts';

test('a patch makes the second value of the first, whatever they are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      expect(patched(before, diff(before, after))).toEqual(after);
    }),
  );
});

test('a recording is explained, browsed and turned into a test that fails as recorded', async () => {
  const node = await inspected({ record: true });
  await node.runtime.spawn('order/1' as never);
  await node.runtime.actor('order/1' as never).send({ type: 'order.add' } as never);
  await node.runtime.actor('order/1' as never).send({ type: 'order.pay' } as never);
  const { text } = await call(node.port, '/api/recording');
  const generated = await call(node.port, '/api/test?address=order/1@node-1');
  await node.close();

  const lines = readLines(text);
  const answer = await whyOf(recordedLookup(new Recorded(lines)), 'order/1@node-1');
  expect(answer?.why).toMatchObject({
    cause: 'completed',
    verdict: expect.stringContaining('order.pay'),
  });
  const listener = await serveLines(lines, 'recording', { port: 0 });
  const port = Number(new URL(listener.url).port);
  const { body: hello } = await call(port, '/api/hello');
  expect(hello).toMatchObject({ source: 'recording', capabilities: { send: { can: false } } });
  const { body: page } = await call(port, '/api/actor?address=order/1@node-1');
  expect(page.actor).toMatchObject({
    state: 'paid',
    context: { value: { items: 1, apiToken: '[redacted]' } },
  });
  const send = { type: 'send', address: 'order/1', event: { type: 'order.add' } };
  expect((await call(port, '/api/command', { body: send })).body.outcome).toBe('refused');
  await listener.close();

  // The generated file is run as it is; only where the machine is has been filled in.
  const folder = join(ROOT, 'test', '.tmp', `copied-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const source = generated.text
      .replace("'escapement/testing'", "'../../../simulator/testing.ts'")
      .replace(
        "import { machine } from './order.ts';",
        "import { orderMachine as machine } from '../../inspector/server/inspected.ts';",
      );
    const run = (content: string) => {
      writeFileSync(join(folder, 'copied.test.ts'), content);
      writeFileSync(
        join(folder, 'vitest.config.ts'),
        'export default { test: { include: ["*.test.ts"], environment: "node" }, resolve: { conditions: ["node"] } };',
      );
      const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
      return spawnSync(process.execPath, [vitest, 'run', '--root', folder], { encoding: 'utf8' });
    };
    const failing = run(source);
    expect(failing.status, failing.stdout + failing.stderr).toBe(1);
    expect(failing.stdout + failing.stderr).toContain('to not deeply equal');
    // With a machine that comes to another end it passes.
    const mended = run(
      source
        .replace(
          '{ "order": machine }',
          '{ "order": machine.provide({ guards: { hasItems: () => false } }) }',
        )
        .replace(
          '{ order: machine }',
          '{ order: machine.provide({ guards: { hasItems: () => false } }) }',
        ),
    );
    expect(mended.status, mended.stdout + mended.stderr).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('what is no recording is refused with what is wrong', () => {
  expect(() => readLines('{}\n')).toThrow('no header');
  expect(() => readLines('{"type":"recording","version":99}')).toThrow('version 99');
  expect(() => readLines('{"type":"recording","version":1}\n{nope')).toThrow('Line 2');
});
