/**
 * The inspector suite: what it costs a node, and whether what it says is right.
 *
 * Cost is the CPU of this process for each turn of a runtime on disk, with and without an inspector. The page's
 * own figures are taken in a Chromium of this machine (inspector-page.ts).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assign, setup } from 'xstate';
import { createRuntime } from '../create-runtime.ts';
import { inspectorHandler } from '../inspector/mount.ts';
import { OWN_KINDS } from '../inspector/recording/own-kinds.ts';
import { datacenterMachine } from '../machines/jobs/datacenter.ts';
import { reminderMachine } from '../machines/reminder.ts';
import { lmdbStore } from '../stores/lmdb.ts';
import { exitFigures } from './inspector-exits.ts';
import { PAGE_FIELDS } from './inspector-page.ts';
import { verdicts } from './inspector-verdicts.ts';
import { CORPUS } from './model-corpus/corpus.ts';
import type { Measured, MeasureOptions, Suite } from './suite.ts';

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
    {
      name: 'idleOverheadPercent',
      about: 'CPU per turn that an inspector adds while nobody looks, in %',
      better: 'lower',
      goal: 2,
      measure: measureIdle,
    },
    {
      name: 'openOverheadPercent',
      about: 'CPU per turn that one open page adds at 3,000 events/s, in %',
      better: 'lower',
      goal: 15,
      measure: measureOpen,
    },
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

/**
 * While nobody looks there is nothing that comes now and then, so batches of a runtime with an inspector and of one
 * without take turns: what else the machine does falls upon both.
 */
async function measureIdle({ rounds, isQuick, progress }: MeasureOptions): Promise<Measured> {
  const batches = isQuick ? 20 : 200;
  const raw: Record<Side, number[]> = { without: [], with: [] };
  const sides = { without: await counters(), with: await counters() };
  const end = await inspectedBy(sides.with.runtime as never, 'idle');
  for (let round = -1; round < rounds; round += 1) {
    const spent = { without: 0, with: 0 };
    for (let batch = 0; batch < batches; batch += 1) {
      const order: readonly Side[] = batch % 2 === 0 ? ['without', 'with'] : ['with', 'without'];
      for (const side of order) {
        const before = process.cpuUsage();
        await sides[side].turn();
        spent[side] += cpuSince(before);
      }
    }
    // The first one warms up.
    if (round < 0) continue;
    for (const side of SIDES) raw[side].push(spent[side] / (batches * BATCH));
    progress(`round ${round + 1} of ${rounds}`);
  }
  await end();
  for (const side of SIDES) await sides[side].end();
  return overheadOf(raw, batches * BATCH);
}

/** A page asks for its panels once a second: so the sides run one after the other, at 3,000 turns a second each. */
async function measureOpen({ rounds, isQuick, progress }: MeasureOptions): Promise<Measured> {
  const batches = isQuick ? 20 : 100;
  const raw: Record<Side, number[]> = { without: [], with: [] };
  for (let round = -1; round < rounds; round += 1) {
    const order: readonly Side[] = round % 2 === 0 ? SIDES : ['with', 'without'];
    for (const side of order) {
      const { runtime, turn, end } = await counters();
      const close = side === 'with' ? await inspectedBy(runtime as never, 'open') : undefined;
      let before = process.cpuUsage();
      for (let batch = -WARM_BATCHES; batch < batches; batch += 1) {
        if (batch === 0) before = process.cpuUsage();
        const startedAt = performance.now();
        await turn();
        const restMs = 100 - (performance.now() - startedAt);
        if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      }
      if (round >= 0) raw[side].push(cpuSince(before) / (batches * BATCH));
      await close?.();
      await end();
    }
    if (round >= 0) progress(`round ${round + 1} of ${rounds}`);
  }
  return overheadOf(raw, batches * BATCH);
}

type Side = 'without' | 'with';
const SIDES = ['without', 'with'] as const;
const BATCH = 300;
/** Three seconds: what opening a page costs once is not what it costs for as long as it is open. */
const WARM_BATCHES = 30;

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function overheadOf(raw: Record<Side, number[]>, turns: number): Measured {
  const percents = raw.without.map((alone, round) => ((raw.with[round] ?? 0) / alone - 1) * 100);
  const sorted = percents.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const added = raw.without.map((alone, round) => (raw.with[round] ?? 0) - alone);
  const addedUs = added.toSorted((one, other) => one - other)[middle] as number;
  return {
    value: Number((sorted[middle] as number).toFixed(1)),
    range: [sorted[0] as number, sorted.at(-1) as number],
    rounds: percents.length,
    details: { turns, unit: 'µs of CPU per turn', addedUs: Number(addedUs.toFixed(2)) },
    raw,
  };
}

/** A runtime on disk with counters, and a batch of turns of them. */
async function counters() {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-inspector-'));
  const runtime = await createRuntime({
    kinds: { counter },
    store: lmdbStore(folder),
    telemetry: false,
  });
  for (let index = 0; index < ACTORS; index += 1) await runtime.spawn(`counter/${index}`);
  const handles = Array.from({ length: ACTORS }, (_, index) =>
    runtime.actor(`counter/${index}` as never),
  ) as ReadonlyArray<{ send(event: object): Promise<void> }>;
  let sent = 0;
  const turn = async (): Promise<void> => {
    const first = sent;
    sent += BATCH;
    await Promise.all(
      Array.from({ length: BATCH }, (_, index) =>
        (handles[(first + index) % ACTORS] as (typeof handles)[number]).send({ type: 'tick' }),
      ),
    );
  };
  const end = async (): Promise<void> => {
    await runtime.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { runtime, turn, end };
}

/** Mounts an inspector; with `open` another process looks at it as a page does. */
async function inspectedBy(runtime: never, sort: 'idle' | 'open'): Promise<() => Promise<void>> {
  const handler = inspectorHandler(runtime);
  const server = createServer(handler);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const page = sort === 'open' ? await openPage(port) : undefined;
  return async () => {
    page?.kill();
    handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

const WATCHED = 'counter/1@node-1';

/** What several panels of a page watch: the overview, a list, one actor with its turns. */
async function openPage(port: number): Promise<ChildProcess> {
  const watch = {
    overview: '5m',
    lists: { all: { limit: '50' } },
    actors: [WATCHED],
    turns: [WATCHED],
  };
  const program = join('bench', 'inspected-by.mjs');
  const page = spawn(process.execPath, [program, String(port), JSON.stringify(watch)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(page.stdout as NodeJS.ReadableStream, 'data');
  return page;
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
