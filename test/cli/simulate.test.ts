import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT } from '../project-files.ts';
import { ended, escapement, start } from './command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'escapement-simulate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = `system: jobs
until: 2m
topology: { datacenters: { A: { managers: 1, workers: 1 } } }
steps:
  - { at: 0s, submit: { job: j1, to: A, timeout: 60s, workflows: [ { id: w1, runs: 10m } ] } }
`;
const expecting = (status: string) =>
  `expect: { jobs: { j1: { datacenters: { A: { status: ${status} } } } } }\n`;

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const holding = write('holding.yaml', `name: it times out\n${HEAD}${expecting('timedOut')}`);
const failing = write('failing.yaml', `name: it completes\n${HEAD}${expecting('completed')}`);
const invalid = write('invalid.yaml', `name: x\n${HEAD}sedd: 1\nuntill: 2m\n`);
const simulate = (...args: string[]) => escapement(['simulate', ...args]);

describe('one scenario', () => {
  test('has a report that begins with the verdict, and exits 0 when it holds', async () => {
    const { code, out, err } = await simulate(holding);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^HOLDS: it times out\nseed 1, 2m simulated, \d+ turns, trace [0-9a-f]{16}\n\njob j1\n/,
    );
    expect(out).toContain('timedOut (overall) at 1m 0.002s, led by A/manager-1, fence 1');
    expect(out).toMatch(/A\/worker-1 +healthy\n$/);
    expect(out).not.toContain('\u001b');
  });

  test('exits 1 when what it expects does not come, and says what came', async () => {
    const { code, out } = await simulate(failing);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAILS: it completes\n/);
    expect(out).toContain(
      'failed  jobs.j1.datacenters.A.status: expected completed, got timedOut\n',
    );
  });

  test('prints its result and nothing else with --json', async () => {
    const { code, out, err } = await simulate(failing, '--json');
    expect([code, err]).toEqual([1, '']);
    const result = JSON.parse(out);
    expect(result).toMatchObject({
      name: 'it completes',
      seed: 1,
      endedAtMs: 120_000,
      jobs: { j1: { gate: null, datacenters: { A: { status: 'timedOut', reason: 'overall' } } } },
      violations: [],
      failures: ['jobs.j1.datacenters.A.status: expected completed, got timedOut'],
    });
    expect(result).not.toHaveProperty('file');
    expect((await simulate(failing, '--json')).out).toBe(out);
  });

  test('exits 65 when it is none, with line and field on standard error', async () => {
    for (const more of [[], ['--json']]) {
      const { code, out, err } = await simulate(invalid, ...more);
      expect([code, out]).toEqual([65, '']);
      expect(err).toBe(
        `error: ${invalid}:7:1: sedd: there is no such key; did you mean "seed"?\n` +
          `${invalid}:8:1: untill: there is no such key; did you mean "until"?\n`,
      );
    }
  });

  test('exits 65 when a step cannot be done', async () => {
    const text = `name: x\n${HEAD}  - { at: 90s, extend: { worker: A/worker-1, progress: 1 } }\n`;
    const late = write('late.yaml', text);
    const { code, err } = await simulate(late);
    expect([code, err]).toEqual([
      65,
      `error: ${late}: At 90,000 ms nothing runs on A/worker-1 that could ask for an extension.\n`,
    ]);
  });

  test('speaks to no terminal by its names', async () => {
    const loud = write('loud.yaml', `name: "\\e[31mred"\n${HEAD}`);
    const { code, out } = await simulate(loud);
    expect(code).toBe(0);
    expect(out).toContain('HOLDS: \\u001b[31mred\n');
  });
});

describe('several scenarios', () => {
  test('have a line each and a summary', async () => {
    const { code, out, err } = await simulate(holding, failing);
    expect([code, err]).toEqual([1, '']);
    expect(out).toBe(
      `HOLDS    ${holding}: it times out\n` +
        `FAILS    ${failing}: it completes\n` +
        '         failed  jobs.j1.datacenters.A.status: expected completed, got timedOut\n' +
        '2 scenarios: 1 held, 1 did not.\n',
    );
  });

  test('may be those of a directory, by name', async () => {
    for (const name of ['b.yml', 'a.json', 'notes.txt', 'deeper/c.yaml'])
      write(`some/${name}`, `name: ${name}\n${HEAD}`);
    const { code, out } = await simulate(join(folder, 'some'));
    expect(code).toBe(0);
    const names = out.split('\n').map((line) => line.split(': ')[1]);
    expect(names).toEqual(['a.json', 'b.yml', '2 held.', undefined]);
  });

  test('are a list with --json, each with its file', async () => {
    const { code, out } = await simulate(holding, failing, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      { file: holding, name: 'it times out', failures: [] },
      { file: failing, failures: [expect.any(String)] },
    ]);
    const only = join(folder, 'only');
    write('only/one.yaml', `name: one\n${HEAD}`);
    expect(JSON.parse((await simulate(only, '--json')).out)).toHaveLength(1);
  });

  test('are all played when one of them is none, and exit 65', async () => {
    const { code, out, err } = await simulate(invalid, failing, holding);
    expect(code).toBe(65);
    expect(err).toContain(`${invalid}:7:1: sedd: `);
    expect(out).toContain(`INVALID  ${invalid}\n`);
    expect(out).toContain('3 scenarios: 1 held, 1 did not, 1 could not be played.\n');
    const list = await simulate(invalid, holding, '--json');
    expect([list.code, JSON.parse(list.out).length]).toEqual([65, 1]);
  });
});

describe('what is no scenario', () => {
  test('is wrong usage when it is not there at all', async () => {
    const { code, err } = await simulate();
    expect(code).toBe(64);
    expect(err).toContain('usage: escapement simulate');
  });

  test('exits 65 with the path and the reason', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const large = write('large.yaml', '');
    truncateSync(large, 100_000_000);
    const binary = join(folder, 'binary.yaml');
    writeFileSync(binary, new Uint8Array([0x6e, 0xff, 0xfe, 0x00]));
    for (const [path, reason] of [
      [join(folder, 'missing.yaml'), 'no such file'],
      [empty, 'has no scenario'],
      [large, 'has 100,000,000 bytes'],
      [binary, 'is no text in UTF-8'],
      [write('nothing.yaml', ''), 'must be a map'],
    ] as const) {
      const { code, out, err } = await simulate(path);
      expect([code, out]).toEqual([65, '']);
      expect(err).toContain(path);
      expect(err).toContain(reason);
    }
  });
});

test('as a process it has colours where they are wanted, and is done in a moment', async () => {
  const bright = await ended(start(['simulate', holding], { FORCE_COLOR: '1' }));
  expect(bright.code).toBe(0);
  expect(bright.out.startsWith('\u001b[32mHOLDS\u001b[39m: it times out\n')).toBe(true);
  const plain = await ended(start(['simulate', holding], { NO_COLOR: '1' }));
  expect(plain.out).toMatch(/^HOLDS: it times out\n/);
});

test('an example of the conformance suite runs as it is', async () => {
  const { code } = await simulate(join(ROOT, 'test/conformance/13-overall-report-deferred.yaml'));
  expect(code).toBe(0);
});
