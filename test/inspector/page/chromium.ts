/**
 * Browser of the lane `page`: one Chromium for all of its files, and the page as it is built of these sources.
 *
 * Debian's Chromium is installed by scripts/setup.mjs. Where there is none the tests are skipped and say so, but
 * not with CI=true.
 */

import { dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { compiledProgram } from '../../kit/compiled.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './chromium-path.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser is reached; empty where there is none. */
    readonly browser: string;
    /** Folder of the built page. */
    readonly pageFolder: string;
  }
}

/** A name that is not of this machine, and leads here all the same: what a hostile name server does. */
export const FOREIGN_NAME = 'foreign.test';
const ARGUMENTS = [...CHROMIUM_ARGUMENTS, `--host-resolver-rules=MAP ${FOREIGN_NAME} 127.0.0.1`];

export default async function setup({ provide }: TestProject) {
  provide('pageFolder', join(dirname(dirname(compiledProgram())), 'inspector', 'dist'));
  const executablePath = chromiumPath();
  provide('browser', '');
  if (executablePath === undefined) {
    if (process.env.CI === 'true') throw new Error('Chromium is missing; see scripts/setup.mjs.');
    process.stderr.write('Without Chromium the tests of the page are skipped.\n');
    return undefined;
  }
  const server = await chromium.launchServer({ executablePath, args: ARGUMENTS });
  provide('browser', server.wsEndpoint());
  return () => server.close();
}
