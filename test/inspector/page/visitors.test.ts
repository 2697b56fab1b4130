/**
 * The page before those who mean harm, whose clock is wrong, or who have no mouse.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { HOSTILE_NAMES } from '../drawing/hostile-machine.ts';
import { FOREIGN_NAME } from './chromium.ts';
import { hasBrowser, overflow, Pages, seen, texts } from './opened.ts';
import { OwnNode, order } from './own-node.ts';

const own = new OwnNode();
// After the node, so that a page is closed before its node is.
const pages = new Pages();

describe.skipIf(!hasBrowser)('the page', () => {
  test('shows hostile names as text, whatever is in them', async () => {
    const runtime = await own.start();
    const name = `${HOSTILE_NAMES.join(' ')} <b>end</b>`;
    await runtime.spawn('order/1', { input: { name } });
    await runtime.spawn('hostile/1');
    const trap = `window.alert = () => { window.wasCaught = true; };`;
    const page = await pages.open(own.at('#/overview'), { before: trap, allow: /status of 400/ });
    await seen(page, '.kind', 'hostile');
    for (const view of [
      order('1'),
      '#/actor/hostile%2F1%40node-1',
      '#/actor/hostile%2F1%40node-1?tab=why',
      '#/kind/hostile',
      '#/timeline?kind=hostile',
      `#/actor/${encodeURIComponent('<img src=x onerror=alert(1)>')}`,
      `#/actors?text=${encodeURIComponent('<script>alert(1)</script>')}`,
    ]) {
      await page.goto(own.at(view));
      await seen(page, 'main > *');
      await eventually(async () =>
        expect(await page.locator('main .note').allInnerTexts()).not.toContain('Asking'),
      );
      expect(await overflow(page)).toEqual([]);
    }
    await page.goto(own.at('#/actor/hostile%2F1%40node-1'));
    await seen(page, '.canvas svg', '<script>alert(1)</script>');
    const foreign = await page.locator('main script, main img, main b:text("end")').count();
    expect(foreign).toBe(0);
    expect(await page.evaluate(() => 'wasCaught' in window)).toBe(false);
    const shown = (await page.locator('main').textContent()) ?? '';
    expect(['\u202E', '\u0000'].filter((mark) => shown.includes(mark))).toEqual([]);
  });

  test('of another origin or another name gets nothing', async () => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    const elsewhere = createServer((_, response) =>
      response.end('<!doctype html><title>x</title>'),
    );
    await new Promise<void>((resolve) => {
      elsewhere.listen(0, '127.0.0.1', resolve);
    });
    const { port } = elsewhere.address() as AddressInfo;
    const page = await pages.open(`http://127.0.0.1:${port}/`, { allow: /./ });
    const reached = await page.evaluate(async (target) => {
      const send = JSON.stringify({
        type: 'send',
        address: 'order/1',
        event: { type: 'order.add' },
      });
      const post = (type: string) =>
        fetch(`${target}api/command`, {
          method: 'POST',
          body: send,
          headers: { 'content-type': type },
        });
      const tries = [
        () => fetch(`${target}api/hello`),
        () => post('application/json'),
        () => post('text/plain'),
        () => fetch(`${target}api/command`, { method: 'POST', body: send, mode: 'no-cors' }),
      ];
      const answers: unknown[] = [];
      for (const one of tries)
        answers.push(
          await one().then(
            ({ status }) => status,
            () => 'refused',
          ),
        );
      const source = new EventSource(`${target}api/stream`);
      answers.push(
        await new Promise((resolve) => {
          source.onmessage = () => resolve('heard');
          source.onerror = () => resolve('refused');
        }),
      );
      return answers;
    }, own.at());
    expect(reached).toEqual(['refused', 'refused', 'refused', 'refused', 'refused']);
    const named = await pages.open(`http://${FOREIGN_NAME}:${own.inspected.port}/`, {
      allow: /421|Opener-Policy/,
    });
    expect(await named.locator('body').textContent()).toContain('wrongHost');
    elsewhere.close();
    elsewhere.closeAllConnections();
    expect(own.inspected.runtime.history('order/1')).toHaveLength(1);
  });

  test.each([3_600_000, -3_600_000])('counts down right with a clock %i ms off', async (offMs) => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    const before = `{ const now = Date.now; Date.now = () => now() + ${offMs};
      const Real = Date; globalThis.Date = class extends Real { constructor(...given) {
        if (given.length === 0) super(Real.now()); else super(...given); } }; }`;
    const page = await pages.open(own.at(order('1')), { before });
    const shown = await seen(page, 'section[aria-label="Deadlines"] .countdown', /\d s/);
    await eventually(async () => {
      const from = Date.now();
      const due = Number(await shown.getAttribute('data-due'));
      const seconds = Number.parseFloat((await shown.textContent()) ?? '');
      // The page ticks four times a second; what it takes to look counts for either side.
      const [most, least] = [(due - from) / 1_000, (due - Date.now()) / 1_000];
      expect(seconds).toBeGreaterThan(least - 0.35);
      expect(seconds).toBeLessThan(most + 0.35);
    });
  });

  test('does everything by the keyboard alone', async () => {
    const runtime = await own.start();
    for (const key of ['a', 'b', 'c']) await runtime.spawn(`order/${key}`);
    const page = await pages.open(own.at());
    await seen(page, '.kind', 'order');
    // Nobody waits between the keys.
    await page.keyboard.press('/');
    await page.keyboard.type('order/');
    expect(await page.locator('#filter').inputValue()).toBe('order/');
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.locator('.row.active').count()).toBe(3));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await seen(page, '.row.selected', 'order/b');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await seen(page, '.actor-head', 'order/b');
    // Every link, field and button can be reached, and shows that it is.
    const reached = new Set<string>();
    for (let count = 0; count < 60; count += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(() => {
          const { activeElement: element } = document;
          if (element === null || element === document.body) return 'body';
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
          const isSeen =
            (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
          return `${isSeen ? '' : 'UNSEEN '}${element.textContent?.trim().slice(0, 30) ?? ''}`;
        }),
      );
    }
    expect([...reached].filter((text) => text.startsWith('UNSEEN'))).toEqual([]);
    for (const name of ['Overview', 'Why', 'Fit', 'Send', 'End by hand'])
      expect([...reached].some((text) => text.includes(name))).toBe(true);
    await page.locator('.chart-view').focus();
    const drawn = () => page.locator('.canvas').getAttribute('style');
    const still = await drawn();
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowLeft');
    expect(await drawn()).not.toBe(still);
    await page.keyboard.press('d');
    await seen(page, 'h3', 'Deadlines to come');
    await page.keyboard.press('Space');
    await seen(page, '.freshness.paused', 'press space');
    await page.keyboard.press('Space');
    await seen(page, '.freshness.live');
    await page.keyboard.press('?');
    await seen(page, '[role=dialog]', 'Keys');
    await page.keyboard.press('Escape');
    expect(await texts(page, '[role=dialog]')).toEqual([]);
  });
});
