/**
 * Measurements of the inspector's page in a Chromium of this machine, without a screen, against a runtime of this
 * process whose actors are on disk.
 *
 * Frames are those that the browser makes while a script scrolls or drags; a slow one takes more than 20 ms. What runs
 * in the page is text, because it is the browser's.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CDPSession, Page } from 'playwright-core';
import { builtPage, viewOf, withScene } from './page-scene.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const SLOW_MS = 20;
const OFF_MS = 3_600_000;

export const PAGE_FIELDS: readonly Field[] = [
  {
    name: 'firstChartMs',
    about: 'from opening the page to its first chart, on a node with 10,000 actors, in ms',
    better: 'lower',
    goal: 800,
    measure: (options) => measureFirstChart(options),
  },
  {
    name: 'slowFramesPercent',
    about: 'frames of more than 20 ms while 100,000 actors are scrolled, in %',
    better: 'lower',
    goal: 5,
    measure: (options) => measureScrolling(options),
  },
  {
    name: 'timelineSlowFramesPercent',
    about: 'frames of more than 20 ms while a timeline of 10,000 events is flung, in %',
    better: 'lower',
    goal: 5,
    measure: (options) => measureTimeline(options),
  },
  {
    name: 'countdownErrorMs',
    about: 'remaining time as shown against the runtime’s, the browser’s clock an hour off, in ms',
    better: 'lower',
    goal: 250,
    measure: (options) => measureCountdown(options),
  },
  {
    name: 'heapSlopeMbPer10Min',
    about: 'growth of the heap of a page that is left open under load, in MB per 10 min',
    better: 'lower',
    goal: 1,
    measure: (options) => measureHeap(options),
  },
  {
    name: 'pageKbGz',
    about: 'the page without ELK, gzipped, in KB',
    better: 'lower',
    goal: 80,
    measure: async () => measureSize(),
  },
];

async function measureFirstChart({ rounds, isQuick, progress }: MeasureOptions): Promise<Measured> {
  const actors = isQuick ? 1_000 : 10_000;
  const samples = await withScene(actors, async ({ page, url }) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // Another page each time, so that nothing is there from before but what a browser keeps of files.
      const fresh = await page.context().newPage();
      await fresh.goto(`${url}${viewOf(round + 1)}`, { waitUntil: 'commit' });
      await fresh.locator('.canvas svg .lit').first().waitFor();
      await fresh.locator('.chart-view .note').waitFor({ state: 'detached' });
      times.push((await fresh.evaluate('performance.now()')) as number);
      await fresh.close();
      progress(`round ${round + 1} of ${rounds}`);
    }
    return times;
  });
  return of(samples, { actors });
}

interface Moved {
  readonly slowPercent: number;
  /** CPU of the page's main thread for each frame: unlike the frames' times it says something on a busy machine too. */
  readonly cpuMsPerFrame: number;
}

/** Frames while `act` moves something by one step per frame, for as long as it says. */
async function slowFrames(page: Page, forMs: number, act: string): Promise<Moved> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpuBefore = await threadSeconds(session);
  const frames = (await page.evaluate(`new Promise((resolve) => {
    const frames = [];
    const act = ${act};
    let last = performance.now();
    const startedAt = last;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      act(now - startedAt);
      if (now - startedAt < ${forMs}) requestAnimationFrame(step);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(step);
  })`)) as number[];
  const cpuMs = 1_000 * ((await threadSeconds(session)) - cpuBefore);
  await session.detach();
  return {
    slowPercent: (100 * frames.filter((ms) => ms > SLOW_MS).length) / frames.length,
    cpuMsPerFrame: cpuMs / frames.length,
  };
}

async function threadSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ThreadTime')?.value ?? Number.NaN;
}

function ofMoves(moves: readonly Moved[], details: Measured['details']): Measured {
  const { value: cpuMsPerFrame } = of(
    moves.map((move) => move.cpuMsPerFrame),
    {},
  );
  return of(
    moves.map((move) => move.slowPercent),
    { ...details, cpuMsPerFrame },
  );
}

const FLING_MS = 4_000;

async function measureScrolling({ rounds, isQuick, progress }: MeasureOptions): Promise<Measured> {
  const actors = isQuick ? 10_000 : 100_000;
  const samples = await withScene(actors, async ({ page, url }) => {
    await page.goto(`${url}#/actors`);
    await page.locator('.rows .row.active').first().waitFor();
    const shares: Moved[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const act = `((box) => (ms) => { box.scrollTop = ${round % 2 === 0 ? 'ms * 4' : `(${FLING_MS} - ms) * 4`}; })(document.querySelector('.rows'))`;
      shares.push(await slowFrames(page, isQuick ? 1_000 : FLING_MS, act));
      progress(`round ${round + 1} of ${rounds}`);
    }
    return shares;
  });
  return ofMoves(samples, { actors });
}

const LANES = 50;
const TURNS_PER_LANE = 200;

