/**
 * The package as its users get it: every entry can be imported and required, has types, and
 * does what it is for; the command line runs.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../http/served.ts';
import { ROOT, readProjectFile } from '../project-files.ts';
import { InstalledPackage, type Printed } from './installed-package.ts';
import { describeOtherXState } from './other-xstate.ts';

/** What each entry must have, as users write it; one that is not listed here fails the first test. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  escapement: ['createRuntime', 'directoryLease', 'lmdbStore', 'RuntimeError'],
  'escapement/agents': ['runAgents'],
  'escapement/http': ['createHttpHandler', 'createHttpServer', 'serverLimits'],
  'escapement/inspector': ['inspectorHandler', 'serveInspector'],
  'escapement/jobs': ['connectClient', 'startGate', 'startManager', 'startWorker'],
  'escapement/mapreduce': ['runMapReduce', 'WorkflowError'],
  'escapement/machine': ['to', 'reply', 'spawnRoot'],
  'escapement/machines': ['gateJobMachine', 'jobMachine', 'reminderMachine', 'workflowMachine'],
  'escapement/simulator': ['NEMESES', 'invariant', 'simulate'],
  'escapement/stores': ['directoryLease', 'lmdbStore', 'memoryLeaseStore', 'memoryStore'],
  'escapement/telemetry': ['prometheusText'],
  'escapement/testing': ['testRuntime'],
  'escapement/transports': ['inProcessNetwork'],
};

let installed: InstalledPackage;

beforeAll(async () => {
  installed = await InstalledPackage.install();
});
afterAll(() => installed?.remove());

test('every entry of package.json is looked at here', () => {
  const { exports } = JSON.parse(readProjectFile('package.json'));
  const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
  const names = entries.map((entry) => entry.replace(/^\./, 'escapement'));
  expect(names.sort()).toEqual(Object.keys(ENTRIES).sort());
});

/** The compiler would find types beside the code even where `types` points to nothing. */
test('every file that package.json names is there', () => {
  const { exports, bin } = JSON.parse(readProjectFile('package.json'));
  const named = [...Object.values(exports), bin].flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target as Record<string, string>),
  );
  expect(named.filter((path) => !existsSync(installed.file(path)))).toEqual([]);
});

/** The same program in both worlds; only how it gets its modules differs. */
function durableProgram(load: 'import' | 'require'): string {
  const loaded = load === 'import' ? 'await import' : 'require';
  return `
async function main() {
  const entries = {};
  for (const name of ${JSON.stringify(Object.keys(ENTRIES))})
    entries[name] = Object.keys(${loaded}(name));
  const { createRuntime, lmdbStore } = ${loaded}('escapement');
  const { testRuntime } = ${loaded}('escapement/testing');
  const { setup } = ${loaded}('xstate');
  const order = setup({ delays: { limit: 900_000 } }).createMachine({
    initial: 'open',
    states: { open: { on: { 'order.paid': 'paid' }, after: { limit: 'expired' } }, paid: {}, expired: {} },
  });
  const start = () => createRuntime({ store: lmdbStore('data'), kinds: { order } });

  const first = await start();
  await (await first.spawn('order/${load}')).send({ type: 'order.paid' });
  await first.stop();
  const second = await start();
  const known = second.query({ kind: 'order', state: 'paid' }).actors.map(({ address }) => address);
  const { value } = second.actor('order/${load}').getSnapshot();
  await second.stop();

  const virtual = await testRuntime({ kinds: { order } });
  const waiting = await virtual.spawn('order/1');
  await virtual.advance('15m');
  const expired = waiting.getSnapshot().value;
  await virtual.stop();
  console.log(JSON.stringify({ entries, known, value, expired }));
}
main();
`;
}

interface Outcome {
  readonly entries: Readonly<Record<string, readonly string[]>>;
  readonly known: readonly string[];
  readonly value: string;
  readonly expired: string;
}

async function outcomeOf(name: string, program: string): Promise<Outcome> {
  const { stdout } = await installed.run(process.execPath, installed.write(name, program));
  return JSON.parse(stdout);
}

