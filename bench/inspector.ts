/**
 * The inspector suite: what it costs a node, and whether what it says is right.
 *
 * Cost is the CPU of this process for each turn, with and without an inspector, in rounds that take turns. The page's
 * own figures are taken in a Chromium of this machine (inspector-page.ts).
 */

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assign, setup } from 'xstate';
import { createRuntime } from '../create-runtime.ts';
import { inspectorHandler } from '../inspector/mount.ts';
import { OWN_KINDS } from '../inspector/recording/own-kinds.ts';
import { datacenterMachine } from '../machines/jobs/datacenter.ts';
import { reminderMachine } from '../machines/reminder.ts';
import { exitFigures } from './inspector-exits.ts';
import { PAGE_FIELDS } from './inspector-page.ts';
import { verdicts } from './inspector-verdicts.ts';
import { CORPUS } from './model-corpus/corpus.ts';
import type { Field, Measured, MeasureOptions, Suite } from './suite.ts';

const counter = setup({ types: { context: {} as { n: number } } }).createMachine({
  context: { n: 0 },
  initial: 'on',
  states: { on: { on: { tick: { actions: assign({ n: ({ context }) => context.n + 1 }) } } } },
});

const ACTORS = 200;

export const inspector: Suite = {
  name: 'inspector',
  about: 'what an inspector costs a node, and whether it is right',
  fields: [
    overhead(
      'idleOverheadPercent',
      'CPU per turn that an inspector adds while nobody looks, in %',
      2,
      'idle',
    ),
    overhead(
      'openOverheadPercent',
      'CPU per turn that one open page adds at 3,000 events/s, in %',
      15,
      'open',
    ),
    ...PAGE_FIELDS,
    {
      name: 'whyVerdictsRight',
      about: 'verdicts of why that are the known cause of a simulated timeout, in %',
      better: 'higher',
      goal: 100,
      measure: measureVerdicts,
    },
    {
      name: 'exitsNamed',
      about: 'events that leave a state and are named as what ends it, in %',
      better: 'higher',
      goal: 100,
      measure: measureExits,
    },
  ],
};

function overhead(name: string, about: string, goal: number, sort: 'idle' | 'open'): Field {
  return {
    name,
    about,
    better: 'lower',
    goal,
    measure: (options) => measureOverhead(options, sort),
  };
}

async function measureOverhead(
  { rounds, isQuick, progress }: MeasureOptions,
  sort: 'idle' | 'open',
): Promise<Measured> {
  const turns = isQuick ? 3_000 : sort === 'open' ? 30_000 : 60_000;
  const values: number[] = [];
  const raw: Record<'without' | 'with', number[]> = { without: [], with: [] };
  await cpuPerTurn(turns, undefined);
  for (let round = 0; round < rounds; round += 1) {
    const isFirst = round % 2 === 0;
    const first = await cpuPerTurn(turns, isFirst ? undefined : sort);
    const second = await cpuPerTurn(turns, isFirst ? sort : undefined);
    const [without, together] = isFirst ? [first, second] : [second, first];
    raw.without.push(without);
    raw.with.push(together);
    values.push((together / without - 1) * 100);
    progress(`round ${round + 1} of ${rounds}`);
  }
  const sorted = values.toSorted((one, other) => one - other);
  const value = Number((sorted[Math.floor(sorted.length / 2)] as number).toFixed(1));
  return {
    value,
    range: [sorted[0] as number, sorted.at(-1) as number],
    rounds,
    details: { turns, unit: 'µs of CPU per turn' },
    raw,
  };
}

/** Microseconds of CPU for each turn; with a page open the turns come at 3,000 a second. */
async function cpuPerTurn(turns: number, sort: 'idle' | 'open' | undefined): Promise<number> {
  const runtime = await createRuntime({ kinds: { counter }, telemetry: false });
  const page = sort === undefined ? undefined : await inspectedBy(runtime as never, sort);
  for (let index = 0; index < ACTORS; index += 1) await runtime.spawn(`counter/${index}`);
  const handles = Array.from({ length: ACTORS }, (_, index) =>
    runtime.actor(`counter/${index}` as never),
  );
  const before = process.cpuUsage();
  // As many a second as the measure names, for both sides: idle time would be shared out otherwise.
  for (let done = 0; done < turns; done += 300) {
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        (handles[(done + index) % ACTORS] as { send(event: object): Promise<void> }).send({
          type: 'tick',
        }),
      ),
    );
    const restMs = 100 - (performance.now() - startedAt);
    if (sort === 'open' && restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  const { user, system } = process.cpuUsage(before);
  await page?.();
  await runtime.stop();
  return (user + system) / turns;
}

async function inspectedBy(runtime: never, sort: 'idle' | 'open'): Promise<() => Promise<void>> {
  const handler = inspectorHandler(runtime);
  const server = createServer(handler);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  if (sort === 'open') await openPage(port);
  return async () => {
    handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

/** What the first panel of a page watches: the overview, a list, one actor with its turns. */
async function openPage(port: number): Promise<void> {
  const stream = await new Promise<string>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/api/stream' }, (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => {
        const [, id] = /"stream":"([^"]+)"/.exec(text) ?? [];
        if (id !== undefined) resolve(id);
      });
      answer.on('error', () => {});
    });
    sent.on('error', reject);
    sent.end();
  });
  const address = 'counter/1@node-1';
  const watch = {
    stream,
    overview: '5m',
    lists: { all: { limit: '50' } },
    actors: [address],
    turns: [address],
  };
  await new Promise<void>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(
      { host: '127.0.0.1', port, path: '/api/watch', method: 'POST', headers },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve());
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(watch));
  });
}

async function measureVerdicts({ isQuick, progress }: MeasureOptions): Promise<Measured> {
  const found = await verdicts(isQuick ? 22 : 200, progress);
  const wrong = found.filter((one) => one.known !== one.found);
  const value = (100 * (found.length - wrong.length)) / found.length;
  return {
    value,
    range: [value, value],
    rounds: 1,
    details: { timeouts: found.length, wrong },
    raw: {},
  };
}

async function measureExits(): Promise<Measured> {
  const figures = exitFigures(ALL_MACHINES);
  const value = (100 * figures.named) / figures.leaving;
  return { value, range: [value, value], rounds: 1, details: { ...figures }, raw: {} };
}

/** All machines of the project, and those on which generated tests are measured. */
const ALL_MACHINES = {
  ...OWN_KINDS,
  datacenter: datacenterMachine,
  reminder: reminderMachine,
  ...Object.fromEntries(
    Object.entries(CORPUS).map(([name, { machine }]) => [`corpus ${name}`, machine]),
  ),
} as never;
