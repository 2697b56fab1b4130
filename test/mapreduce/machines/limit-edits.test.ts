/** Limits put into the text of a workflow: where they go, and that nothing else changes. */

import { expect, test } from 'vitest';
import { edited } from '../../../programs/mapreduce/workflow.ts';

const AGENT = { path: ['map', 'timeout_config', 'agent_timeout_secs'], value: 3 };
const SHELL = { path: ['map', 'timeout_config', 'command_timeouts', 'shell'], value: 5 };

test.each([
  [
    'a number in its place, with its comment',
    'map:\n  timeout_config:\n    agent_timeout_secs: 600  # long\n',
    'map:\n  timeout_config:\n    agent_timeout_secs: 3  # long\n',
  ],
  [
    'a key before the first one',
    'map:\n  timeout_config: # of limits\n    # of enforcing\n    enforce: true\n',
    'map:\n  timeout_config: # of limits\n    # of enforcing\n    agent_timeout_secs: 3\n    enforce: true\n',
  ],
  [
    'the maps that are missing',
    '# a\nmap:\n  input: x # b\n',
    '# a\nmap:\n  timeout_config:\n    agent_timeout_secs: 3\n  input: x # b\n',
  ],
  [
    'a key in braces',
    'map: { input: x, timeout_config: { enforce: true } }\n',
    'map: { input: x, timeout_config: { agent_timeout_secs: 3, enforce: true } }\n',
  ],
  [
    'missing maps in JSON',
    '{"map": {"input": "x"}}',
    '{"map": {"timeout_config": {"agent_timeout_secs": 3}, "input": "x"}}',
  ],
  [
    'a map that has nothing, which is printed again',
    '# a\nmap:\n  input: x # b\n  timeout_config: {}\n',
    '# a\nmap:\n  input: x # b\n  timeout_config: { agent_timeout_secs: 3 }\n',
  ],
])('%s', (_, before, after) => {
  expect(edited(before, [AGENT])).toBe(after);
});

test('several follow each other', () => {
  const text = 'map:\n  timeout_config:\n    command_timeouts:\n      claude: 9\n';
  expect(edited(text, [AGENT, SHELL])).toBe(
    'map:\n  timeout_config:\n    agent_timeout_secs: 3\n    command_timeouts:\n      shell: 5\n      claude: 9\n',
  );
});