async function measureTimeline({ rounds, isQuick, progress }: MeasureOptions): Promise<Measured> {
  const turns = isQuick ? 20 : TURNS_PER_LANE;
  const samples = await withScene(LANES, async ({ page, url, send }) => {
    for (let turn = 1; turn < turns; turn += 1)
      await Promise.all(Array.from({ length: LANES }, (_, order) => send(order, 'order.add')));
    await page.goto(`${url}#/timeline`);
    await page.locator('.lane canvas').first().waitFor();
    const shares: Moved[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const act = `((box) => (ms) => {
        const { left, top, width } = box.getBoundingClientRect();
        const at = { clientX: left + width / 2, clientY: top + 40, bubbles: true, cancelable: true };
        box.dispatchEvent(new WheelEvent('wheel', { ...at, deltaX: 40 * Math.sin(ms / 300), deltaY: 0 }));
        box.dispatchEvent(new WheelEvent('wheel', { ...at, ctrlKey: true, deltaY: 12 * Math.cos(ms / 700) }));
      })(document.querySelector('.tracks'))`;
      shares.push(await slowFrames(page, isQuick ? 1_000 : FLING_MS, act));
      progress(`round ${round + 1} of ${rounds}`);
    }
    return shares;
  });
  return ofMoves(samples, { events: LANES * turns });
}

async function measureCountdown({ rounds, isQuick }: MeasureOptions): Promise<Measured> {
  const samples = await withScene(10, async ({ page, url, beginBrief }) => {
    await page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${OFF_MS}; }`);
    await page.goto(url);
    await page.locator('.page-head').waitFor();
    await page.goto(`${url}${await beginBrief()}`);
    await page.locator('section[aria-label="Deadlines"] .countdown').first().waitFor();
    const errors: number[] = [];
    const looks = isQuick ? 10 : Math.min(200, 40 * rounds);
    for (let look = 0; look < looks; look += 1) {
      // Tenths of seconds are shown; how old the text is by then counts as error too.
      const error = (await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => {
        const shown = document.querySelector('section[aria-label="Deadlines"] .countdown');
        const left = Number(shown.dataset.due) - (performance.timeOrigin + performance.now());
        const [, seconds] = /^([0-9.]+) s/.exec(shown.textContent.trim()) ?? [];
        resolve(seconds === undefined ? undefined : Math.abs(Number(seconds) * 1000 - left));
      }))`)) as number | undefined;
      if (error !== undefined) errors.push(error);
      await new Promise((resolve) => setTimeout(resolve, 97));
    }
    if (errors.length < looks / 2) throw new Error('The deadline came before it was looked at.');
    return errors;
  });
  const worst = Math.max(...samples);
  return {
    value: Math.round(worst),
    range: [Math.round(Math.min(...samples)), Math.round(worst)],
    rounds: samples.length,
    details: { clockOffMs: OFF_MS },
    raw: { errorsMs: samples },
  };
}

const HEAP_MS = 600_000;
const HEAP_SAMPLES = 30;
const LOAD_PER_SECOND = 300;

async function measureHeap({ isQuick, progress }: MeasureOptions): Promise<Measured> {
  const lengthMs = isQuick ? 10_000 : HEAP_MS;
  const actors = 1_000;
  const samples = await withScene(actors, async ({ page, url, send }) => {
    await send(1, 'order.add');
    await page.goto(`${url}${viewOf(1)}?tab=turns`);
    await page.locator('.row.turn').first().waitFor();
    const session = await page.context().newCDPSession(page);
    const load = setInterval(() => {
      for (let count = 0; count < LOAD_PER_SECOND / 10; count += 1)
        void send(Math.floor(Math.random() * 100), 'order.add').catch(() => {});
    }, 100);
    const bytes: Array<readonly [ms: number, bytes: number]> = [];
    const startedAt = performance.now();
    // What fills up once, such as the turns that a page keeps, is no growth: the first third is left out.
    while (performance.now() - startedAt < lengthMs) {
      await new Promise((resolve) => setTimeout(resolve, lengthMs / HEAP_SAMPLES));
      bytes.push([performance.now() - startedAt, await heapOf(session)]);
      progress(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
    }
    clearInterval(load);
    return bytes.slice(Math.floor(bytes.length / 3));
  });
  const value = Number(((slopeOf(samples) * 600_000) / 1_000_000).toFixed(2));
  return {
    value,
    range: [value, value],
    rounds: 1,
    details: { lengthMs, eventsPerSecond: LOAD_PER_SECOND, actors },
    raw: { bytes: samples.map(([, bytes]) => bytes) },
  };
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  return usedSize;
}

/** Least squares: bytes per ms. */
function slopeOf(points: ReadonlyArray<readonly [number, number]>): number {
  const meanOf = (index: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [x, y] = [meanOf(0), meanOf(1)];
  const above = points.reduce((sum, [ms, bytes]) => sum + (ms - x) * (bytes - y), 0);
  return above / points.reduce((sum, [ms]) => sum + (ms - x) ** 2, 0);
}

function measureSize(): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-page-'));
  try {
    const page = builtPage(folder);
    const files = ['index.html', 'assets/page.js', 'assets/page.css', 'assets/icon.svg'];
    const sizes = files.map((file) => gzipSync(readFileSync(join(page, file))).length);
    const value = Number((sizes.reduce((sum, size) => sum + size, 0) / 1_000).toFixed(1));
    return { value, range: [value, value], rounds: 1, details: { files }, raw: { bytes: sizes } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function of(samples: readonly number[], details: Measured['details']): Measured {
  const sorted = samples.toSorted((one, other) => one - other);
  const rounded = (value: number | undefined): number => Number((value ?? 0).toFixed(1));
  return {
    value: rounded(sorted[Math.floor(sorted.length / 2)]),
    range: [rounded(sorted[0]), rounded(sorted.at(-1))],
    rounds: samples.length,
    details,
    raw: { samples },
  };
}
