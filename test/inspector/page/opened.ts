/**
 * Pages that tests open: of a size and a colour scheme, closed after each test, which fails when a page has complained.
 */

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

export interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  /** Runs in the page before anything else. */
  readonly before?: string;
  /** Complaints of the browser that the test is about. */
  readonly allow?: RegExp;
}

const HEIGHT = 860;
/** A busy machine is slow; what does not come at all ends with this. */
const PATIENCE_MS = 120_000;

export const hasBrowser = inject('browser') !== '';

export class Pages {
  #browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];
  readonly #complaints: string[] = [];

  constructor() {
    beforeAll(async () => {
      if (hasBrowser) this.#browser = await chromium.connect(inject('browser'));
    });
    afterEach(async () => {
      await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
      expect(this.#complaints.splice(0)).toEqual([]);
    });
    afterAll(() => this.#browser?.close());
  }

  async open(url: string, look: Look = {}): Promise<Page> {
    const { width = 1_280, scheme = 'light', before, allow } = look;
    const context = await (this.#browser as Browser).newContext({
      viewport: { width, height: HEIGHT },
      colorScheme: scheme,
      hasTouch: width < 500,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const complain = (text: string): void => {
      // The browser asks for the icon when it likes, also after a test has ended its node.
      const isIcon = text.endsWith('/assets/icon.svg') && text.includes('ERR_CONNECTION_REFUSED');
      if (!isIcon && allow?.test(text) !== true) this.#complaints.push(text);
    };
    page.on('pageerror', ({ message }) => complain(message));
    page.on('console', (message) => {
      if (message.type() === 'error') complain(`${message.text()} ${message.location().url}`);
    });
    if (before !== undefined) await page.addInitScript(before);
    await page.goto(url);
    return page;
  }
}

/** Waits for an element with this text and returns it. */
export async function seen(page: Page, selector: string, text: string | RegExp = '') {
  const found = page.locator(selector).filter({ hasText: text }).first();
  await found.waitFor();
  return found;
}

/** Texts of all elements that match. */
export const texts = (page: Page, selector: string): Promise<string[]> =>
  page.locator(selector).allInnerTexts();

/** Several ticks of the page's clock have passed: what counts has counted. */
export async function ticked(page: Page): Promise<void> {
  await page.evaluate((forMs) => {
    const until = performance.now() + forMs;
    return new Promise<void>((resolve) => {
      const look = (): void => {
        if (performance.now() < until) requestAnimationFrame(look);
        else resolve();
      };
      look();
    });
  }, TICKS_MS);
}
const TICKS_MS = 600;

/** What of the page is wider than the screen, apart from what scrolls by itself. */
export function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide: string[] = [];
    if (document.documentElement.scrollWidth <= innerWidth) return wide;
    for (const element of document.querySelectorAll('body *'))
      if (element.getBoundingClientRect().right > innerWidth + 1)
        wide.push(`${element.tagName}.${element.getAttribute('class') ?? ''}`);
    return wide.slice(0, 5);
  });
}

/** Texts whose contrast with what is behind them is below WCAG AA. */
export function faint(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const channels = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (colour: number[]): number => {
      const [red = 0, green = 0, blue = 0] = colour.slice(0, 3).map((value) => {
        const share = value / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element: Element | null): number[] => {
      for (let at = element; at !== null; at = at.parentElement) {
        const colour = channels(getComputedStyle(at).backgroundColor);
        if ((colour[3] ?? 1) > 0.9) return colour;
      }
      return [255, 255, 255];
    };
    const found = new Set<string>();
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some(
        (node) => node.nodeType === 3 && (node.textContent ?? '').trim() !== '',
      );
      if (!own || element.closest('.canvas, svg, [disabled], .hidden') !== null) continue;
      const { color, fontSize, fontWeight, opacity } = getComputedStyle(element);
      if (element.getClientRects().length === 0) continue;
      const [one, other] = [luminance(channels(color)), luminance(behind(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const isLarge = Number.parseFloat(fontSize) >= 18.5 || Number(fontWeight) >= 700;
      if (ratio < (isLarge ? 3 : 4.5) || Number(opacity) < 0.6)
        found.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ${color}`);
    }
    return [...found].slice(0, 5);
  });
}
