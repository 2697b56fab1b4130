/** A list of 100,000 actors on disk: filters, orders, and scrolling, of which the page holds a screenful. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { eventually } from '../../kit/eventually.ts';
import { type Inspected, inspected } from '../server/inspected.ts';
import { fillWithOrders, patientOrder } from './crowd.ts';
import { hasBrowser, Pages, seen, texts } from './opened.ts';

const COUNT = 100_000;
const pages = new Pages();
let folder: string | undefined;
let node: Inspected | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  folder = mkdtempSync(join(tmpdir(), 'escapement-crowd-'));
  await fillWithOrders(folder, 'shop', COUNT);
  node = await inspected({ pageFolder: inject('pageFolder') }, {
    kinds: { order: patientOrder },
    place: 'shop',
    store: lmdbStore(folder),
  } as never);
  const { runtime } = node as unknown as {
    runtime: { actor(address: string): { send(event: object): Promise<void> } };
  };
  for (const type of ['order.add', 'order.pay']) await runtime.actor('order/050000').send({ type });
});
afterAll(async () => {
  await node?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const at = (view: string): string => `http://127.0.0.1:${node?.port}/${view}`;

describe.skipIf(!hasBrowser)('100,000 actors', () => {
  test('are counted, and scrolled to the end by key and wheel', async () => {
    const page = await pages.open(at('#/overview'));
    await seen(page, '.kind', /99,999 active/);
    await page.goto(at('#/actors'));
    await seen(page, '.list-state', '100,000 actors');
    await seen(page, '.row.active', 'order/000000');
    const list = page.locator('.rows');
    const elements = () => page.locator('.rows .row').count();
    const few = await elements();
    // Page by page: the list grows below the eyes, and the document does not.
    for (let screens = 0; screens < 12; screens += 1) {
      await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await eventually(async () => {
        const [first = ''] = await texts(page, '.rows .slot:nth-child(12) .actor-link');
        expect(Number(/order\/(\d+)/.exec(first)?.[1])).toBeGreaterThan(screens * 190);
      });
      expect(await elements()).toBeLessThan(few + 40);
    }
    await list.evaluate((box) => box.scrollTo(0, 0));
    await seen(page, '.row.active', 'order/000000');
  });

  test('are filtered and sorted by the server, and the view is in the URL', async () => {
    const page = await pages.open(at('#/actors'));
    await page.locator('#filter').fill('0777');
    await eventually(async () => {
      const rows = await texts(page, '.row.active .actor-link');
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.every((text) => text.includes('0777'))).toBe(true);
    });
    expect(page.url()).toContain('text=0777');
    const same = await pages.open(page.url());
    await seen(same, '.row.active', 'order/000777');
    await page.locator('#filter').fill('');
    await page.getByLabel('Status').selectOption('done');
    await seen(page, '.row.done', 'order/050000');
    await eventually(async () => expect(await texts(page, '.list-state')).toEqual(['1 actor']));
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Due').selectOption('10s');
    await seen(page, '.empty', 'No actor matches');
    await page.getByRole('button', { name: 'Show all' }).click();
    await seen(page, '.row.active', 'order/000000');

    await page.getByRole('button', { name: 'Actor' }).click();
    await seen(page, '[aria-sort=descending]', 'Actor');
    await seen(page, '.list-state', 'Sorted among the first');
    await page.getByRole('button', { name: 'Next deadline' }).click();
    await seen(page, '[aria-sort=ascending]', 'Next deadline');
    await eventually(async () => {
      const due = await page
        .locator('.row .countdown')
        .evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-due'))));
      expect(due.length).toBeGreaterThan(5);
      expect(due).toEqual(due.toSorted((one, other) => one - other));
    });
    await page.getByRole('button', { name: 'Last turn' }).click();
    await seen(page, '[aria-sort=ascending]', 'Last turn');
  });
});