describe('a program', () => {
  test('of modules and one of CommonJS find what the other stored', async () => {
    const imported = await outcomeOf('program.mjs', durableProgram('import'));
    expect(imported).toMatchObject({ value: 'paid', expired: 'expired' });
    expect(imported.known).toEqual(['order/import@node-1']);

    const required = await outcomeOf('program.cjs', durableProgram('require'));
    expect(required).toMatchObject({ value: 'paid', expired: 'expired' });
    expect(required.known).toEqual(['order/import@node-1', 'order/require@node-1']);

    for (const { entries } of [imported, required])
      for (const [entry, names] of Object.entries(ENTRIES))
        expect(entries[entry], entry).toEqual(expect.arrayContaining([...names]));
  });

  /** `require` refuses a module when anything it imports awaits at the top level. */
  test('may require all files but programs, and those of the page', async () => {
    const program = `
const { readdirSync } = require('node:fs');
const { join } = require('node:path');
const dist = join(process.argv[2], 'dist');
const files = readdirSync(dist, { recursive: true })
  .filter((path) => path.endsWith('.js') && !path.startsWith(join('inspector', 'page')));
const refused = [];
for (const path of files) {
  if ([join('cli', 'main.js'), join('cli', 'machine-tests', 'mutating.js')].includes(path)) continue;
  try { require(join(dist, path)); } catch (thrown) { refused.push(path + ': ' + thrown.message); }
}
console.log(JSON.stringify({ files: files.length, refused }));
`;
    const path = installed.write('require-all.cjs', program);
    const { stdout } = await installed.run(process.execPath, path, installed.file(''));
    const { files, refused } = JSON.parse(stdout);
    expect(refused).toEqual([]);
    expect(files).toBeGreaterThan(100);
  });
});

describe('a project with another version of xstate', () => {
  describeOtherXState(() => installed);
});

test('every source that a map of the package points to is in it', () => {
  const dist = installed.file('dist');
  const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.map'),
  );
  const missing = maps.filter((path) => {
    const { sources } = JSON.parse(readFileSync(join(dist, path), 'utf8'));
    return !sources.every((source: string) => existsSync(join(dist, dirname(path), source)));
  });
  expect(missing).toEqual([]);
  expect(maps.length).toBeGreaterThan(100);
});

describe('the types', () => {
  const program = `
import { createRuntime, type Runtime } from 'escapement';
import { connectClient, type Handler, startManager, startWorker } from 'escapement/jobs';
import type { Timed } from 'escapement/machine';
import { jobMachine } from 'escapement/machines';
import { directoryLease, lmdbStore, type Store } from 'escapement/stores';
import { prometheusText } from 'escapement/telemetry';
import { testRuntime } from 'escapement/testing';
import { inProcessNetwork, type Transport } from 'escapement/transports';
import { setup } from 'xstate';

const order = setup({ types: { events: {} as Timed<{ type: 'order.paid'; by: string }> } }).createMachine({});
const store: Store = lmdbStore('data', { historyMax: 10 });
const transport: Transport = inProcessNetwork().join('node-1');
export async function run(): Promise<Runtime<{ order: typeof order }>> {
  const runtime = await createRuntime({ store, transport, lease: directoryLease('data'), kinds: { order } });
  await runtime.actor('order/1').send({ type: 'order.paid', by: 'ada' });
  // @ts-expect-error: the machine knows no such event.
  await runtime.actor('order/1').send({ type: 'order.lost' });
  prometheusText(runtime);
  void testRuntime;
  return runtime;
}

const hello: Handler = async ({ payload, progress }) => {
  progress({ completedItems: 1, totalItems: 2 });
  // @ts-expect-error: progress is a number or items.
  progress('half');
  return payload;
};
export async function runJob(): Promise<string> {
  const network = inProcessNetwork();
  await startManager({ datacenter: 'A', transport: network.join('A.manager-1') });
  await startWorker({ worker: 'w', datacenter: 'A', cores: 1, handlers: { hello }, transport: network.join('w') });
  const client = await connectClient({ to: 'A', client: 'c', transport: network.join('c') });
  await client.submit({ timeoutMs: 1_000, workflows: [{ id: 'one', handler: 'hello' }] });
  // @ts-expect-error: a job has a time budget.
  void client.submit({ workflows: [] });
  return jobMachine.id;
}
`;

  const settings = {
    nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  };

  for (const [name, options] of Object.entries(settings)) {
    test(`are found with ${name}, and hold`, async () => {
      installed.write('types.ts', program);
      // What a CommonJS project sees; only Node's own resolution tells the two apart.
      if (name === 'nodenext') installed.write('types.cts', program);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2023',
        lib: ['es2023'],
        // As everybody has them who writes for Node.
        typeRoots: [join(ROOT, 'node_modules', '@types')],
        types: ['node'],
        ...options,
      };
      const include = ['types.*'];
      const tsconfig = JSON.stringify({ compilerOptions, include });
      const path = installed.write(`tsconfig.${name}.json`, tsconfig);
      const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
      const compiled = await installed.run(process.execPath, compiler, '-p', path).catch(failed);
      expect(compiled.stdout + compiled.stderr).toBe('');
    });
  }
});

