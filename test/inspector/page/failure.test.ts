/** Page of a failure in a browser: what broke, what led there, the lanes of both runs, and all that happened. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { forgetfulAccount, simulateTransfers } from '../../../examples/simulate-transfer.ts';
import { faint, hasBrowser, overflow, Pages, seen, texts, ticked } from './opened.ts';
import { OwnNode } from './own-node.ts';

const node = new OwnNode();
// After the node, so that a page is closed before its node is.
const pages = new Pages();

/** The page with the code of this build, of a run that was simulated and shrunk. */
async function failureFile(): Promise<string> {
  const report = await simulateTransfers(forgetfulAccount, 40);
  const file = join(node.folder, 'failure.html');
  writeFileSync(file, await report.page(0, inject('pageFolder')));
  return pathToFileURL(file).href;
}

describe.skipIf(!hasBrowser)('the page of a failure', () => {
  test('opens on what broke, with both runs, and leads to the turns', async () => {
    const file = await failureFile();
    const page = await pages.open(file);
    await seen(page, '.verdict', /there are \d+ €, and \d+ € were paid in/);
    await seen(page, '.chain li', 'account.book');
    // Time is that of the run.
    await seen(page, '.chain time', /^00:00:\d\d\.\d{3}$/);
    await seen(page, '.lane.fault', 'crashLoop');
    await page.locator('.tracks').focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowDown');
        return page.locator('.lane-said').textContent();
      })
      .toContain('life 2');
    await seen(page, '.moment', 'no money is made');
    await page.getByRole('button', { name: 'Both' }).click();
    await seen(page, '.moment', 'parts');
    expect(await page.locator('.tracks').count()).toBe(2);
    const all = await page.locator('.told [role=status]').textContent();
    await page.locator('.told input').fill('crashLoop');
    await seen(page, '.told-row', 'crashLoop');
    await expect.poll(() => page.locator('.told [role=status]').textContent()).not.toBe(all);
    expect((await texts(page, '.told-row')).every((row) => row.includes('crashLoop'))).toBe(true);
    expect(await faint(page)).toEqual([]);
    await page.locator('.chain a').last().click();
    await seen(page, '.time-travel, .turns', 'account.book');
    // What is at rest stands still.
    const shown = await page.locator('.server-time').textContent();
    await ticked(page);
    expect(await page.locator('.server-time').textContent()).toBe(shown);
    // The charts of the machines are there.
    await page.goto(`${file}#/kind/transfer`);
    await seen(page, '.canvas svg');

    const phone = await pages.open(file, { width: 390, scheme: 'dark' });
    await seen(phone, '.told-row');
    expect(await overflow(phone)).toEqual([]);
    expect(await faint(phone)).toEqual([]);
  });
});
