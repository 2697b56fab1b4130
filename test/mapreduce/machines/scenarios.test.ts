/** List of what tests of runs have to show: each scenario by its number, each criterion by its words, hostile inputs. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const RUNS = join(import.meta.dirname, '../runs');
const SCENARIOS = 39;
const CRITERIA = [
  'agent_timeout_secs configuration is enforced for agent execution',
  'Per-command timeout overrides work in agent templates',
  'Timed-out agents are terminated and cleaned up properly',
  'Timeout events are logged with appropriate detail',
  'Timeout metrics are collected and available for monitoring',
  'DLQ integration preserves timeout information for retry analysis',
  'Checkpoint/resume functionality handles timeout state correctly',
  'Performance impact of timeout monitoring is measurable and minimal',
];

/** Titles of tests and of their groups. */
const titles = readdirSync(RUNS)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(RUNS, name), 'utf8');
    return [
      ...text.matchAll(/(?:test|describe)\S*\(\s*(['"])(.*?)\1,|\]\S*\)\(\s*(['"])(.*?)\3,/gs),
    ];
  })
  .map(([, , one, , other]) => one ?? other ?? '');

describe('there is a test', () => {
  test.each(Array.from({ length: SCENARIOS }, (_, index) => index + 1))(
    'of scenario %i',
    (number) => {
      expect(titles.some((title) => title.includes(`[${number}]`))).toBe(true);
    },
  );

  test.each(CRITERIA)('of: %s', (criterion) => {
    expect(titles.some((title) => title.includes(criterion))).toBe(true);
  });

  test.each(['H7', 'H14', 'H77', 'H78', 'H79'])('of %s', (id) => {
    expect(titles.some((title) => title.includes(`${id}:`))).toBe(true);
  });
});