describe('the command line', () => {
  const main = () => installed.file('dist/cli/main.js');

  test('runs with npx in a project that has nothing else', async () => {
    const { stdout } = await installed.run('npx', '--no', 'escapement', 'version', '--json');
    const { version } = JSON.parse(readProjectFile('package.json'));
    expect(JSON.parse(stdout)).toMatchObject({
      escapement: version,
      node: process.versions.node,
      lmdb: expect.stringMatching(/^\d+\./),
    });
  });

  test('submits and watches a job with npx, in that project', async () => {
    const served = await serve();
    try {
      const { url } = served.atGate;
      const job = installed.write(
        'job.yml',
        'timeout: 1m\nworkflows: [{ id: w, handler: echo }]\n',
      );
      const npx = (...args: string[]) =>
        installed.run('npx', '--no', 'escapement', ...args, '--url', url);
      const submitted = await npx('submit', '--file', job, '--id', 'packed', '--watch');
      expect(submitted.stdout).toContain('job packed: completed\n');
      const { stdout } = await npx('jobs', '--status', 'completed', '--json');
      expect(JSON.parse(stdout).jobs).toMatchObject([{ jobId: 'packed' }]);
      const missing = await npx('show', 'nosuch').then(() => expect.fail('It was there.'), failed);
      expect(missing.code).toBe(1);
    } finally {
      await served.stop();
    }
  });

  test('is a program, with a source map that points to the right line', () => {
    expect(readFileSync(main(), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(main()).mode & 0o111).toBe(0o111);
    const { mappings } = JSON.parse(readFileSync(`${main()}.map`, 'utf8'));
    expect(mappings).toMatch(/^;/);
    expect(mappings.split(';').length).toBeLessThanOrEqual(
      readFileSync(main(), 'utf8').split('\n').length,
    );
  });

  test('says to compile a TypeScript module where Node does not run it', async () => {
    const kinds = installed.write('kinds.ts', 'export const kinds: object = {};\n');
    const args = ['check-upgrade', '-', kinds, '--data', 'nowhere'];
    const run = installed.run(process.execPath, main(), ...args);
    const ended = await run.then(() => expect.fail('It ended with 0.'), failed);
    expect(ended.code).toBe(65);
    const { typescript } = process.features as { typescript?: unknown };
    const isRun = typescript !== undefined && typescript !== false;
    expect(ended.stderr).toContain(isRun ? 'must export "kinds"' : 'Compile the module');
    expect(existsSync(join(installed.project, 'nowhere'))).toBe(false);
  });
});

/** What a program that failed printed, and its exit code. */
function failed(thrown: unknown): Printed & { readonly code: number } {
  return thrown as Printed & { readonly code: number };
}
