/**
 * `npm run bench`: runs suites of measurements and prints what came out.
 *
 * Standard output has the result and nothing else; progress goes to standard error, when
 * somebody is there to read it or asks for it. Each field is measured in a process of its own, started
 * here, one after the other.
 */

import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { compile } from './compiled.ts';
import { jsonOf, type Outcome, tableOf } from './report.ts';
import type { Field, Measured, PartName, Parts, SizeName, Sizes, Suite } from './suite.ts';
import { SUITES } from './suites.ts';

const EXIT_USAGE = 64;
const DEFAULT_ROUNDS = 7;
const PARTS: readonly PartName[] = ['machine', 'contender'];
const SIZES: readonly SizeName[] = ['held', 'jobs', 'workflows'];

interface Request {
  readonly suites: ReadonlyArray<{ readonly suite: Suite; readonly fields: readonly Field[] }>;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly sizes: Sizes;
  readonly parts: Parts;
  readonly isJson: boolean;
  readonly isNamed: boolean;
  /** Progress is written. */
  readonly isTold: boolean;
}

/** Somebody asked for what there is not. */
class UsageError extends Error {}

try {
  await run(readRequest(process.argv.slice(2)));
} catch (thrown) {
  if (!(thrown instanceof UsageError)) throw thrown;
  process.stderr.write(`${thrown.message}\n\n${usage()}`);
  process.exitCode = EXIT_USAGE;
}

async function run(request: Request): Promise<void> {
  const { suites, isJson, isNamed, isTold } = request;
  const program = compile();
  const objects: Record<string, unknown> = {};
  for (const { suite, fields } of suites) {
    const outcomes: Outcome[] = [];
    for (const field of fields) {
      if (isTold) process.stderr.write(`${suite.name}: ${field.name}\n`);
      field.prepare?.();
      outcomes.push({ field, measured: await measure(program, suite, field, request) });
    }
    if (isJson) objects[suite.name] = jsonOf(suite, outcomes, request);
    else process.stdout.write(`${tableOf(suite, outcomes, request)}\n`);
  }
  if (!isJson) return;
  const only = isNamed && suites.length === 1 ? suites[0]?.suite.name : undefined;
  const object = only === undefined ? { suites: objects } : objects[only];
  process.stdout.write(`${JSON.stringify(object, null, 2)}\n`);
}

/** Starts a process for the field, so that no field feels what another one left behind. */
function measure(program: string, suite: Suite, field: Field, request: Request): Promise<Measured> {
  const { rounds, isQuick, sizes, parts, isTold } = request;
  const options = JSON.stringify({ rounds, isQuick, sizes, parts });
  const args = ['--expose-gc', program, suite.name, field.name, options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    let output = '';
    let problems = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (isTold) process.stderr.write(text);
      problems = (problems + text).slice(-4_000);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Measured);
      else reject(new Error(`${field.name} failed (exit ${code}):\n${problems}`));
    });
  });
}

function readRequest(args: readonly string[]): Request {
  const { values, positionals } = parsed(args);
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS);
  if (!Number.isSafeInteger(rounds) || rounds < 1)
    throw new UsageError(`--rounds needs a positive whole number, got ${values.rounds}.`);
  const unknown = positionals.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown !== undefined) throw new UsageError(`There is no suite "${unknown}".`);
  const wanted = values.only ?? [];
  const suites = SUITES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .map((suite) => ({ suite, fields: suite.fields.filter((field) => isWanted(field, wanted)) }))
    .filter(({ fields }) => fields.length > 0);
  const missing = wanted.find(
    (name) => !suites.some(({ fields }) => fields.some((field) => isWanted(field, [name]))),
  );
  if (missing !== undefined) throw new UsageError(`There is no field "${missing}".`);
  return {
    suites,
    rounds,
    isQuick: values.quick === true,
    sizes: sizesIn(values),
    parts: Object.fromEntries(
      PARTS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
    ),
    isJson: values.json === true,
    isNamed: positionals.length > 0,
    isTold: process.stderr.isTTY || values.progress === true,
  };
}

function sizesIn(values: Readonly<Record<string, unknown>>): Sizes {
  const given = SIZES.filter((name) => values[name] !== undefined);
  return Object.fromEntries(
    given.map((name) => {
      const size = Number(values[name]);
      if (Number.isSafeInteger(size) && size > 0) return [name, size];
      throw new UsageError(`--${name} needs a positive whole number, got ${values[name]}.`);
    }),
  );
}

/** A field is measured when one of its figures is asked for. */
function isWanted(field: Field, wanted: readonly string[]): boolean {
  const names = namesOf(field);
  return wanted.length === 0 || wanted.some((name) => names.includes(name));
}

function namesOf({ name, others = [] }: Field): string[] {
  return [name, ...others.map((figure) => figure.name)];
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        quick: { type: 'boolean' },
        progress: { type: 'boolean' },
        rounds: { type: 'string' },
        only: { type: 'string', multiple: true },
        held: { type: 'string' },
        jobs: { type: 'string' },
        workflows: { type: 'string' },
        machine: { type: 'string', multiple: true },
        contender: { type: 'string', multiple: true },
      },
    });
  } catch (thrown) {
    throw new UsageError((thrown as Error).message);
  }
}

function usage(): string {
  const lines = SUITES.flatMap(({ name, about, fields }) => [
    `  ${name.padEnd(12)}${about}`,
    ...fields
      .flatMap((field) => [field, ...(field.others ?? [])])
      .map((figure) => `      ${figure.name.padEnd(26)}${figure.about}`),
  ]);
  return `Usage: npm run bench [-- SUITE… [--json] [--rounds N] [--only FIELD]… [--quick] [--progress] [sizes]]

Without a suite all of them run:
${lines.join('\n')}

  --json      one JSON object on standard output; run npm with --silent
  --rounds N  rounds per case, ${DEFAULT_ROUNDS} unless told; fewer than 5 are not reported
  --only      this field alone; may be repeated
  --quick     scaled down, for development; not reported
  --progress  progress on standard error, also where that is no terminal
  --held N, --jobs N, --workflows N
              jobs or agents at work, jobs of a sample, workflows of a job, in place of a field's own; not reported
  --machine NAME, --contender NAME
              these alone of the suite model-tests; may be repeated; not reported
`;
}
