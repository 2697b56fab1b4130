import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JOBS_OPTIONS, type JobsOption } from '../../programs/jobs/configuration/options.ts';
import {
  gateRules,
  healthRules,
  type JobsConfiguration,
  jobRules,
  leaseRules,
  resolveConfiguration,
  workerRules,
  workflowRules,
} from '../../programs/jobs/configuration.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { likelyOption } from '../../runtime/base/option.ts';
import { readProjectFile } from '../project-files.ts';

/** What it says to a configuration from a file, which no compiler has seen. */
function complaint(given: unknown): string {
  try {
    resolveConfiguration(given as object);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RuntimeError);
    expect((thrown as RuntimeError).code).toBe('OPTION_INVALID');
    return (thrown as RuntimeError).message;
  }
  return 'accepted';
}

const options = Object.entries<JobsOption>(JOBS_OPTIONS);

describe('a configuration', () => {
  test('is complete without being given anything', () => {
    const defaults = options.map(([name, option]) => [name, option.default]);
    expect(resolveConfiguration()).toEqual(Object.fromEntries(defaults));
  });

  test('takes what is given, and an undefined option for one that is left out', () => {
    const given = { maxRetries: 0, failFast: true, leaseMs: undefined, extensionJobCapMs: 0 };
    const config = resolveConfiguration(given as object);
    expect(config).toMatchObject({ maxRetries: 0, failFast: true, leaseMs: 6_000 });
    expect(config.extensionJobCapMs).toBe(0);
  });

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(resolveConfiguration())).toBe(true);
  });

  test('is an object', () => {
    for (const given of [null, [], 'stuckThresholdMs', 7])
      expect(complaint(given)).toBe('A configuration of jobs is an object of options.');
  });

  test('is not what its prototype says', () => {
    const given = Object.create({ maxRetries: 1 });
    expect(resolveConfiguration(given).maxRetries).toBe(3);
  });
});

describe('an option', () => {
  test.each(options)('%s keeps its range', (name, option) => {
    if (option.kind === 'whole' || option.kind === 'nullable') {
      // Whether it goes with the others is another question.
      const isRefused = (value: unknown) => complaint({ [name]: value }).includes('got ');
      expect([option.min, option.max].map(isRefused)).toEqual([false, false]);
      const outside = [option.min - 1, option.max + 1, option.min + 0.5, Number.NaN, '1000', true];
      expect(outside.map(isRefused)).toEqual(outside.map(() => true));
      expect(isRefused(null)).toBe(option.kind === 'whole');
      return;
    }
    const legal = option.kind === 'choice' ? option.choices : [true, false];
    expect(legal.map((value) => complaint({ [name]: value }))).toEqual(legal.map(() => 'accepted'));
    for (const value of [0, 'every', null]) expect(complaint({ [name]: value })).toContain('got ');
  });

  test('that is wrong is named with what was given and what is legal', () => {
    expect(complaint({ maxRetries: 11 })).toBe(
      '"maxRetries" must be a whole number from 0 to 10, got 11.',
    );
    expect(complaint({ stuckThresholdMs: '2m' })).toBe(
      '"stuckThresholdMs" must be a whole number from 1,000 to 5,184,000,000, got "2m".',
    );
    expect(complaint({ datacenterTimeoutQuorum: 'most' })).toBe(
      '"datacenterTimeoutQuorum" must be one of "any", "majority", "all", got "most".',
    );
    expect(complaint({ extensionJobCapMs: -1 })).toBe(
      '"extensionJobCapMs" must be null or a whole number from 0 to 5,184,000,000, got -1.',
    );
    expect(complaint({ failFast: 'true' })).toBe('"failFast" must be true or false, got "true".');
    expect(complaint({ leaseMs: [6_000] })).toContain('got a list.');
  });
});

describe('a key that is no option', () => {
  test.each([
    ['JOB_STUCK_THRESHOLD', 'stuckThresholdMs'],
    ['JOB_TIMEOUT_CHECK_INTERVAL', 'checkIntervalMs'],
    ['GATE_TIMEOUT_FALLBACK', 'gateFallbackMs'],
    ['base_deadline', 'baseDeadlineMs'],
    ['max_workflow_retries', 'maxRetries'],
    ['stuckTresholdMs', 'stuckThresholdMs'],
    ['stuck_threshold_ms', 'stuckThresholdMs'],
    ['stuckThreshold', 'stuckThresholdMs'],
    ['maxRetrys', 'maxRetries'],
    ['leaseRenew', 'leaseRenewMs'],
  ])('%s leads to %s', (given, meant) => {
    expect(complaint({ [given]: 1 })).toBe(
      `There is no option "${given}"; did you mean "${meant}"?`,
    );
  });

  test('leads nowhere when it is like none', () => {
    for (const given of ['colour', 'constructor', '__proto__x', '', 'x'.repeat(10_000)])
      expect(complaint({ [given]: 1 })).not.toContain('did you mean');
    expect(complaint(JSON.parse('{"__proto__": 1}'))).toBe('There is no option "__proto__".');
  });

  test('leads to the option of that name in AD-26 or AD-34, for each that has one', () => {
    for (const [name, { sourceName }] of options)
      if (sourceName !== undefined) expect(likelyOption(sourceName, JOBS_OPTIONS)).toBe(name);
  });

  test('leads to the option when one letter is wrong', () => {
    const names = fc.constantFrom(...options.map(([name]) => name));
    fc.assert(
      fc.property(names, fc.nat(), fc.constantFrom('q', ''), (name, at, letter) => {
        const place = at % (name.length - 2);
        const wrong = name.slice(0, place) + letter + name.slice(place + 1);
        expect(likelyOption(wrong, JOBS_OPTIONS)).toBe(name);
      }),
    );
  });
});

