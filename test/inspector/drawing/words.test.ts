/** Words of the page: moments of explanations as the reader has them. */

import { afterEach, expect, test } from 'vitest';
import { countFrom, timeOfDay, withMoments } from '../../../inspector/page/core/words.ts';
import { clockText } from '../../../inspector/why/words.ts';

afterEach(() => countFrom(undefined));

const AT = Date.UTC(2026, 0, 1, 0, 0, 32, 18);

test('a moment in a sentence is that of the reader, or of the simulated run', () => {
  const sentence = `it waits since ${clockText(AT)}, and ends at ${clockText(AT + 3_600_000)}.`;
  const [since, end] = [timeOfDay(AT), timeOfDay(AT + 3_600_000)];
  expect(withMoments(sentence, AT)).toBe(`it waits since ${since}, and ends at ${end}.`);
  countFrom(AT - 2_018);
  expect(withMoments(sentence, AT)).toBe('it waits since 00:00:02.018, and ends at 01:00:02.018.');
});

test('a moment of the evening before is found from the morning after it', () => {
  countFrom(AT);
  const before = AT - 5 * 3_600_000;
  expect(withMoments(`since ${clockText(before)}`, AT)).toBe('since -05:00:00.000');
  expect(withMoments('since 1:2:3 and 99 ms', AT)).toBe('since 1:2:3 and 99 ms');
});
