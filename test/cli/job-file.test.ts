/** Files that `submit` takes. */

import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { parseJobFile, readJobFile } from '../../cli/loaders/job-file.ts';
import { Issues } from '../../reading/issues.ts';
import { escapement } from './command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'escapement-job-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const whole = `
id: import-1
timeout: 10m
datacenters: [A, B]
stuckThreshold: 90s
allStuckThresholdMs: 180000
datacenterTimeoutQuorum: majority
failFast: true
enforce: false
workflows:
  - { id: fetch, handler: download, payload: { url: x, n: [1, null] }, cores: 2 }
  - { id: 2, handler: import, payload: "as it is", dependsOn: [fetch] }
`;

const read = {
  jobId: 'import-1',
  timeoutMs: 600_000,
  targetDatacenters: ['A', 'B'],
  stuckThresholdMs: 90_000,
  allStuckThresholdMs: 180_000,
  datacenterTimeoutQuorum: 'majority',
  failFast: true,
  enforce: false,
  workflows: [
    { id: 'fetch', handler: 'download', payload: '{"url":"x","n":[1,null]}', cores: 2 },
    { id: '2', handler: 'import', payload: 'as it is', dependsOn: ['fetch'] },
  ],
};

describe('a job file', () => {
  test('is YAML as people write it, or the body of the HTTP API', () => {
    expect(parseJobFile(whole, 'job.yml')).toEqual(read);
    expect(parseJobFile(JSON.stringify(read), 'job.json')).toEqual(read);
    expect(parseJobFile(`\ufeff${whole.replaceAll('\n', '\r\n')}`, 'job.yml')).toEqual(read);
  });

  test.each([
    ['workflws: []', '1:1: workflws: there is no such key; did you mean "workflows"?'],
    ['workflows: {}', '1:12: workflows: must be a list, got a map.'],
    ['timeout: 5 parsecs', 'timeout: must be a duration such as 250ms'],
    ['timeout: 61d', 'timeout: must be a duration from 1 to 5,184,000,000 ms'],
    ['timeout: 1m\ntimeoutMs: 1', 'timeout: says the same as "timeoutMs"'],
    ['workflows: [ { id: a } ]', 'workflows[0]: must have "handler"'],
    ['workflows: [ { id: a b, handler: c } ]', 'workflows[0].id: must be 1 to 128 letters'],
    ['workflows: [ { id: a, handler: c, cores: 0 } ]', 'workflows[0].cores: must be a whole'],
    ['timeout: 1s\ntimeout: 2s', '"timeout" stands here twice'],
    ['__proto__: {}', '"__proto__" is no name here'],
    ['[]', 'must be a map'],
    ['{', 'job.yml:1:'],
  ])('that is wrong says where: %j', (text, what) => {
    expect(() => parseJobFile(text, 'job.yml')).toThrow(what);
  });

  test.each([
    ['of values that are none', '  - { id: a b, handler: c }\n'],
    ['of texts that the parser does not take', '  - @\n'],
    ['of tags', '  - !x y\n'],
    ['of brackets that nothing opened', '  - ]\n'],
    ['of JSON', '{"id":"a b","handler":"c"},'],
  ])('is read no further than its tenth mistake: %s', (_, wrong) => {
    const many = wrong.repeat(5_000);
    const text = wrong.startsWith('{') ? `{"workflows":[${many}{}]}` : `workflows:\n${many}`;
    const told = vi.spyOn(Issues.prototype, 'add');
    try {
      expect(() => parseJobFile(text, 'job.yml')).toThrow(
        /^(?:job\.yml:.*\n){10}job\.yml: and more\.$/,
      );
      // The parser tries once more to say what was wrong.
      expect(told.mock.calls.length).toBeLessThan(20);
    } finally {
      told.mockRestore();
    }
  });

  test('of aliases costs no more than it is long', () => {
    const aliases = '- *a\n'.repeat(30_000);
    const before = process.cpuUsage();
    expect(() => parseJobFile(`- &a x\n${aliases}`, 'job.yml')).toThrow('must be a map');
    const { user } = process.cpuUsage(before);
    // Each of them looked for in all of the file takes a minute.
    expect(user / 1e6).toBeLessThan(10);
  });

  test('that cannot be read exits 65, before anything is sent', async () => {
    const large = join(folder, 'large.yml');
    writeFileSync(large, '');
    truncateSync(large, 16 * 1024 * 1024 + 1);
    const binary = join(folder, 'binary.yml');
    writeFileSync(binary, new Uint8Array([0x6e, 0xff]));
    for (const [path, what] of [
      [join(folder, 'missing.yml'), 'no such file'],
      [folder, 'is no file'],
      [large, 'has more than 16,777,216 bytes'],
      [binary, 'is no text in UTF-8'],
    ] as const) {
      const { code, out, err } = await escapement(['submit', '--file', path]);
      expect([code, out]).toEqual([65, '']);
      expect(err).toContain(what);
    }
  });

  test('may be standard input, up to the same size', async () => {
    const input = new PassThrough();
    input.end(whole);
    expect(await readJobFile('-', input)).toEqual(read);
    const endless = new PassThrough();
    const chunk = Buffer.alloc(4 * 1024 * 1024, ' ');
    for (let count = 0; count < 5; count += 1) endless.write(chunk);
    await expect(readJobFile('-', endless)).rejects.toThrow('standard input: has more than');
    await expect(readJobFile('-', undefined)).rejects.toThrow('standard input:');
  });
});
