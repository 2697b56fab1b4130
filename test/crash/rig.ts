/**
 * `npm run test:crash`: the crash rig on the command line.
 *
 *   npm run test:crash -- --cycles N [--seed S] [--json] [--keep]
 *   npm run test:crash -- --cluster --cycles N [--seed S] [--json]
 *   npm run test:crash -- --mapreduce [--cycles N] [--seed S] [--json]
 *   npm run test:crash -- --agents [--cycles N] [--seed S] [--json]
 *
 * The first kills one node of the engine, the second gates, managers and workers of a jobs system, the third the
 * runner of a map-reduce run, the fourth that of a plan of agents, both 50 times unless told otherwise.
 *
 * Exit codes: 0 nothing was lost, 1 something was lost, repeated or early, 64 wrong usage.
 */

import { parseArgs } from 'node:util';
import { messageOf } from '../../runtime/base/errors.ts';
import { describeAgents, runAgentsCycles } from './agents-cycles.ts';
import { runClusterCycles } from './cluster/cluster-cycles.ts';
import { describeCluster } from './cluster/report-lines.ts';
import { type RigOptions, type RigReport, runCycles } from './cycles.ts';
import { describeMapReduce, runMapReduceCycles } from './mapreduce-cycles.ts';

const USAGE =
  'npm run test:crash -- [--cluster | --mapreduce | --agents] --cycles N [--seed S] [--json] [--keep]';
const EXIT_BROKEN = 1;
const EXIT_USAGE = 64;
const CYCLES_MAX = 100_000;

interface Flags extends RigOptions {
  readonly isJson: boolean;
  readonly isCluster: boolean;
  readonly isMapReduce: boolean;
  readonly isAgents: boolean;
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let options: Flags;
  try {
    options = readFlags(argv);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\nUsage: ${USAGE}\n`);
    return EXIT_USAGE;
  }
  const { isTTY } = process.stderr;
  const progress = isTTY ? (line: string) => process.stderr.write(`\r\x1b[K${line}`) : () => {};
  const [report, described] = await run({ ...options, progress });
  if (isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(options.isJson ? `${JSON.stringify(report)}\n` : described);
  return report.hasHeld ? 0 : EXIT_BROKEN;
}

async function run({
  isCluster,
  isMapReduce,
  isAgents,
  ...options
}: Flags): Promise<readonly [{ readonly hasHeld: boolean }, described: string]> {
  if (isCluster) {
    const { cycles, seed, progress } = options;
    const report = await runClusterCycles({ cycles, seed, ...(progress && { progress }) });
    return [report, describeCluster(report)];
  }
  if (isAgents) {
    const { cycles, seed, progress } = options;
    const report = await runAgentsCycles({ cycles, seed, ...(progress && { progress }) });
    return [report, describeAgents(report)];
  }
  if (isMapReduce) {
    const { cycles, seed, progress } = options;
    const report = await runMapReduceCycles({ cycles, seed, ...(progress && { progress }) });
    return [report, describeMapReduce(report)];
  }
  const report = await runCycles(options);
  return [report, describe(report)];
}

function readFlags(argv: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      cycles: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      cluster: { type: 'boolean', default: false },
      mapreduce: { type: 'boolean', default: false },
      agents: { type: 'boolean', default: false },
    },
  });
  const { cycles = values.mapreduce || values.agents ? '50' : undefined } = values;
  if (cycles === undefined) throw new Error('--cycles is missing: how often to kill.');
  return {
    cycles: wholeNumber('cycles', cycles, 1, CYCLES_MAX),
    seed: wholeNumber('seed', values.seed, 0, Number.MAX_SAFE_INTEGER),
    isJson: values.json,
    isKept: values.keep,
    isCluster: values.cluster,
    isMapReduce: values.mapreduce,
    isAgents: values.agents,
  };
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= max) return number;
  throw new Error(`--${flag} takes a whole number from ${min} to ${max}, got "${text}".`);
}

function describe(report: RigReport): string {
  const { recoveryMs, killedAtMs } = report;
  const lines = [
    `${report.hasHeld ? 'HELD' : 'FAIL'}  ${report.cycles} kills, seed ${report.seed}, ${report.seconds} s`,
    `${report.acked} of ${report.sent} adds acknowledged, ${report.acksPerCycle} per cycle; ${report.ticks} ticks`,
    `acknowledged and lost ${report.ackedLost}, duplicated ${report.duplicated}`,
    `timers lost ${report.timersLost}, early ${report.timersEarly}; refused ${report.refused.length}`,
    `fences rose: ${report.fencesRose}; strict open: ${report.strictOpen}`,
    `recovery ms p50 ${recoveryMs.p50}, p99 ${recoveryMs.p99}; killed after ms ${killedAtMs.min} to ${killedAtMs.max}`,
    ...report.examples,
    ...report.refused.slice(0, 5),
    ...(report.directory === undefined ? [] : [`kept: ${report.directory}`]),
  ];
  return `${lines.join('\n')}\n`;
}
