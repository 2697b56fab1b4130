/**
 * Plays scenarios and plans of chance on real processes, and compares with the simulator.
 *
 *   npx tsx test/processes/main.ts [NAME ...] [--short]     scenarios of test/conformance; default: all that fit
 *   npx tsx test/processes/main.ts --random N [--seed S]    this many plans of chance
 *
 * Both take --at-once N (default 3), --json, and --program FILE for another compiled command line.
 * Exit codes: 0 all agreed, 1 one did not, 64 wrong usage.
 */

import { parseArgs } from 'node:util';
import { messageOf } from '../../runtime/base/errors.ts';
import { readScenario } from './conformance.ts';
import { playOnProcesses } from './play.ts';
import { playRandom, preparePlans } from './random-play.ts';
import { LEFT_OUT, PLAYED } from './scenarios.ts';
import { simulate } from './simulated.ts';

const EXIT_BROKEN = 1;
const EXIT_USAGE = 64;
const COUNT_MAX = 100_000;

interface Flags {
  readonly names: readonly string[];
  readonly isShort: boolean;
  readonly random: number;
  readonly seed: number;
  readonly atOnce: number;
  readonly isJson: boolean;
  readonly program: string | undefined;
}

/** What came of one. */
interface Line {
  readonly name: string;
  readonly agrees: boolean;
  readonly seconds: number;
  readonly wrong: readonly string[];
  /** Of a plan of chance: outcomes that had to be so, that were among several, and new ones. */
  readonly decided?: number;
  readonly among?: number;
  readonly unseen?: readonly string[];
}

interface Task {
  readonly name: string;
  run(): Promise<Omit<Line, 'name' | 'agrees'>>;
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let flags: Flags;
  try {
    flags = readFlags(argv);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\n`);
    return EXIT_USAGE;
  }
  const tasks = flags.random > 0 ? await randomTasks(flags) : await scenarioTasks(flags);
  const lines: Line[] = [];
  const work = async (): Promise<void> => {
    for (let next = tasks.shift(); next !== undefined; next = tasks.shift()) {
      const line = await carriedOut(next);
      lines.push(line);
      if (!flags.isJson) process.stdout.write(describe(line));
    }
  };
  await Promise.all(Array.from({ length: flags.atOnce }, work));
  const agreed = lines.filter(({ agrees }) => agrees).length;
  if (flags.isJson)
    process.stdout.write(`${JSON.stringify({ played: lines.length, agreed, lines })}\n`);
  else process.stdout.write(`${agreed} of ${lines.length} agree with the simulator.\n`);
  return agreed === lines.length ? 0 : EXIT_BROKEN;
}

function readFlags(argv: readonly string[]): Flags {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      random: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      'at-once': { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
      program: { type: 'string' },
    },
  });
  for (const name of positionals)
    if (!PLAYED.some(({ file }) => file.startsWith(name)))
      throw new Error(LEFT_OUT[name] ?? `There is no scenario called "${name}".`);
  return {
    names: positionals,
    isShort: values.short,
    random: wholeNumber('random', values.random, 0),
    seed: wholeNumber('seed', values.seed, 0),
    atOnce: wholeNumber('at-once', values['at-once'], 1),
    isJson: values.json,
    program: values.program,
  };
}

function wholeNumber(flag: string, text: string, min: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= COUNT_MAX) return number;
  throw new Error(`--${flag} takes a whole number from ${min} to ${COUNT_MAX}, got "${text}".`);
}

async function scenarioTasks({ names, isShort, program }: Flags): Promise<Task[]> {
  const wanted = PLAYED.filter(
    (one) =>
      (names.length === 0 || names.some((name) => one.file.startsWith(name))) &&
      (!isShort || one.isShort === true),
  );
  const tasks: Task[] = [];
  for (const { file, ...pace } of wanted) {
    const scenario = readScenario(file);
    const simulated = await simulate(scenario.plan);
    const run = async () => {
      const play = await playOnProcesses({ ...scenario, ...pace, simulated, program });
      const { failures, differences, troubles, seconds } = play;
      return { seconds, wrong: [...failures, ...differences, ...troubles] };
    };
    tasks.push({ name: file, run });
  }
  return tasks;
}

async function randomTasks({ random, seed, program }: Flags): Promise<Task[]> {
  const plans = await preparePlans(random, seed);
  return plans.map((plan) => ({
    name: `seed ${plan.seed}`,
    run: async () => {
      const { decided, among, unseen, wrong, seconds } = await playRandom(plan, program);
      return { seconds, wrong, decided, among, unseen };
    },
  }));
}

async function carriedOut({ name, run }: Task): Promise<Line> {
  try {
    const done = await run();
    return { name, agrees: done.wrong.length === 0, ...done };
  } catch (thrown) {
    return { name, agrees: false, seconds: 0, wrong: [messageOf(thrown)] };
  }
}

function describe({ name, agrees, seconds, wrong, decided, among, unseen = [] }: Line): string {
  const counts =
    decided === undefined
      ? ''
      : `: ${decided} ends decided, ${among} among several, ${unseen.length} new`;
  const more = [...wrong, ...unseen].map((what) => `         ${what}\n`).join('');
  return `${agrees ? 'AGREES ' : 'DIFFERS'}  ${name}, ${seconds} s${counts}\n${more}`;
}
