/**
 * `npm run test:overload`: the overload rig on the command line.
 *
 *   npm run test:overload -- [--json] [--base N] [--overload N] [--overload-seconds S] …
 *
 * Exit codes: 0 goodput came back and nothing was lost, 1 it did not or something was, 64 wrong usage.
 */

import { parseArgs } from 'node:util';
import { messageOf } from '../../runtime/base/errors.ts';
import { OVERLOAD_DEFAULTS, type OverloadOptions } from './options.ts';
import type { OverloadReport } from './report.ts';
import { runOverload } from './run.ts';

/** Each flag that takes a number, and which option it is. */
const NUMBERS = {
  base: 'basePerSecond',
  overload: 'overloadPerSecond',
  'base-seconds': 'baseSeconds',
  'overload-seconds': 'overloadSeconds',
  'after-seconds': 'afterSeconds',
  cores: 'cores',
  'work-ms': 'workMs',
  'patience-ms': 'patienceMs',
  'timeout-ms': 'timeoutMs',
} as const satisfies Record<string, keyof OverloadOptions>;
const USAGE = `npm run test:overload -- [--json] [--set SETTING=VALUE …] ${Object.keys(NUMBERS)
  .map((flag) => `[--${flag} N]`)
  .join(' ')}`;
const EXIT_BROKEN = 1;
const EXIT_USAGE = 64;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let flags: { readonly isJson: boolean; readonly options: OverloadOptions };
  try {
    flags = readFlags(argv);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\nUsage: ${USAGE}\n`);
    return EXIT_USAGE;
  }
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const report = await runOverload({ ...flags.options, progress });
  process.stdout.write(flags.isJson ? `${JSON.stringify(report)}\n` : describe(report));
  return report.hasHeld ? 0 : EXIT_BROKEN;
}

function readFlags(argv: readonly string[]) {
  const number = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean', default: false },
      set: { type: 'string', multiple: true, default: [] },
      ...(Object.fromEntries(Object.keys(NUMBERS).map((flag) => [flag, number])) as Record<
        keyof typeof NUMBERS,
        typeof number
      >),
    },
  });
  const given = Object.entries(NUMBERS).flatMap(([flag, option]) => {
    const text = values[flag as keyof typeof NUMBERS];
    return text === undefined ? [] : [[option, wholeNumber(flag, text)] as const];
  });
  const options = { ...OVERLOAD_DEFAULTS, ...Object.fromEntries(given), settings: values.set };
  return { isJson: values.json, options };
}

function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`--${flag} takes a whole number from 1 on, got "${text}".`);
}

function describe(report: OverloadReport): string {
  const { recoveredAfterSeconds, answerMs } = report;
  const back =
    recoveredAfterSeconds === null ? 'not back' : `back after ${recoveredAfterSeconds} s`;
  const lines = [
    `${report.hasHeld ? 'HELD' : 'FAIL'}  ${report.sent} jobs in ${report.seconds} s`,
    `accepted ${report.accepted}, done ${report.done}, shed ${report.shed}, other answers ${JSON.stringify(report.otherAnswers)}`,
    `goodput per second: base ${report.goodputBase}, during ${report.goodputDuring}, after 60 s ${report.goodputAfter60s}; ${back}`,
    `accepted during the overload: of the base client ${report.acceptedOfBaseClient} %, of the flood ${report.acceptedOfFlood} %`,
    `lost ${report.lost}, shed but there ${report.shedButThere}, shed without Retry-After ${report.shedWithoutRetryAfter}`,
    `answers ms p50 ${answerMs.p50}, p99 ${answerMs.p99}`,
  ];
  return `${lines.join('\n')}\n`;
}
