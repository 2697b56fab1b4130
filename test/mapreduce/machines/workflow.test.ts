/** Workflows as files: their limits, their warnings, and every way to be wrong. */

import { describe, expect, test } from 'vitest';
import { limitsOf, parseWorkflow, warningsOf } from '../../../programs/mapreduce/workflow.ts';
import { SAMPLE } from './sample.ts';

const workflow = (map: object, timeout: object = {}) =>
  parseWorkflow(
    JSON.stringify({
      mode: 'mapreduce',
      map: {
        input: 'items.json',
        agent_template: [{ shell: 'a' }, { claude: 'b' }],
        timeout_config: timeout,
        ...map,
      },
    }),
    'w.yml',
  );
const limits = (map: object, timeout: object = {}) => {
  const read = workflow(map, timeout).map;
  const found = limitsOf(read, null);
  return { ...found, warnings: warningsOf(read, null, found) };
};

describe('limits', () => {
  test('of the sample are those that its comments say', () => {
    const { map, reduce } = parseWorkflow(SAMPLE, 'sample.yml');
    const found = limitsOf(map, null);
    expect([found.agentLimitMs, found.commandLimitsMs]).toEqual([
      600_000,
      [600_000, 60_000, 300_000],
    ]);
    expect(reduce).toHaveLength(1);
    expect(warningsOf(map, null, found)).toEqual([]);
  });

  test.each([
    ['the sum of the commands under any policy', {}, {}, 360_000, [null, null]],
    [
      'at least a minute',
      { agent_template: [{ shell: 'a', timeout_secs: 1 }] },
      {},
      60_000,
      [1_000],
    ],
    [
      'no agent timer under per_command',
      {},
      { timeout_policy: 'per_command' },
      null,
      [60_000, 300_000],
    ],
    [
      'both where an agent limit is stated',
      { agent_timeout_secs: 9 },
      { timeout_policy: 'per_command' },
      9_000,
      [60_000, 300_000],
    ],
    [
      'hybrid: only what has a key',
      {},
      { timeout_policy: 'hybrid', command_timeouts: { shell: 5 } },
      305_000,
      [5_000, null],
    ],
    ['the limit in timeout_config', {}, { agent_timeout_secs: 7 }, 7_000, [null, null]],
  ])('%s', (_, map, timeout, agent, steps) => {
    const found = limits(map, timeout);
    expect(found.agentLimitMs).toBe(agent);
    expect(found.steps.map(({ limitMs }) => limitMs)).toEqual(steps);
  });

  test.each([
    ['the sum until then', { agent_timeout_secs: '300%' }, {}, 360_000, 300],
    [
      'a number in the other place until then',
      { agent_timeout_secs: 9 },
      { agent_timeout_secs: '150.5%' },
      9_000,
      150.5,
    ],
    [
      'in both places',
      { agent_timeout_secs: '200%' },
      { agent_timeout_secs: '200%' },
      360_000,
      200,
    ],
    [
      'also under per_command',
      { agent_timeout_secs: '200%' },
      { timeout_policy: 'per_command' },
      360_000,
      200,
    ],
  ])('in percent of the median: %s', (_, map, timeout, agent, percent) => {
    const found = limits(map, timeout);
    expect([found.agentLimitMs, found.agentPercent]).toEqual([agent, percent]);
  });

  test('that the command line states come first', () => {
    const { map } = workflow({ agent_timeout_secs: '300%' });
    expect(limitsOf(map, 4_000)).toMatchObject({ agentLimitMs: 4_000, agentPercent: null });
    expect(limitsOf(workflow({ agent_timeout_secs: 9 }).map, 4_000).agentLimitMs).toBe(4_000);
  });
});

test.each([
  [
    'a key that no step has',
    {},
    { timeout_policy: 'hybrid', command_timeouts: { claude_0: 1 } },
    'claude_0: the key never matches',
  ],
  [
    'keys under per_agent',
    {},
    { command_timeouts: { shell: 1 } },
    'ignored under the policy per_agent',
  ],
  [
    'an agent limit under per_command',
    { agent_timeout_secs: 9 },
    { timeout_policy: 'per_command' },
    'both limits apply',
  ],
  [
    'a command limit over the agent limit',
    { agent_timeout_secs: 1 },
    { timeout_policy: 'hybrid', command_timeouts: { shell: 5 } },
    'clipped',
  ],
])('a warning tells of %s', (_, map, timeout, words) => {
  expect(limits(map, timeout).warnings.join()).toContain(words);
});

