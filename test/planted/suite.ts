/** A test file as the finder of a plant: it passes on the sources as they are, and fails with the plant. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Suites that were played on the sources as they are, by folder and suite: once for all their plants. */
const onClean = new Map<string, Promise<boolean>>();

export async function isFoundBySuite(
  suite: string,
  { clean, planted }: { readonly clean: string; readonly planted: string },
): Promise<boolean> {
  const key = `${clean} ${suite}`;
  const isClean = onClean.get(key) ?? passes(suite, clean);
  onClean.set(key, isClean);
  if (!(await isClean)) throw new Error(`${suite} fails without any plant.`);
  return !(await passes(suite, planted));
}

function passes(suite: string, folder: string): Promise<boolean> {
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', suite], { cwd: folder, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
}