describe('options that do not fit together', () => {
  test.each<[Partial<JobsConfiguration>, Partial<JobsConfiguration>]>([
    [{ reportIntervalMs: 14_000, stuckThresholdMs: 13_999 }, { stuckThresholdMs: 14_000 }],
    [{ gateFallbackMs: 20_000, checkIntervalMs: 20_001 }, { checkIntervalMs: 20_000 }],
    [{ gateFallbackMs: 40_000, gateCheckIntervalMs: 40_001 }, { gateCheckIntervalMs: 40_000 }],
    [{ minGrantMs: 30_001, baseDeadlineMs: 30_000 }, { minGrantMs: 30_000 }],
    [{ heartbeatIntervalMs: 15_001, baseDeadlineMs: 30_000 }, { heartbeatIntervalMs: 15_000 }],
    [{ silentAfterMs: 19_999, reportIntervalMs: 10_000 }, { silentAfterMs: 20_000 }],
    [{ leaseRenewMs: 2_750, leaseMarginMs: 500, leaseMs: 6_000 }, { leaseMs: 6_001 }],
    [{ dispatchBackoffMinMs: 100, dispatchBackoffMaxMs: 99 }, { dispatchBackoffMaxMs: 100 }],
  ])('are named with their values: %j', (given, mended) => {
    const message = complaint(given);
    for (const [name, value] of Object.entries(given)) {
      expect(message).toContain(`"${name}"`);
      expect(message).toContain(`"${name}" is ${value}`);
    }
    expect(complaint({ ...given, ...mended })).toBe('accepted');
  });

  test('are looked at with their defaults too', () => {
    expect(complaint({ stuckThresholdMs: 5_000 })).toBe(
      '"reportIntervalMs" must not be above "stuckThresholdMs": "reportIntervalMs" is 10000 and "stuckThresholdMs" is 5000.',
    );
  });

  test('are not blamed when one of them is wrong by itself', () => {
    expect(complaint({ minGrantMs: 4_000_000 })).not.toContain('baseDeadlineMs');
  });
});

describe('several mistakes', () => {
  test('are told together', () => {
    const message = complaint({ maxRetries: -1, colour: 'red', stuckThresholdMs: 2_000 });
    expect(message).toContain('"maxRetries" must be');
    expect(message).toContain('There is no option "colour".');
    expect(message).toContain('"stuckThresholdMs" is 2000');
  });

  test('are told up to ten', () => {
    const wrong = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`z${index}`, 1]));
    const message = complaint(wrong);
    expect(message.match(/There is no option/g)).toHaveLength(10);
    expect(message).toMatch(/ And 3 more\.$/);
  });
});

describe('rules', () => {
  const config = resolveConfiguration({ allStuckThresholdMs: 200_000, jobRetentionMs: 60_000 });

  test('are made of the configuration', () => {
    expect(jobRules(config, { timeoutMs: 1 }).allStuckThresholdMs).toBe(200_000);
    expect(gateRules(config, { timeoutMs: 1 })).toMatchObject({
      allStuckThresholdMs: 200_000,
      quorum: 'any',
    });
    expect(healthRules(config).retentionMs).toBe(60_000);
    const others = { ...workflowRules(config), ...workerRules(config), ...leaseRules(config) };
    expect(config).toMatchObject(others);
  });

  test('follow what a job says of itself', () => {
    const terms = {
      timeoutMs: 1,
      allStuckThresholdMs: 90_000,
      datacenterTimeoutQuorum: 'all',
    } as const;
    expect(jobRules(config, terms).allStuckThresholdMs).toBe(90_000);
    expect(gateRules(config, terms)).toMatchObject({ allStuckThresholdMs: 90_000, quorum: 'all' });
  });
});

describe('docs/jobs-configuration.md', () => {
  const page = readProjectFile('docs/jobs-configuration.md');

  test('lists every option with its default, range, name in the sources and meaning, and no other', () => {
    const rows = Array.from(page.matchAll(/^\| (`\w+` .*) \|$/gm), ([, row = '']) =>
      row.split('|').map((cell) => cell.trim()),
    );
    expect(rows).toEqual(options.map(([name, option]) => documented(name, option)));
  });

  test('shows messages as they are', () => {
    const given = {
      maxRetries: 11,
      JOB_STUCK_THRESHOLD: 120,
      heartbeatIntervalMs: 20_000,
    };
    const shown = /```text\n([\s\S]*?)```/.exec(page)?.[1];
    expect(shown?.trim().split('\n').join(' ')).toBe(complaint(given));
  });
});

function documented(name: string, option: JobsOption): string[] {
  const number = (value: number) => value.toLocaleString('en-GB');
  const preset = typeof option.default === 'number' ? number(option.default) : `${option.default}`;
  const source = option.sourceName === undefined ? '–' : `\`${option.sourceName}\``;
  return [`\`${name}\``, preset, legalOf(option, number), source, option.meaning];
}

function legalOf(option: JobsOption, number: (value: number) => string): string {
  switch (option.kind) {
    case 'whole':
      return `${number(option.min)}–${number(option.max)}`;
    case 'nullable':
      return `null, ${number(option.min)}–${number(option.max)}`;
    case 'choice':
      return option.choices.join(', ');
    case 'flag':
      return 'true, false';
  }
}