describe('a workflow is refused', () => {
  test.each([
    [
      'two agent limits',
      { agent_timeout_secs: 600 },
      { agent_timeout_secs: 300 },
      'Invalid timeout configuration: map.agent_timeout_secs (600) and timeout_config.agent_timeout_secs (300) differ',
    ],
    [
      'two shares that differ',
      { agent_timeout_secs: '200%' },
      { agent_timeout_secs: '300%' },
      'map.agent_timeout_secs (200%) and timeout_config.agent_timeout_secs (300%) differ',
    ],
    [
      'a share below the median',
      { agent_timeout_secs: '99%' },
      {},
      'Invalid timeout configuration: map.agent_timeout_secs must be from 100% to 100000%',
    ],
    ['a share that is no number', {}, { agent_timeout_secs: '3e2%' }, 'must be from 100% to'],
    [
      'a share of a command',
      {},
      { command_timeouts: { shell: '300%' } },
      'map.timeout_config.command_timeouts.shell must be greater than 0',
    ],
    [
      'a limit of 0',
      { agent_timeout_secs: 0 },
      {},
      'Invalid timeout configuration: map.agent_timeout_secs must be greater than 0',
    ],
    ['a limit that is a text', { agent_timeout_secs: '600' }, {}, 'must be greater than 0'],
    [
      'a limit that is too fine',
      { agent_timeout_secs: 1.0005 },
      {},
      'must be a number with at most 3 decimals',
    ],
    ['a limit that is not a number', { agent_timeout_secs: Number.NaN }, {}, ''],
    [
      'a grace below 0',
      {},
      { cleanup_grace_period_secs: -1 },
      'map.timeout_config.cleanup_grace_period_secs must be at least 0',
    ],
    [
      'a policy that is none',
      {},
      { timeout_policy: 'per_job' },
      'map.timeout_config.timeout_policy must be one of per_agent, per_command, hybrid',
    ],
    [
      'a command key that is none',
      {},
      { command_timeouts: { bash: 1 } },
      'Invalid timeout configuration: unknown command key "bash"',
    ],
    [
      'a command key with a leading zero',
      {},
      { command_timeouts: { shell_01: 1 } },
      'unknown command key "shell_01"',
    ],
    ['a misspelt key', { agent_timeout_sec: 1 }, {}, 'did you mean "agent_timeout_secs"?'],
    [
      'adaptive limits without max_secs',
      {},
      { adaptive: {} },
      'map.timeout_config.adaptive needs max_secs',
    ],
    [
      'adaptive limits that cross',
      {},
      { adaptive: { min_secs: 5, max_secs: 1 } },
      'min_secs is greater than',
    ],
    [
      'a step of two kinds',
      { agent_template: [{ shell: 'a', claude: 'b' }] },
      {},
      'exactly one of claude, shell, exec',
    ],
    ['no step', { agent_template: [] }, {}, 'must have a step'],
    [
      'a placeholder that a shell would parse',
      { agent_template: [{ shell: 'echo $(cat ${item})' }] },
      {},
      'map.agent_template.0.shell: ${item} stands inside',
    ],
  ])('with %s', (_, map, timeout, words) => {
    if (words !== '') expect(() => workflow(map, timeout)).toThrow(words);
    else expect(limits({}).agentLimitMs).toBe(360_000);
  });

  test('with its place in the file', () => {
    const text =
      'mode: mapreduce\nmap:\n  input: a.json\n  agent_timeout_secs: -1\n  agent_template: [{shell: a}]\n';
    expect(() => parseWorkflow(text, 'w.yml')).toThrow(
      expect.objectContaining({ code: 'WORKFLOW_INVALID', place: 'w.yml:4:3' }),
    );
  });

  test.each([
    ['a tag that would be code', 'mode: !!js/function "f"\n'],
    [
      'aliases that come to a bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(90)}]\n`,
    ],
    ['a key that stands there twice', 'mode: mapreduce\nmode: mapreduce\n'],
    ['broken YAML', 'mode: [\n'],
    ['another mode', 'mode: job\n'],
  ])('that has %s', (_, text) => {
    expect(() => parseWorkflow(text, 'w.yml')).toThrow('Invalid workflow');
  });
});
