/**
 * Configuration of a node: every bad value is refused with where it comes from, and nothing is started.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../cli/node/settings.ts';
import { VARIABLES } from '../../cli/node/variables.ts';
import { readProjectFile } from '../project-files.ts';
import { ConfigFolder, GOOD } from './config-folder.ts';

const folder = new ConfigFolder();

describe('durations (H5)', () => {
  const said = async (value: string) => {
    const { code, err } = await folder.check(`${GOOD}jobs: {stuckThresholdMs: ${value}}\n`);
    return code === 0 ? 'taken' : `${code} ${/:2:\d+: jobs\.stuckThresholdMs: must be/.test(err)}`;
  };

  test.each(['0', '-1', '.nan', '"30"', '1e999', '0.5', '0.5ms', '61d', '5184000001', '"1e3"'])(
    '%s is refused',
    async (value) => expect(await said(value)).toBe('78 true'),
  );

  test.each(['2147483648', '30d', '60d', '5184000000', '120s', '2m', '10000'])(
    '%s is taken',
    async (value) => expect(await said(value)).toBe('taken'),
  );

  test.each(['0', '30', '-5s', '5 parsecs', '2d', '1e3s'])(
    'stopLimit %s is refused',
    async (limit) => {
      const args = ['--node', 'w', '--datacenter', 'A', `--stop-limit=${limit}`];
      const { code, err } = await folder.config(['check', 'worker', ...args]);
      expect(err).toContain('--stop-limit: stopLimit: must be a duration');
      expect(code).toBe(64);
    },
  );
});

test.each([
  ['gateFallbackMs: 1s, checkIntervalMs: 30s', 'gateFallbackMs', 'checkIntervalMs'],
  ['reportIntervalMs: 9m, silentAfterMs: 1h', 'reportIntervalMs', 'stuckThresholdMs'],
  ['minGrantMs: 31s', 'minGrantMs', 'baseDeadlineMs'],
  ['heartbeatIntervalMs: 20s', 'heartbeatIntervalMs', 'baseDeadlineMs'],
  ['silentAfterMs: 15s', 'silentAfterMs', 'reportIntervalMs'],
  ['leaseRenewMs: 3s', 'leaseRenewMs', 'leaseMs'],
])('contradictions are told with both options: %s (H6)', async (jobs, one, other) => {
  const { code, err } = await folder.check(`${GOOD}jobs: {${jobs}}\n`);
  expect(err).toMatch(/^error: file-\d+\.yml:2:\d+: jobs\./);
  expect(err).toContain(`"${one}"`);
  expect(err).toContain(`"${other}"`);
  expect(code).toBe(78);
});

describe('secrets (H12)', () => {
  const secret = 'a secret of more than 32 bytes, so';

  test('are no flag, and no setting', async () => {
    const flag = await folder.config(['check', 'manager', '--datacenter', 'A', '--secret', secret]);
    expect(flag.code).toBe(64);
    const set = await folder.config([
      'check',
      'manager',
      '--datacenter',
      'A',
      '--set',
      `secret=${secret}`,
    ]);
    expect(set).toMatchObject({
      code: 64,
      err: expect.stringContaining('secret: there is no such key'),
    });
    const inline = await folder.check(`${GOOD}secret: ${secret}\n`);
    expect(inline).toMatchObject({
      code: 78,
      err: expect.stringContaining('did you mean "secretFile"?'),
    });
    expect(flag.err + set.err + inline.err).not.toContain('32 bytes, so');
  });

  test('of fewer than 32 bytes are refused, wherever they stand', async () => {
    const short = folder.write('x'.repeat(31));
    expect(await folder.check(`${GOOD}secretFile: ${short}\n`)).toMatchObject({
      code: 78,
      err: expect.stringMatching(/:2:1: secretFile: .* has 31 bytes, at least 32 are needed/),
    });
    expect(await folder.check(GOOD, { ESCAPEMENT_SECRET: 'short' })).toMatchObject({
      code: 78,
      err: 'error: ESCAPEMENT_SECRET: ESCAPEMENT_SECRET has 5 bytes, at least 32 are needed\n',
    });
  });

  test('that everybody can read are told of, and refused where it is strict', async () => {
    const open = folder.write(`${secret}\n`, 0o644);
    const lax = await folder.check(`${GOOD}secretFile: ${open}\n`);
    expect(lax).toMatchObject({
      code: 0,
      err: expect.stringContaining('open to everybody (mode 644)'),
    });
    const strict = await folder.check(`${GOOD}secretFile: ${open}\nstrict: true\n`);
    expect(strict).toMatchObject({ code: 78, err: expect.stringContaining(':2:1: secretFile: ') });
    const own = await folder.check(
      `${GOOD}secretFile: ${folder.write(`${secret}\n`)}\nstrict: true\n`,
    );
    expect(own).toMatchObject({ code: 0, err: '' });
  });

  test('and tokens are never printed', async () => {
    const token = 'token-that-nobody-sees';
    const client = `{name: alice, role: operator, tokenFile: ${folder.write(token)}}`;
    const name = folder.write(`${GOOD}clients: [${client}]\n`);
    for (const more of [[], ['--json']]) {
      const args = ['print', 'manager', '--config', name, ...more];
      const { out, code } = await folder.config(args, { ESCAPEMENT_SECRET: secret });
      expect(code).toBe(0);
      expect(out).toContain('ESCAPEMENT_SECRET');
      expect(out).not.toContain(secret);
      expect(out).not.toContain(token);
    }
  });

  test('tokens are long enough and different, and belong to one client each', async () => {
    const clients = (...tokens: readonly string[]) =>
      tokens
        .map((token, n) => `{name: c${n}, role: reader, tokenFile: ${folder.write(token)}}`)
        .join(', ');
    const odd = `{name: A, role: reader, tokenFile: x}, {name: c, role: reader, tokenFile: x}, {name: c, role: operator, tokenFile: x}`;
    const names = await folder.check(`${GOOD}clients: [${odd}]\n`);
    expect(names.err).toContain('clients[0].name: a node has this name');
    expect(names.err).toContain('clients[2].role: c has another role above');
    const short = await folder.check(`${GOOD}clients: [${clients('x')}]\n`);
    expect(short.err).toContain('has 1 bytes, at least 16 are needed');
    const same = await folder.check(
      `${GOOD}clients: [${clients('t'.repeat(20), 't'.repeat(20))}]\n`,
    );
    expect(same.err).toContain('clients[1].tokenFile: two clients have this token');
    const spaced = await folder.check(`${GOOD}clients: [${clients('with spaces in the midst')}]\n`);
    expect(spaced.err).toContain('a token has no spaces');
    expect([short.code, same.code, spaced.code]).toEqual([78, 78, 78]);
  });
});

describe('sources', () => {
  test('stand above each other, and print tells them apart', async () => {
    const name = folder.write(
      'datacenter: A\nnode: A.manager-2\ngates: [one, two]\nlog: {level: warn}\n',
    );
    const args = ['print', 'manager', '--json', '--config', name];
    const flags = ['--gates', 'three', '--set', 'jobs.leaseMs=9000'];
    const env = { ESCAPEMENT_NODE: 'A.manager-3', ESCAPEMENT_GATES: 'four', ESCAPEMENT_CORES: 'x' };
    const { out, code } = await folder.config([...args, ...flags], env);
    const { settings } = JSON.parse(out);
    expect(settings).toMatchObject({
      datacenter: { value: 'A', origin: `${name}:1:1` },
      node: { value: 'A.manager-3', origin: 'ESCAPEMENT_NODE' },
      gates: { value: ['three'], origin: '--gates' },
      'log.level': { value: 'warn', origin: `${name}:4:7` },
      'log.format': { value: 'auto', origin: 'default' },
      'jobs.leaseMs': { value: 9_000, origin: '--set' },
      data: { value: './data/A', origin: 'default' },
    });
    expect(settings.cores).toBeUndefined();
    expect(code).toBe(0);
  });

  test('each name where it is wrong', async () => {
    const args = ['check', 'worker', '--node', 'w', '--datacenter', 'A'];
    const flag = await folder.config([...args, '--cores', 'many']);
    expect(flag.err).toBe(
      'error: --cores: cores: must be a whole number from 1 to 1,024, got "many"\n',
    );
    const variable = await folder.config(args, { ESCAPEMENT_CORES: '0' });
    expect(variable.err).toContain('ESCAPEMENT_CORES: cores: must be');
    expect([flag.code, variable.code]).toEqual([64, 78]);
  });

  test('escapement.yml is found where the command is run', async () => {
    const here = mkdtempSync(join(folder.path, 'here-'));
    writeFileSync(join(here, 'escapement.yml'), 'role: gate\ndatacenters: [A]\n');
    const { out } = await folder.config(['check'], {}, here);
    expect(out).toBe('OK: gate gate of gate\n');
  });

  test('a file for one role is not another role’s', async () => {
    const name = folder.write('role: gate\ndatacenters: [A]\n');
    const { code, err } = await folder.config(['check', 'worker', '--config', name, '--node', 'w']);
    expect(err).toContain(':1:1: role: the configuration is for a gate, not for a worker');
    expect(err).toContain(':2:1: datacenters: a worker has no such setting, a gate has');
    expect(code).toBe(78);
  });

  test('limits are checked by those who have them', async () => {
    const { code, err } = await folder.check(`${GOOD}limits:\n  sockets: {handshakMs: 3}\n`);
    expect(err).toMatch(/:3:13: limits\.sockets\.handshakMs: .*did you mean "handshakeMs"\?/);
    expect(code).toBe(78);
  });
});

describe('the guide', () => {
  const guide = () => readProjectFile('docs/nodes.md');

  test('tells of every setting, and of its flag', () => {
    const missing = Object.entries(SETTINGS).flatMap(([path, { flag }]) => {
      const row = guide()
        .split('\n')
        .find((line) => line.startsWith(`| \`${path}\` `));
      return row !== undefined && (flag === undefined || row.includes(`\`${flag}\``)) ? [] : [path];
    });
    expect(missing).toEqual([]);
  });

  test('each setting has a variable of its own', () => {
    expect(VARIABLES.get('ESCAPEMENT_TLS_REQUIRE_CLIENT_CERTIFICATE')).toBe(
      'tls.requireClientCertificate',
    );
    expect(VARIABLES.get('ESCAPEMENT_JOBS_STUCK_THRESHOLD_MS')).toBe('jobs.stuckThresholdMs');
  });

  test.each([
    ['gate', 'cluster/gate.yml'],
    ['manager', 'cluster/manager.yml'],
    ['worker', 'cluster/worker.yml'],
    ['node', 'own-kinds/shop.yml'],
  ])('has an example of a %s that is good', async (_, example) => {
    const path = join('..', '..', 'examples', example);
    const env = { ESCAPEMENT_SECRET: 'of the tests, not of anybody else' };
    const result = await folder.config(['check', '--config', path], env, import.meta.dirname);
    expect(result.err).toBe('');
    expect(result.code).toBe(0);
  });
});
