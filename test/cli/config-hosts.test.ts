/** Names by which the HTTP API of a node may be called, as its configuration says. */

import { describe, expect, test } from 'vitest';
import { ConfigFolder, GOOD } from './config-folder.ts';

const folder = new ConfigFolder();

describe('the names of the HTTP API', () => {
  const args = ['print', 'manager', '--json', '--datacenter', 'A'];

  test('come from flags given again, from the environment with commas, and from the file', async () => {
    const hostsOf = async (more: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      JSON.parse((await folder.config([...args, ...more], env)).out).settings.hosts;
    const file = folder.write('hosts: [jobs.example.com, "[fd00::1]:7400"]\n');
    const env = { ESCAPEMENT_HOSTS: 'a.example, b.example:7400' };
    expect(await hostsOf([])).toEqual({ value: [], origin: 'default' });
    expect(await hostsOf(['--config', file])).toEqual({
      value: ['jobs.example.com', '[fd00::1]:7400'],
      origin: `${file}:1:1`,
    });
    expect(await hostsOf(['--config', file], env)).toEqual({
      value: ['a.example', 'b.example:7400'],
      origin: 'ESCAPEMENT_HOSTS',
    });
    expect(await hostsOf(['--host', 'c.example', '--host', 'd.example'], env)).toEqual({
      value: ['c.example', 'd.example'],
      origin: '--host',
    });
  });

  test('are names, with a port or without, of a node that has the API', async () => {
    for (const host of ['http://a.example', 'a b', '*', 'a.example:x', 'a.example:99999', ''])
      expect(await folder.check(`${GOOD}hosts: ["${host}"]\n`)).toMatchObject({
        code: 78,
        err: expect.stringContaining('hosts[0]: must be a name such as "jobs.example.com"'),
      });
    const many = Array.from({ length: 1_001 }, (_, n) => `h${n}`).join(', ');
    expect((await folder.check(`${GOOD}hosts: [${many}]\n`)).err).toContain('at most 1,000 items');
    const worker = ['check', 'worker', '--node', 'w', '--datacenter', 'A', '--host', 'w.example'];
    expect((await folder.config(worker)).err).toContain('hosts: a worker has no such setting');
  });
});
