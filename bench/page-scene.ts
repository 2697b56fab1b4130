/**
 * Scene of the measurements of the inspector's page: a runtime whose actors are on disk, its inspector on a port, and a
 * page of a Chromium of this machine that shows nothing yet.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { createRuntime } from '../create-runtime.ts';
import { inspectorHandler } from '../inspector/mount.ts';
import { lmdbStore } from '../stores/lmdb.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath } from '../test/inspector/page/chromium-path.ts';
import { fillWithOrders, patientOrder } from '../test/inspector/page/crowd.ts';

const PLACE = 'shop';
const WIDTH = 1_280;
const HEIGHT = 860;
const PATIENCE_MS = 300_000;

export interface PageScene {
  readonly page: Page;
  readonly url: string;
  /** Sends an event to order number so and so. */
  send(order: number, type: string): Promise<void>;
  /** Begins an order with a deadline within a minute, and returns the view of it. */
  beginBrief(): Promise<string>;
}

/** A runtime with orders on disk, its inspector on a port, and a page that shows nothing yet. */
export async function withScene<T>(
  orders: number,
  measure: (scene: PageScene) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-page-'));
  const ends: Array<() => unknown> = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const pageFolder = builtPage(folder);
    const directory = join(folder, 'data');
    await fillWithOrders(directory, PLACE, orders);
    const runtime = await createRuntime({
      kinds: { order: patientOrder, brief: briefOrder },
      place: PLACE,
      store: lmdbStore(directory),
      telemetry: false,
    });
    ends.push(() => runtime.stop());
    const handler = inspectorHandler(runtime as never, { pageFolder });
    const server = createServer(handler);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    ends.push(() => {
      handler.close();
      server.closeAllConnections();
      server.close();
    });
    const browser = await launched();
    ends.push(() => browser.close());
    const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const { port } = server.address() as AddressInfo;
    const send = (order: number, type: string): Promise<void> =>
      runtime.actor(nameOf(order) as never).send({ type } as never) as Promise<void>;
    const beginBrief = async (): Promise<string> => {
      await runtime.spawn('brief/1', { input: undefined });
      return `#/actor/${encodeURIComponent(`brief/1@${PLACE}`)}`;
    };
    return await measure({ page, url: `http://127.0.0.1:${port}/`, send, beginBrief });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Within a minute tenths of seconds are shown. */
const briefOrder = patientOrder.provide({ delays: { limit: 59_000 } });

const nameOf = (order: number): string => `order/${String(order).padStart(6, '0')}`;
/** View of an order. */
export const viewOf = (order: number): string =>
  `#/actor/${encodeURIComponent(`${nameOf(order)}@${PLACE}`)}`;

export function builtPage(folder: string): string {
  const page = join(folder, 'page');
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-page.mjs', page], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The page is not built: ${stderr}`);
  return page;
}

/** Loaded here: the other suites need no browser. */
async function launched(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const executablePath = chromiumPath();
  if (executablePath === undefined)
    throw new Error('These figures need a Chromium: node scripts/setup.mjs installs one as root.');
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
}
