/**
 * A project with the package installed and a version of xstate that does not run, and what it is told.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { InstalledPackage } from './installed-package.ts';

export function describeOtherXState(installed: () => InstalledPackage): void {
  /** `createActor` is all that versions 5 and 6 have in common of what the engine uses. */
  const others = {
    '5.20.2': "module.exports = require('xstate-as-installed');",
    '6.0.0-alpha.52': 'exports.createActor = () => {}; exports.createMachine = () => {};',
    '4.38.3': 'exports.createMachine = () => {};',
  };
  const program = `
import { createRuntime } from 'escapement';
import { testRuntime } from 'escapement/testing';
for (const start of [createRuntime, () => testRuntime({ kinds: {} })])
  try {
    await start();
  } catch ({ name, code, message }) {
    console.log(JSON.stringify({ name, code, message }));
  }
`;
  const folder = () => join(installed().project, 'node_modules', 'xstate');
  const aside = () => join(installed().project, 'node_modules', 'xstate-as-installed');

  for (const [version, text] of Object.entries(others))
    test(`is told so at the start: ${version}`, async () => {
      renameSync(folder(), aside());
      try {
        mkdirSync(folder());
        const about = { name: 'xstate', version, main: 'main.js' };
        writeFileSync(join(folder(), 'package.json'), JSON.stringify(about));
        writeFileSync(join(folder(), 'main.js'), text);
        const path = installed().write('another-xstate.mjs', program);
        const { stdout } = await installed().run(process.execPath, path);
        const told = stdout.trim().split('\n');
        expect(told).toHaveLength(2);
        for (const line of told)
          expect(JSON.parse(line)).toEqual({
            name: 'RuntimeError',
            code: 'XSTATE_UNSUPPORTED',
            message: expect.stringMatching(
              `^xstate "${version}" is installed, .* Run "npm install xstate@5`,
            ),
          });
      } finally {
        rmSync(folder(), { recursive: true, force: true });
        renameSync(aside(), folder());
      }
    });
}
