/**
 * The imports suite: milliseconds that an import of each entry of the package takes, xstate's own left out.
 *
 * The package is built as `npm run build` builds it. Every import happens in a process of its own that
 * does nothing else, from just before the import until it is done. A sample is the least of three such
 * processes, since whatever else runs on the machine can only add to it.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Case, interleave, median, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Figure, Measured, MeasureOptions, Suite } from './suite.ts';

const PROCESSES = 3;
const FOLDER = join('node_modules', '.cache', 'escapement-imports');

/** Entries by the name of their figure: what users write behind `escapement`. */
const GOALS: ReadonlyArray<readonly [name: string, goal?: number]> = [
  ['root', 40],
  ['machine', 10],
  ['testing', 90],
  ['transports', 90],
  ['jobs', 200],
  ['simulator', 250],
  ['stores'],
  ['machines'],
  ['http'],
  ['telemetry'],
];

const FIGURES: readonly Figure[] = GOALS.map(([name, goal]) => ({
  name,
  about: `ms to import escapement${name === 'root' ? '' : `/${name}`}, without those of xstate`,
  better: 'lower',
  ...(goal !== undefined && { goal }),
}));
const [root, ...others] = FIGURES as readonly [Figure, ...Figure[]];
const field: Field = { ...root, others, prepare, measure };

export const imports: Suite = {
  name: 'imports',
  about: 'what it costs to import the package, as built',
  fields: [field],
};

function prepare(): void {
  mkdirSync(FOLDER, { recursive: true });
  const { status, stderr } = spawnSync(
    process.execPath,
    [join('scripts', 'build.mjs'), join(process.cwd(), FOLDER)],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The package cannot be built:\n${stderr}`);
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const cases: Case[] = [{ name: 'xstate', run: () => leastOf('xstate') }];
  for (const { name } of FIGURES) cases.push({ name, run: () => leastOf(builtFile(name)) });
  const raw = await interleave(cases, options);
  const xstate = median(raw.xstate ?? []);
  const measured = (name: string) => {
    const samples = (raw[name] ?? []).map((ms) => ms - xstate);
    return {
      value: rounded(median(samples)),
      range: rangeOf(samples),
      rounds: samples.length,
    };
  };
  return {
    ...measured(root.name),
    others: Object.fromEntries(others.map(({ name }) => [name, measured(name)])),
    details: { xstateMs: summary(raw.xstate ?? []), processesPerSample: PROCESSES },
    raw,
  };
}

/** The file that package.json names, where `prepare` has built it. */
function builtFile(name: string): string {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const path: string = exports[name === 'root' ? '.' : `./${name}`].default;
  return pathToFileURL(join(process.cwd(), path.replace('./dist', FOLDER))).href;
}

function leastOf(specifier: string): number {
  const program = `const begin = performance.now();
await import(${JSON.stringify(specifier)});
process.stdout.write(String(performance.now() - begin));`;
  const samples = Array.from({ length: PROCESSES }, () => {
    const args = ['--input-type=module', '--eval', program];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${specifier} cannot be imported:\n${stderr}`);
    return Number(stdout);
  });
  return Math.min(...samples);
}
