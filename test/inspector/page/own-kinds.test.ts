/**
 * The page of a runtime with kinds of its own: commands, time travel, recordings, an empty node.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { sendTo, setup } from 'xstate';
import { readLines } from '../../../inspector/recording/recorded.ts';
import { singleFile } from '../../../inspector/single-file.ts';
import { turnKnobs } from '../../../runtime/base/knob.ts';
import { to } from '../../../runtime/machine.ts';
import { eventually } from '../../kit/eventually.ts';
import { call, inspected } from '../server/inspected.ts';
import { hasBrowser, Pages, seen } from './opened.ts';
import { OwnNode, order } from './own-node.ts';

const own = new OwnNode();
// After the node, so that a page is closed before its node is.
const pages = new Pages();

/** It calls somebody at a place that there is not, and nobody acknowledges it. */
const callerMachine = setup({
  actions: { call: sendTo(to('listener/1@nowhere'), { type: 'listener.called' }) },
}).createMachine({ id: 'caller', entry: 'call', initial: 'calling', states: { calling: {} } });

async function give(page: Page, event: string): Promise<void> {
  await page.locator('select[name=event]').selectOption(event);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

/** Moments for which deadlines are armed, as the page says. */
const dueOf = async (page: Page): Promise<number[]> => {
  await seen(page, '.actor-side .countdown');
  const due = await page
    .locator('.actor-side .countdown')
    .evaluateAll((all) => all.map((each) => Number((each as HTMLElement).dataset.due)));
  return due;
};

describe.skipIf(!hasBrowser)('the page', () => {
  test('of an empty node says so, and shows what begins', async () => {
    const runtime = await own.start();
    const page = await pages.open(own.at());
    await seen(page, '.empty', 'There are no actors yet');
    await page.goto(own.at('#/actors'));
    await seen(page, '.empty', 'There are no actors yet');
    await page.goto(own.at(order('none')));
    await seen(page, '.empty', 'There is no such actor');
    await page.goto(own.at('#/timeline'));
    await seen(page, '.empty', 'There is nothing to show');
    await page.goto(own.at('#/overview'));
    await runtime.spawn('order/1');
    await seen(page, '.kind', 'open');
  });

  test('says what is stuck, and leads to it with a click', async () => {
    const kinds = { caller: callerMachine };
    const turnBack = turnKnobs({ inspectorStuckMs: 1 });
    const { runtime, port, close } = await inspected(
      { pageFolder: inject('pageFolder') },
      { kinds },
    );
    try {
      const { spawn } = runtime as unknown as { spawn(address: string): Promise<unknown> };
      await spawn.call(runtime, 'caller/waits');
      const page = await pages.open(`http://127.0.0.1:${port}/`);
      await (await seen(page, 'section[aria-label="Needs somebody"] a', 'under way')).click();
      await seen(page, '.rows .row', 'caller/waits');
    } finally {
      turnBack();
      await close();
    }
  });

  test('gives commands, and shows whether they were taken, ignored or refused', async () => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    const page = await pages.open(own.at(order('1')));
    await give(page, 'order.pay');
    await seen(page, '.answer.ignored', 'guards allow it');
    await give(page, 'order.add');
    await seen(page, '.answer.taken', 'A transition took it');
    await give(page, 'order.pay');
    await seen(page, '.actor-head', 'has ended');
    await page.goto(own.at(`${order('1')}?tab=turns`));
    await (await seen(page, '.row.turn', 'order.pay')).click();
    await seen(page, '.turn-detail', 'by ');

    await runtime.spawn('order/2');
    await page.goto(own.at(order('2')));
    await seen(page, '.actor-head', 'order/2');
    await give(page, 'order.fail');
    await seen(page, '.answer', /Refused|Taken/);
    await page.getByRole('button', { name: 'End by hand' }).click();
    await seen(page, '.answer.taken', 'It has ended');
  });

  test('moves a deadline, and lets it come now, where that is allowed', async () => {
    const runtime = await own.start({ deadlines: true });
    await runtime.spawn('order/1');
    const page = await pages.open(own.at(order('1')));
    const [before = 0] = await dueOf(page);
    await page.getByRole('spinbutton', { name: 'Seconds from now' }).fill('7200');
    await page.getByRole('button', { name: 'Due in 7200 s' }).click();
    await page.getByRole('button', { name: 'Press again: due in 7200 s' }).click();
    await seen(page, '.answer.taken', 'durably');
    await eventually(async () =>
      expect((await dueOf(page))[0]).toBeGreaterThan(before + 3_000_000),
    );
    await page.getByRole('button', { name: /^Let .* come now$/ }).click();
    await page.getByRole('button', { name: 'Press again to let it come now' }).click();
    await seen(page, '.answer.taken', 'It comes now');
    await page.goto(own.at(`${order('1')}?tab=turns`));
    await seen(page, '.row.turn', 'escapement.moveDeadline');
    await seen(page, '.row.turn', /after/);
  });

  test('of a viewer who may not command says why, and has no buttons for it', async () => {
    const runtime = await own.start({ commands: false });
    await runtime.spawn('order/1');
    const page = await pages.open(own.at(order('1')));
    await seen(page, '.commands .note');
    expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Record/ }).isDisabled()).toBe(true);
  });

  test('travels through the turns of a recording, and back to now', async () => {
    const runtime = await own.start();
    await runtime.spawn('order/1');
    const page = await pages.open(own.at(order('1')));
    await page.getByRole('button', { name: /^Record for/ }).click();
    await seen(page, '.answer.taken', 'Recording');
    for (let count = 0; count < 4; count += 1)
      await runtime.actor('order/1').send({ type: 'order.add' });
    await seen(page, '.actor-head', '5 turns');
    await seen(page, '.json', 'items 4');
    await page.goto(own.at(`${order('1')}?tab=turns`));
    await seen(page, '.row.turn[data-turn="5"]');
    await page.keyboard.press('ArrowLeft');
    await seen(page, '.then', 'After turn 5 of 5');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await seen(page, '.then', 'After turn 3 of 5');
    await seen(page, '.turn-detail .diff', /items\s*1\s*2/);
    await seen(page, '.actor-side .json', 'items 2');
    await page.getByRole('link', { name: 'Chart' }).click();
    await seen(page, '.then', 'After turn 3 of 5');
    await page.locator('.then input').fill('2');
    await seen(page, '.then', 'After turn 2 of 5');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.locator('.then').count()).toBe(0));
    await seen(page, '.json', 'items 4');
  });

  test('opens a recording from one file on disk, and copies it as a failing test', async () => {
    const runtime = await own.start({ record: true });
    await runtime.spawn('order/1');
    await runtime.actor('order/1').send({ type: 'order.add' });
    const live = await pages.open(own.at(order('1')));
    await live.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await live.getByRole('button', { name: 'Copy as failing test' }).click();
    await seen(live, '.commands', 'Copied');
    expect(await live.evaluate(() => navigator.clipboard.readText())).toContain('testRuntime');

    await runtime.actor('order/1').send({ type: 'order.pay' });
    const { text } = await call(own.inspected.port, '/api/recording');
    const file = join(own.folder, 'run.html');
    writeFileSync(file, singleFile(readLines(text), inject('pageFolder')));
    const page = await pages.open(`file://${file}`);
    await seen(page, '.freshness', 'at rest');
    await seen(page, '.kind', 'order');
    await page.goto(`file://${file}${order('1')}?tab=why`);
    await seen(page, '.verdict', 'order.pay');
    await page.goto(`file://${file}${order('1')}?tab=turns`);
    await (await seen(page, '.row.turn', 'order.add')).click();
    await seen(page, '.turn-detail .diff', 'items');
    await page.goto(`file://${file}${order('1')}`);
    await seen(page, '.canvas svg', 'open');
    // Laid out by ELK, which is in the file: there are lines between the states.
    await page.locator('.chart-view .note').waitFor({ state: 'detached' });
    expect(await page.locator('.canvas svg [data-edge]').count()).toBeGreaterThan(0);
  });
});
