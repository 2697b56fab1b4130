/**
 * Five questions of somebody who has never seen the page, and the way from its first panel to each answer. The jobs are
 * those of jobs.test.ts.
 */

import type { Locator, Page } from 'playwright-core';
import { seen } from './opened.ts';

/** Clicks that an answer may take. */
export const CLICKS_MAX = 3;

/** The first panel, and clicks that are counted. */
export class Newcomer {
  clicks = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(found: Locator | Promise<Locator>): Promise<void> {
    this.clicks += 1;
    await (await found).click();
  }

  link(within: string, text: string | RegExp): Promise<Locator> {
    return seen(this.page, `${within} a`, text);
  }
}

export const QUESTIONS: Readonly<Record<string, (asks: Newcomer) => Promise<void>>> = {
  'Why did job late end?': async (asks) => {
    const kind = asks.page
      .locator('.kind')
      .filter({ has: asks.page.locator('a', { hasText: /^job$/ }) });
    await asks.click(kind.locator('a', { hasText: /ended/ }));
    await asks.click(asks.link('.rows .row', 'late'));
    await asks.click(asks.page.getByRole('link', { name: 'Why', exact: true }));
    await seen(asks.page, '.verdict', /time/);
    await seen(asks.page, '.sums tr', /1\.5 s/);
  },
  'What happens next to job frozen?': async (asks) => {
    await asks.click(asks.link('section[aria-label="Due next"]', 'job/frozen@A'));
    await asks.click(asks.page.getByRole('link', { name: 'Why', exact: true }));
    await seen(asks.page, '.exits tr', /overallLimit/);
  },
  'Who talks to job frozen?': async (asks) => {
    await asks.click(asks.link('section[aria-label="Due next"]', 'job/frozen@A'));
    await asks.click(asks.page.getByRole('link', { name: 'Messages' }));
    await seen(asks.page, '.diagram .who', 'frozen');
    await seen(asks.page, '.arrow .what', /./);
  },
  'What changed in the last minute?': async (asks) => {
    await asks.click(asks.page.getByRole('link', { name: 'Timeline' }));
    await asks.click(asks.page.getByRole('button', { name: 'The last minute' }));
    await seen(asks.page, '.timeline-tools', /1 min/);
    await seen(asks.page, '.lane', /@/);
  },
};
