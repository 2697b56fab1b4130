/** Whole folders of tests once more, with the frames of their clusters on real sockets, see cluster/socket-network.ts. */

import { readdirSync } from 'node:fs';
import { beforeEach, describe, vi } from 'vitest';

const { ESCAPEMENT_OVER_SOCKETS: asked } = process.env;
/**
 * One test of this number is played. What a machine decides does not depend on what carries its frames, and
 * all of them are tests without sockets as well: ESCAPEMENT_OVER_SOCKETS=all plays every one.
 */
const ONE_IN = asked === 'all' ? 1 : 4;

/**
 * Registers the tests of these files and folders of `test/jobs`. What starts no cluster is the same
 * again, so only what does is worth naming.
 */
export async function repeatOverSockets(...names: readonly string[]): Promise<void> {
  // A file of tests has a process of its own: nobody else sees it.
  vi.stubEnv('ESCAPEMENT_TEST_TRANSPORT', 'websocket');
  for (const name of names)
    for (const file of filesOf(name))
      describe(file.slice(file.lastIndexOf('/') + 1), async () => {
        let number = 0;
        beforeEach(({ skip }) => {
          number += 1;
          if (number % ONE_IN !== 1 % ONE_IN) skip();
        });
        await import(file);
      });
}

function filesOf(name: string): string[] {
  const url = new URL(name, import.meta.url);
  if (name.endsWith('.ts')) return [url.pathname];
  const tests = readdirSync(url).filter((file) => file.endsWith('.test.ts'));
  return tests.sort().map((file) => `${url.pathname}/${file}`);
}
