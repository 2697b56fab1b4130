/** The examples as they are installed: each runs from where npm has put it, by the package beside it. */

import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../project-files.ts';
import { InstalledPackage } from './installed-package.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await InstalledPackage.install();
  // Anybody who tries one has what it is written for, and tsx where it is TypeScript.
  for (const name of ['tsx', 'express', 'fastify'])
    symlinkSync(join(ROOT, 'node_modules', name), join(installed.project, 'node_modules', name));
});
afterAll(() => installed?.remove());
const examples = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'));
const example = (name: string) => installed.file(join('examples', name));
const typeScript = ['--import', 'tsx'];

// It serves until it is told to stop.
const serving = 'http-server.ts';
test.each(examples.filter((name) => name !== serving))(
  '%s runs where it was installed',
  async (name) => {
    const ran = await installed.run(process.execPath, ...typeScript, example(name));
    expect(ran.stderr).toBe('');
    expect(ran.stdout).not.toBe('');
  },
);

test(`${serving} can be loaded there`, async () => {
  const program = `
const { createShopServer } = await import(${JSON.stringify(example(serving))});
console.log(typeof createShopServer);`;
  const path = installed.write('serving.mjs', program);
  const { stdout } = await installed.run(process.execPath, ...typeScript, path);
  expect(stdout).toBe('function\n');
});

test('own-kinds runs there as a node, which ends with its parent', async () => {
  const args = ['--data', 'memory', '--listen', '127.0.0.1:0', '--json', '--exit-with-parent'];
  const line = `npx --no escapement start node --kinds ${example('own-kinds/machines.js')} ${args.join(' ')}`;
  const { stdout } = await installed.run('sh', '-c', `${line} < /dev/null`);
  const lines = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'node.kinds', kinds: ['order', 'stock'] }),
  );
  expect(lines.at(-1)).toMatchObject({ event: 'node.stopped' });
});
