/** One grammar of durations: what one place takes all of them take, and what one refuses none of them takes. */

import { describe, expect, test } from 'vitest';
import { parseDurationMs } from '../cli/arguments.ts';
import { parseJobFile } from '../cli/loaders/job-file.ts';
import { readSettings } from '../cli/node/read-settings.ts';
import { duration as parameter } from '../http/parameters.ts';
import { Field } from '../reading/field.ts';
import { placed } from '../reading/value.ts';
import { durationMs } from '../runtime/base/duration.ts';
import { parseScenario } from '../simulator/jobs/scenario/scenario.ts';

const setting = (text: string): number | undefined => {
  const source = placed({ stopLimit: text }, () => ({ from: 'default' }) as const);
  return readSettings(new Field(source, '', { add: () => {} })).stopLimit;
};
const jobFile = (text: string) =>
  parseJobFile(`timeout: "${text}"\nworkflows: [{ id: w, handler: h }]\n`, 'job.yml').timeoutMs;
const scenario = (text: string) =>
  parseScenario(
    `name: x\nsystem: jobs\nuntil: "${text}"\ntopology: { datacenters: { A: {} } }\n`,
    'x.yml',
  ).plan.untilMs;

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a setting': setting,
  'a job file': jobFile,
  'a scenario': scenario,
  'the command line': parseDurationMs,
  'a request': (text) => parameter.parse(text),
};

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
    ['1h30m20s5ms', 5_420_005],
    ['1d', 86_400_000],
  ])('takes %s', (text, ms) => expect(read(text)).toBe(ms));

  test.each(['', 's', '-5s', '5 parsecs', '1e3s', '0.5ms', '5x', '1h 30m', '1h30', 'Infinityms'])(
    'refuses %j',
    (text) => {
      const read_ = () => read(text) ?? refused();
      expect(read_).toThrow();
    },
  );
});

test('a number is milliseconds, and digits in a text are none, for nobody says what they count', () => {
  expect(durationMs(1_500)).toBe(1_500);
  for (const none of ['1500', -1, 0.5, Number.NaN, null, true, [1], {}])
    expect(durationMs(none)).toBeUndefined();
  for (const [name, read] of Object.entries(READERS))
    if (name !== 'a request') expect(() => read('1500') ?? refused(), name).toThrow();
});

function refused(): never {
  throw new Error('It is none.');
}
