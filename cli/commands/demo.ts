/**
 * `demo`: a gate and three datacenters as real processes on this machine, a load of jobs, faults on a
 * timetable, and a screen on which to watch them; or headless, for machines.
 *
 * Exit 0 when every job that ended ended as it had to, 1 when one did not, or a node died by itself.
 */

import type { ReadStream, WriteStream } from 'node:tty';
import { Command, InvalidArgumentError } from 'commander';
import type { Demo } from '../../demo/demo.ts';
import type { Happening } from '../../demo/happenings.ts';
import { parseCount, parsePositiveDurationMs } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import type { Host } from '../node/host.ts';
import { ownFile } from '../own-file.ts';
import { type Output, printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

interface DemoFlags {
  readonly data: string;
  readonly fresh?: boolean;
  readonly headless?: boolean;
  readonly duration?: number;
  readonly json?: boolean;
  readonly seed?: number;
  readonly rate: number;
  readonly port: number;
  readonly pagePort: number;
  readonly faults: boolean;
}

const RATE_MAX = 50;
const STATUS_MS = 10_000;
/** A random seed is short enough to type. */
const SEEDS = 1_000_000;

const HELP = `
One gate, and two managers and two workers in each of the datacenters A, B and C: thirteen processes.
What they store stays in the folder, and the next start goes on with it. See docs/demo.md.

On a terminal: p cuts a datacenter off from the gate, and heals it; k kills a leader; r restarts the
gate; w stops a worker for 9 s; q and Ctrl-C quit. The page in the browser shows all of it, and tells a story. While it runs, every other command works too: try "escapement jobs".

Examples:
  $ escapement demo
  $ escapement demo --fresh --seed 7 --rate 5
  $ escapement demo --headless --duration 20s --json

Exit codes: 0 every job that ended did so as it had to, 1 one did not, or a node died by itself,
64 usage, 65 the folder is not the demo's, 73 another demo uses it, 130 and 143 ended by a second signal.`;

export function demoCommand({ output, setExitCode, host, input }: Surroundings): Command {
  return new Command('demo')
    .option('--data <dir>', 'where everything is kept', '.escapement-demo')
    .option('--fresh', 'forget what an earlier demo has left there')
    .option('--headless', 'no screen and no keys: a line for each thing that happens')
    .option(
      '--duration <duration>',
      'submit jobs for so long, then wait for them',
      parsePositiveDurationMs,
    )
    .option('--json', 'headless; print what came of it as JSON, and nothing else')
    .option(
      '--seed <n>',
      'jobs and faults of this seed; default: another one each time',
      parseCount,
    )
    .option('--rate <n>', 'jobs per second', parseRate, 3)
    .option('--port <n>', 'where the gate listens if that port is free; 0: any', parsePort, 7400)
    .option(
      '--page-port <n>',
      'where the page is, or at the next free port; 0: any',
      parsePort,
      7878,
    )
    .option('--no-faults', 'only those that you make')
    .addHelpText('after', HELP)
    .action(async (flags: DemoFlags) => {
      setExitCode(await demo(flags, output, host as Host, input as ReadStream));
    });
}

async function demo(flags: DemoFlags, output: Output, host: Host, input: ReadStream) {
  // It brings everything along that a node needs, so it is loaded only here.
  const { Demo } = await import('../../demo/demo.ts');
  const { clockTime } = await import('../../demo/happenings.ts');
  const { summaryLines } = await import('../../demo/summary.ts');
  const { json = false, duration } = flags;
  const screen = host.stdout as WriteStream;
  const isOnScreen = !json && flags.headless !== true && screen.isTTY && input.isTTY;
  const demo = await Demo.open({
    directory: flags.data,
    isFresh: flags.fresh === true,
    seed: flags.seed ?? Math.floor(Math.random() * SEEDS),
    rate: flags.rate,
    hasFaults: flags.faults,
    port: flags.headless === true || json ? 0 : flags.port,
    command: [...host.execArgv, ownFile('cli/main')],
    handlers: ownFile('demo/handlers'),
    // What prints nothing but JSON has nobody who could open it.
    ...(!json && { pagePort: flags.pagePort }),
    ...(duration !== undefined && { durationMs: duration }),
    ...(!isOnScreen &&
      !json && {
        onHappening: ({ at, text }: Happening) =>
          output.line(`${clockTime(at)}  ${printable(text)}`),
      }),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    host.on(signal, () => end(demo, host, signal));
  if (demo.pageUrl !== undefined) output.line(`the page: ${demo.pageUrl}`);
  const leave = isOnScreen
    ? await watchOn(demo, host, input)
    : printStatus(demo, json ? undefined : output);
  const summary = await demo.run().finally(leave);
  if (json) output.line(JSON.stringify(summary, null, 2));
  else for (const line of summaryLines(summary)) output.line(line);
  return summary.ok ? EXIT.done : EXIT.broken;
}

const ENDING = new WeakSet<Demo>();
const NUMBERS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** The first time in order, the second time at once. */
function end(demo: Demo, host: Host, signal: keyof typeof NUMBERS): void {
  if (!ENDING.has(demo)) {
    ENDING.add(demo);
    demo.quit();
    return;
  }
  void demo.killAll().finally(() => host.exit(128 + NUMBERS[signal]));
}

/** Returns what leaves the terminal as it was. */
async function watchOn(demo: Demo, host: Host, input: ReadStream): Promise<() => void> {
  const { Terminal } = await import('../../demo/terminal.ts');
  const { renderScreen } = await import('../../demo/screen.ts');
  const quit = (): void => end(demo, host, 'SIGINT');
  const keys: Readonly<Record<string, () => void>> = {
    p: () => void demo.byHand.make('partition'),
    k: () => void demo.byHand.make('leader'),
    r: () => void demo.byHand.make('gate'),
    w: () => void demo.byHand.make('worker'),
    q: quit,
    // A terminal that hands on every key also hands on this one.
    '\u0003': quit,
  };
  const terminal = new Terminal({
    ...{ input, output: host.stdout as WriteStream },
    draw: (size, paint) => renderScreen(demo.scene, size, paint),
    onKey: (key) => keys[key.toLowerCase()]?.(),
  });
  const leave = (): void => terminal.leave();
  // Also when this process ends by a mistake.
  host.on('exit', leave);
  return leave;
}

/** Returns what ends it. */
function printStatus(demo: Demo, output: Output | undefined): () => void {
  if (output === undefined) return () => {};
  output.line('starting a gate and three datacenters …');
  const timer = setInterval(() => {
    const { submitted, open, completed, failed, timedOut, cancelled, wrong } = demo.scene.jobs;
    output.line(
      `          jobs: ${submitted} submitted, ${open} open, ${completed} completed, ${failed} failed, ` +
        `${timedOut} timed out, ${cancelled} cancelled, ${wrong} ended wrongly`,
    );
  }, STATUS_MS);
  return () => clearInterval(timer);
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && rate > 0 && rate <= RATE_MAX) return rate;
  throw new InvalidArgumentError(`It must be a number above 0, at most ${RATE_MAX}.`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port, 0 to 65535.');
}
