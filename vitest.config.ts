/**
 * How the tests run: in Node, against the sources, with packages resolved as Node
 * resolves them for users. Vitest adds the `development` condition on its own, which
 * would select XState's development build and test something that nobody runs.
 */

import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

export default defineConfig({
  plugins: [resolveLikeNode()],
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['dist/**', 'node_modules/**', 'test/.tmp/**'],
    setupFiles: ['test/unheard-sockets.ts'],
    pool: 'forks',
    maxWorkers: availableParallelism(),
    // They end what hangs. A busy machine is slow, and no test may fail for that.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

function resolveLikeNode(): Plugin {
  return {
    name: 'resolve-like-node',
    configResolved({ ssr, environments }) {
      for (const resolve of [ssr.resolve, environments.ssr?.resolve]) {
        if (resolve) resolve.conditions = ['node'];
      }
    },
  };
}
