/**
 * The file of a configuration: whatever is in it is either understood or refused with the place
 * where it stands, and none of it reaches anything else.
 */

import { mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigFolder, GOOD } from './config-folder.ts';

const folder = new ConfigFolder();

describe('a file that cannot be read (H1)', () => {
  test('is told by its path and the reason, in one line', async () => {
    mkdirSync(join(folder.path, 'folder.yml'));
    for (const [name, reason] of [
      ['nowhere.yml', 'there is no such file'],
      ['folder.yml', 'it is a directory'],
      ['/dev/null', 'it is not a file'],
    ] as const) {
      const { code, err } = await folder.config(['check', 'manager', '--config', name]);
      expect(err).toBe(`error: ${name}: the configuration cannot be read: ${reason}.\n`);
      expect(code).toBe(78);
    }
  });

  test.skipIf(process.getuid?.() === 0)('and belongs to somebody else exits 77', async () => {
    const name = folder.write(GOOD, 0o000);
    const { code, err } = await folder.config(['check', 'manager', '--config', name]);
    expect(err).toContain('may not be read');
    expect(code).toBe(77);
  });
});

describe('a file of odd bytes (H2)', () => {
  test('may begin with a byte order mark and have the line ends of Windows', async () => {
    const { code, out } = await folder.check('\ufeffdatacenter: A\r\nnode: A.manager-7\r\n');
    expect(out).toBe('OK: manager A.manager-7 of A\n');
    expect(code).toBe(0);
  });

  test('is refused with NUL bytes, and said where', async () => {
    const { code, err } = await folder.check('datacenter: A\nnode: "A\0B"\n');
    expect(err).toMatch(/file-\d+\.yml:2:9: there is a NUL byte/);
    expect(code).toBe(78);
  });

  test('is refused when it is not UTF-8, or no mapping', async () => {
    const bytes = await folder.check(Buffer.from([0x64, 0xff, 0xfe, 0x41]));
    expect(bytes).toMatchObject({ code: 78, err: expect.stringContaining('not UTF-8') });
    const list = await folder.check('- datacenter\n');
    expect(list).toMatchObject({ code: 78, err: expect.stringContaining(':1:1: ') });
  });

  test('that is empty says nothing', async () => {
    const { code, err } = await folder.check('');
    expect(err).toContain('datacenter: a manager needs it');
    expect(code).toBe(78);
  });

  test('is not read when it is larger than 1 MiB', async () => {
    const { code, err } = await folder.check(`#${'x'.repeat(1024 * 1024)}`);
    expect(err).toContain('it has 1048577 bytes, at most 1048576 are read');
    expect(code).toBe(78);
    const name = folder.write(GOOD);
    truncateSync(join(folder.path, name), 100 * 1024 * 1024);
    expect(await folder.config(['check', 'manager', '--config', name])).toMatchObject({
      code: 78,
      err: expect.stringContaining('it has 104857600 bytes'),
    });
  });
});

describe('a setting that does not exist (H3)', () => {
  test.each([
    ['datacentre: A', 'datacentre: there is no such key; did you mean "datacenter"?'],
    ['log: {levl: info}', 'log.levl: there is no such key; did you mean "level"?'],
    ['log: {colour: red}', 'log.colour: there is no such key; there are level, format'],
    [
      'clients: [{name: a, role: reader, token: x}]',
      'clients[0].token: there is no such key; did you mean "tokenFile"?',
    ],
  ])('%s', async (text, said) => {
    const { code, err } = await folder.check(`\n${text}\n`);
    expect(err).toMatch(/^error: file-\d+\.yml:2:\d+: /);
    expect(err).toContain(said);
    expect(code).toBe(78);
  });

  test('among the options of jobs says what was meant', async () => {
    const { code, err } = await folder.check(`${GOOD}jobs:\n  stuckTreshold: 3\n`);
    expect(err).toMatch(/:3:3: jobs\.stuckTreshold: .*did you mean "stuckThresholdMs"\?/);
    expect(code).toBe(78);
  });

  test('in the environment is a warning: it may be somebody else’s', async () => {
    const { code, err } = await folder.check(GOOD, { ESCAPEMENT_LISTN: '127.0.0.1:1' });
    expect(err).toContain('did you mean ESCAPEMENT_LISTEN?');
    expect(code).toBe(0);
  });

  test('agent_timeout_secs is none of ours (H7)', async () => {
    const { code, err } = await folder.check(`${GOOD}agent_timeout_secs: 3\n`);
    expect(err).toContain('agent_timeout_secs: there is no such key');
    expect(code).toBe(78);
  });
});

test('a key that stands there twice is refused (H4)', async () => {
  for (const [text, place] of [
    ['datacenter: A\nnode: x\ndatacenter: B\n', /:3:1: .*twice/],
    [`${GOOD}jobs: {leaseMs: 9000, leaseMs: 9001}\n`, /:2:23: .*twice/],
    ['{"datacenter": "A", "datacenter": "B"}', /:1:21: .*twice/],
  ] as const) {
    const { code, err } = await folder.check(text);
    expect(err).toMatch(place);
    expect(code).toBe(78);
  }
});

describe('a file that is meant to harm', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('has no key %s (H13)', async (key) => {
    for (const text of [`${key}: {polluted: 1}\n`, `jobs: {${key}: {polluted: 1}}\n`]) {
      const { code, err } = await folder.check(text);
      expect(err).toContain(`"${key}" is no name here`);
      expect(code).toBe(78);
    }
    const flag = await folder.config([
      'check',
      'manager',
      '--datacenter',
      'A',
      '--set',
      `jobs.${key}.x=1`,
    ]);
    expect(flag.code).toBe(64);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test('has a bounded number of aliases (H14)', async () => {
    const levels = 'abcdefghij'.split('').map((name, n, all) => {
      const items =
        n === 0
          ? 'x'
          : Array(10)
              .fill(`*${all[n - 1]}`)
              .join(', ');
      return `${name}: &${name} [${items}]`;
    });
    const { code, err } = await folder.check(`${levels.join('\n')}\n`);
    expect(err).toContain('must have at most 200,000 values');
    expect(code).toBe(78);
  });

  test('has no tags (H14)', async () => {
    for (const tag of ['!!js/function "function(){}"', '!!binary aGk=', '!own x']) {
      const { code, err } = await folder.check(`${GOOD}node: ${tag}\n`);
      expect(err).toMatch(/:2:\d+: /);
      expect(code).toBe(78);
    }
  });

  test('is not nested without end (H14)', async () => {
    for (const depth of [40, 100_000]) {
      const { code, err } = await folder.check(`jobs: ${'['.repeat(depth)}${']'.repeat(depth)}\n`);
      expect(err).toMatch(/:1:(39|1): .*must not be nested more than 32 deep/);
      expect(code).toBe(78);
    }
  });
});

test('whatever is wrong is told at once, in the order of the file', async () => {
  const { code, err } = await folder.check(
    'datacenter: [5]\njobs: { stuckTreshold: 2m, maxRetries: three }\nlisen: x\nlisten: 127.0.0.1:99999\nlog: { level: loud }\n',
  );
  expect(code).toBe(78);
  const told = err.trimEnd().split('\n');
  expect(told.map((line) => /:(\d+:\d+): /.exec(line)?.[1])).toEqual([
    ...['1:1', '2:9', '2:28', '3:1', '4:1', '5:8'],
  ]);
  expect(err).toContain('datacenter: must be 1 to 128 letters, digits or "._:-", got a list\n');
  expect(err).not.toContain('needs it');
});
