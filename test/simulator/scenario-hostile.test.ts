import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SCENARIO_LIMITS } from '../../simulator/jobs/scenario/limits.ts';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';

const HEAD = 'name: x\nsystem: jobs\ntopology: { gates: 1, datacenters: { A: {}, B: {} } }\n';

function errorOf(text: string, limits = SCENARIO_LIMITS): string {
  try {
    parseScenario(text, 'some.yaml', limits);
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: 'RuntimeError', code: 'SCENARIO_INVALID' });
    return (thrown as Error).message;
  }
  return '';
}

describe('a file that is nested deeply is refused before it is parsed', () => {
  test.each([
    ['brackets', '['.repeat(500_000)],
    ['closed brackets', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['braces', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(250_000)],
    ['question marks', '? '.repeat(250_000)],
    ['indentation', Array.from({ length: 1_200 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')],
    ['tabs and dashes', '-\t'.repeat(250_000)],
  ])('%s', (_, text) => {
    expect(errorOf(text)).toMatch(/^some\.yaml:\d+:\d+: /);
  });

  test('and exactly so where it is just too deep', () => {
    const deep = `${HEAD}config: ${'['.repeat(40)}${']'.repeat(40)}\n`;
    expect(errorOf(deep)).toContain('must not be nested more than 32 deep');
  });

  test('but brackets in comments are no nesting', () => {
    const comment = '# from 1 up to, but without, 2: [1, 2)\n'.repeat(100);
    expect(errorOf(`${comment}${HEAD}`)).toBe('');
  });
});

describe('aliases', () => {
  test('that repeat each other a billion times are counted, not unfolded', () => {
    const levels = Array.from({ length: 9 }, (_, n) => {
      const inside = n === 0 ? 'x' : `*a${n - 1}`;
      return `a${n}: &a${n} [${Array.from({ length: 10 }, () => inside).join(', ')}]`;
    });
    expect(errorOf(levels.join('\n'))).toContain('must have at most 200,000 values');
  });

  test('that go round in a circle end', () => {
    expect(errorOf(`${HEAD}config: &all { a: *all }\n`)).toContain(
      'must not be nested more than 32',
    );
  });

  test('to nothing are mistakes', () => {
    expect(errorOf(`${HEAD}config: *nothing\n`)).toContain('some.yaml:4:9: ');
  });
});

describe('names that objects know by themselves', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('%s is none', (name) => {
    expect(errorOf(`${HEAD}config: { ${name}: { polluted: true } }\n`)).toContain(
      `some.yaml:4:11: config: "${name}" is no name here.`,
    );
    expect(errorOf(`{"name": "x", "${name}": 1}`)).toContain(`"${name}" is no name here`);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('are none of a job or a datacenter either', () => {
    expect(errorOf(`${HEAD}expect: { jobs: { toString: {} } }\n`)).toContain('is none');
    expect(errorOf(`${HEAD}steps:\n  - { at: 0s, valueOf: 1 }\n`)).toContain(
      'there is no such key',
    );
  });
});

describe('values that are something else than they seem', () => {
  test.each([
    ['a key twice', 'seed: 1\nseed: 2\n', '"seed" stands here twice'],
    ['a tag', 'seed: !!js/function "x"\n', 'some.yaml:4:7: '],
    ['a key that is a list', '? [a]\n: 1\n', 'a key must be a word'],
    ['two documents', '---\nname: y\n', 'some.yaml:'],
    ['a merge', '<<: { seed: 1 }\n', 'there is no such key'],
    ['a huge number', 'seed: 1e999\n', 'must be a whole number'],
    ['a number that is not what it says', 'seed: 9007199254740993\n', 'must be a whole number'],
    ['no number', 'until: .nan\n', 'must be a duration'],
    ['half a millisecond', 'until: 0.5\n', 'must be a duration'],
    ['a negative time', 'until: -5\n', 'must be a duration'],
    ['a time beyond all times', 'until: 99999d\n', 'must be a duration from 1 to'],
    ['a share that is none', 'network: { loss: 1.5 }\n', 'must be a number from 0 to 1'],
    ['a list for a map', 'network: []\n', 'must be a map, got a list'],
    ['nothing at all', 'network:\n', 'must be a map, got nothing'],
    ['a name of several lines', 'x: |\n  a\n  b\n', 'there is no such key'],
  ])('%s', (_, text, mistake) => expect(errorOf(`${HEAD}${text}`)).toContain(mistake));
});

describe('a file that asks for too much', () => {
  test('is refused by its length', () => {
    expect(errorOf(`# ${'x'.repeat(1_048_576)}`)).toBe(
      'some.yaml:1:1: must have at most 1,048,576 characters.',
    );
  });

  test('is refused by its steps and workflows', () => {
    const limits = { ...SCENARIO_LIMITS, stepsMax: 2, workflowsMax: 3 };
    const heal = '  - { at: 0s, heal: true }\n';
    expect(errorOf(`${HEAD}steps:\n${heal.repeat(3)}`, limits)).toContain('at most 2 steps');
    const workflows = ['w1', 'w2'].map((id) => `{ id: ${id}, runs: 1s }`).join(', ');
    const submit = (job: string) =>
      `  - { at: 0s, submit: { job: ${job}, to: A, timeout: 1m, workflows: [ ${workflows} ] } }\n`;
    const text = `${HEAD}steps:\n${submit('j1')}${submit('j2')}`;
    expect(errorOf(text, limits)).toContain('at most 3 workflows');
  });

  test('has its many mistakes counted, in a moment', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `key${n}: 1`).join('\n');
    expect(errorOf(`${HEAD}${keys}\n`)).toContain('some.yaml: and more.');
    const options = keys.replaceAll('\n', '\n  ');
    expect(errorOf(`${HEAD}config:\n  ${options}\n`)).toMatch(/must have at most \d+ options/);
  });

  test('of ten thousand workflows, each waiting for all before it in a row, is taken', () => {
    const workflows = Array.from(
      { length: 10_000 },
      (_, n) => `{ id: w${n}, runs: 1s${n === 0 ? '' : `, dependsOn: [w${n - 1}]`} }`,
    );
    const submit = `{ at: 0s, submit: { job: j1, to: A, timeout: 1m, workflows: [ ${workflows.join(', ')} ] } }`;
    expect(errorOf(`${HEAD}steps:\n  - ${submit}\n`)).toBe('');
  });
});

test('what a file says is cut and escaped where it is repeated', () => {
  const message = errorOf(`${HEAD}seed: "\\e[31m${'x'.repeat(1_000)}"\n`);
  expect(message).not.toContain('\u001b');
  expect(message.length).toBeLessThan(300);
});

test('any text is a scenario or a mistake with its place', () => {
  const words = fc.constantFrom(
    'name: x\n',
    'system: jobs\n',
    'topology:',
    'steps:',
    'expect:',
    '\n',
    ' ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    ': ',
    '&a ',
    '*a',
    '"',
    "'",
    '|',
    '>',
    '#',
    '!',
    '%',
    '?',
    '~',
    '1e9',
    'A',
    '\t',
    '\0',
    '\u2028',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), (parts) => {
      const message = errorOf(parts.join(''));
      if (message !== '') expect(message).toMatch(/^some\.yaml:\d+:\d+: /);
    }),
    { numRuns: 500 },
  );
});
