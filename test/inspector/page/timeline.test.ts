/**
 * Timeline in a browser: the document stays as it is while the timeline moves, and keys and pointer say what is drawn.
 */

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { hasBrowser, Pages, seen, texts } from './opened.ts';
import { OwnNode, order } from './own-node.ts';

const own = new OwnNode();
// After the node, so that a page is closed before its node is.
const pages = new Pages();

const words = async (page: Page): Promise<string> =>
  (await page.locator('.lane-said').textContent()) ?? '';
const shownRange = async (page: Page): Promise<string> =>
  (await page.locator('.timeline-tools > span').first().textContent()) ?? '';

/** Pixels of a lane that are drawn on. */
const painted = (page: Page, lane: number): Promise<number> =>
  page.evaluate((index) => {
    const canvas = document.querySelectorAll('.lane canvas')[index] as HTMLCanvasElement;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, at) => at % 4 === 3 && value > 0).length;
  }, lane);

/** What is said at each place of the first lane, at the height of its marks. */
const swept = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const lane = document.querySelector('.lane') as HTMLElement;
    const { left, top, width } = lane.getBoundingClientRect();
    const found: string[] = [];
    for (let x = 2; x < width; x += 6) {
      const at = { clientX: left + x, clientY: top + 43, bubbles: true };
      lane.dispatchEvent(new PointerEvent('pointermove', at));
      await new Promise((resolve) => setTimeout(resolve));
      found.push(document.querySelector('.lane-said')?.textContent ?? '');
    }
    return found;
  });

describe.skipIf(!hasBrowser)('the timeline', () => {
  test('draws its lanes, the newest on top, and changes nothing of the document as it moves', async () => {
    const runtime = await own.start();
    for (const key of ['a', 'b', 'c']) {
      await runtime.spawn(`order/${key}`);
      await runtime.actor(`order/${key}`).send({ type: 'order.add' });
    }
    await runtime.actor('order/a').send({ type: 'order.add' });
    const page = await pages.open(own.at('#/timeline'));
    await seen(page, '.lane', 'order/a');
    const lanes = await texts(page, '.lane .actor-link');
    expect(lanes).toEqual(['order/c@node-1', 'order/b@node-1', 'order/a@node-1']);
    await eventually(async () => expect(await painted(page, 0)).toBeGreaterThan(1_000));
    await page.locator('.timeline-tools').getByRole('button', { name: 'Zoom in' }).click();
    const still = await shownRange(page);
    const changes = await page.evaluate(async () => {
      const tracks = document.querySelector('.tracks') as HTMLElement;
      const { left, top, width } = tracks.getBoundingClientRect();
      const at = { clientX: left + width / 2, clientY: top + 40, bubbles: true, cancelable: true };
      let count = 0;
      const watching = new MutationObserver((records) => {
        count += records.length;
      });
      watching.observe(tracks, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
      for (let step = 0; step < 20; step += 1) {
        tracks.dispatchEvent(new WheelEvent('wheel', { ...at, deltaX: 40 }));
        tracks.dispatchEvent(new WheelEvent('wheel', { ...at, ctrlKey: true, deltaY: -12 }));
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      watching.disconnect();
      return count;
    });
    expect(changes).toBe(0);
    expect(await shownRange(page)).not.toBe(still);
    await seen(page, '.timeline-tools button', 'All of it, live');
  });

  test('is read by the keys alone, event by event, and opens the turn', async () => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    await runtime.actor('order/1').send({ type: 'order.add' });
    const page = await pages.open(own.at('#/timeline'));
    await seen(page, '.lane', 'order/1');
    await page.locator('.tracks').focus();
    await page.keyboard.press('ArrowDown');
    expect(await words(page)).toContain('order/1@node-1 on node-1');
    expect(await words(page)).toContain('open, 2 events');
    await page.keyboard.press('.');
    expect(await words(page)).toContain('turn 1 of order/1@node-1');
    await page.keyboard.press('.');
    expect(await words(page)).toContain('order.add');
    await page.keyboard.press(',');
    expect(await words(page)).toContain('turn 1');
    await page.keyboard.press('.');
    const before = await shownRange(page);
    await page.keyboard.press('+');
    expect(await shownRange(page)).not.toBe(before);
    await page.keyboard.press('Enter');
    await seen(page, '.turn-detail h3', 'Turn 2');
  });

  test('says what lies under the pointer, and takes a range by Shift and drag', async () => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    await runtime.actor('order/1').send({ type: 'order.pay' });
    await runtime.actor('order/1').send({ type: 'order.add' });
    await runtime.actor('order/1').send({ type: 'order.pay' });
    const page = await pages.open(own.at(`${order('1')}?tab=timeline`));
    await seen(page, '.actor-head', 'has ended');
    const lane = page.locator('.lane').first();
    await eventually(async () => expect(await painted(page, 0)).toBeGreaterThan(1_000));
    const { x = 0, y = 0, width = 0 } = (await lane.boundingBox()) ?? {};
    await eventually(async () => {
      const found = await swept(page);
      expect(found.some((text) => text.includes('turn 1 of order/1'))).toBe(true);
      expect(found.some((text) => text.includes('ended: paid'))).toBe(true);
    });
    const before = await shownRange(page);
    await page.keyboard.down('Shift');
    await page.mouse.move(x + width * 0.3, y + 30);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.6, y + 30, { steps: 4 });
    await seen(page, '.brush');
    await page.mouse.up();
    await page.keyboard.up('Shift');
    expect(await page.locator('.brush').count()).toBe(0);
    expect(await shownRange(page)).not.toBe(before);
    // The wheel alone is the page's.
    const range = await shownRange(page);
    await page.mouse.wheel(0, 40);
    expect(await shownRange(page)).toBe(range);
    await page.getByRole('button', { name: 'All of it' }).click();
    await seen(page, '.timeline-tools button:disabled', 'Follows the present');
  });
});
