/** Runs the worked example of docs/upgrades.md: its modules, its commands, and the reports it shows. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { testRuntime } from '../../simulator/testing.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { readProjectFile } from '../project-files.ts';
import { ended, start } from './command-line.ts';
import { newFolder } from './stored-orders.ts';

const folder = newFolder();
const blocks = Array.from(
  readProjectFile('docs/upgrades.md').matchAll(
    /^```(?:js (?<file>[\w/-]+\.mjs)|sh|text (?<report>report))\n(?<text>[\s\S]*?)^```$/gm,
  ),
  ({ groups = {} }) => groups,
);

beforeAll(async () => {
  for (const { file, text = '' } of [...blocks].reverse())
    if (file !== undefined) write(file, text);
  const { kinds } = (await import(/* @vite-ignore */ join(folder, 'old/kinds.mjs'))) as {
    kinds: Record<string, AnyStateMachine>;
  };
  const store = lmdbStore(join(folder, 'data'));
  const runtime = await testRuntime({ kinds, store, node: 'shop-1' });
  for (const key of [1, 2, 3, 4]) {
    const order = await runtime.spawn(`order/${key}`, { input: { total: 99 } } as never);
    if (key === 4) await order.send({ type: 'order.paid' } as never);
  }
  await runtime.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

test('the commands of the worked example print what the page shows', async () => {
  let command: string | undefined;
  const verdicts: string[] = [];
  for (const { file, report, text = '' } of blocks) {
    if (file !== undefined) write(file, text);
    else if (report === undefined) command = text.trim();
    else {
      const [npx, name, ...args] = (command ?? '').split(' ');
      expect([npx, name]).toEqual(['npx', 'escapement']);
      const inFolder = args.map((arg) => (/[/]/.test(arg) ? join(folder, arg) : arg));
      const { code, out } = await ended(start(inFolder));
      expect(out).toBe(text);
      verdicts.push(`${text.split(':')[0]} ${code}`);
    }
  }
  expect(verdicts).toEqual(['BREAKS 1', 'HOLDS 0']);
});
