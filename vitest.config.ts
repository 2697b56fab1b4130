/**
 * Settings of the tests: they run in Node, against the sources, with packages resolved as Node
 * resolves them for users. Vitest adds the `development` condition on its own, which
 * would select XState's development build and test something that nobody runs.
 *
 * `npm test` runs all of them, `npm test -- --project unit` one lane: what a file does says in which
 * folder it lies, and the folder says the lane. test/lanes.test.ts finds every file in exactly one.
 *
 * ESCAPEMENT_TEST_XSTATE=folder runs them on another copy of XState: see scripts/test-xstate.mjs.
 */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const { ESCAPEMENT_TEST_XSTATE: otherXState } = process.env;

/** One process, no socket, a moment: no seeds, no exhaustive scopes. */
const UNIT = [
  'test/*.test.ts',
  'test/{delivery,docs,engine,machines,rehearsal,statechart,telemetry,testing}/*.test.ts',
  'test/{inspector/drawing,jobs/machines,mapreduce/machines,agents/machines,simulator/invariants}/*.test.ts',
];

/** Without isolation the files of a lane share what they import: they leave nothing behind that another would notice. */
const LANES = {
  unit: { include: UNIT, isolate: false },
  // What adapters of the ports and the HTTP API promise, on real disks and sockets.
  contracts: {
    include: [
      'test/{contracts,http,inspector/server,stores,transports}/**/*.test.ts',
      'test/jobs/over-websocket-*.test.ts',
    ],
  },
  // Whole clusters in simulated time, and cases by the hundred: scenarios, seeds, exhaustive scopes.
  cluster: {
    include: [
      'test/{conformance,jobs,simulator}/**/*.test.ts',
      'test/{delivery,rehearsal,statechart}/seeds/*.test.ts',
      'test/testing/own/*.test.ts',
    ],
    exclude: [...UNIT, 'test/jobs/over-websocket-*.test.ts'],
    isolate: false,
  },
  // The inspector's page in a real Chromium, against real nodes.
  page: {
    include: ['test/inspector/page/*.test.ts'],
    globalSetup: ['test/inspector/page/chromium.ts'],
    isolate: false,
  },
  // Commands, crashes, durability, load, and the package as it is installed and documented.
  process: {
    include: [
      'test/{cli,crash,demo,durability,fuzz,overload,package,processes}/**/*.test.ts',
      'test/{agents,mapreduce}/runs/*.test.ts',
    ],
  },
};

export default defineConfig({
  plugins: [resolveLikeNode(), ...(otherXState === undefined ? [] : [resolveXState(otherXState)])],
  test: {
    environment: 'node',
    projects: Object.entries(LANES).map(([name, files]) => ({
      extends: true,
      test: { name, ...files },
    })),
    setupFiles: ['test/unheard-sockets.ts'],
    pool: 'forks',
    // Two more than there are processors: many tests wait, for a process, a disk or a deadline.
    maxWorkers: availableParallelism() + 2,
    // They end what hangs, and no test has one of its own: a busy machine is slow, and none may fail for that.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Asked for by `--coverage`: the product alone, by what its own process ran.
    coverage: {
      provider: 'v8',
      include: [
        '*.ts',
        '{cli,http,inspector,machines,programs,reading,runtime}/**/*.ts',
        '{simulator,stores,telemetry,testing,transports}/**/*.ts',
      ],
      exclude: ['*.config.ts', 'inspector/page/**'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'test/.tmp/coverage',
    },
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

function resolveXState(folder: string): Plugin {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return {
    name: 'resolve-xstate',
    enforce: 'pre',
    resolveId(source) {
      if (source !== 'xstate' && !source.startsWith('xstate/')) return undefined;
      return join(folder, exports[source.replace('xstate', '.')].import);
    },
  };
}
