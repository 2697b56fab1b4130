/** `simulate --replay`, and the folder that a failure leaves: real files, read and written. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failureOf } from '../../cli/exit.ts';
import { ownVersion } from '../../cli/own-version.ts';
import { Output } from '../../cli/render/output.ts';
import { type ReplayOptions, replayPlan } from '../../cli/simulate/replay.ts';
import { writeReport } from '../../cli/simulate/report.ts';
import { findPage } from '../../inspector/static-files.ts';
import type { HistoryRecord } from '../../simulator/history/history.ts';
import { jobsInvariants } from '../../simulator/jobs/invariants/index.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { planText } from '../../simulator/jobs/report/plan-file.ts';
import { play } from '../../simulator/jobs/run.ts';
import { ROOT } from '../project-files.ts';
import { nemesis, noTimeout, planOf } from './report-fixtures.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-report-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caught(): { readonly output: Output; readonly text: () => string } {
  const out = new PassThrough();
  const chunks: Buffer[] = [];
  out.on('data', (chunk: Buffer) => chunks.push(chunk));
  const output = new Output(out, new PassThrough());
  return { output, text: () => Buffer.concat(chunks).toString('utf8') };
}

async function replay(text: string | Buffer, options: ReplayOptions = {}) {
  const path = join(folder, 'plan.json');
  writeFileSync(path, text);
  const { output, text: told } = caught();
  const code = await replayPlan(path, options, output).catch((thrown: unknown) => {
    const { exitCode, message } = failureOf(thrown);
    output.line(message);
    return exitCode;
  });
  await output.flushed();
  return { code, out: told() };
}

const steps: Plan['steps'] = [
  {
    atMs: 0,
    do: 'submit',
    job: { jobId: 'j1', to: 'A', timeoutMs: 20_000, workflows: [{ id: 'w1', runsMs: 100 }] },
  },
];
const submission: Plan['steps'][number] = {
  atMs: 0,
  do: 'submit',
  job: { jobId: 'j2', to: 'A', timeoutMs: 4_321, workflows: [{ id: 'w1', runsMs: null }] },
};
const plan = planOf({
  steps,
  untilMs: null,
  topology: { gates: 0, datacenters: { A: { managers: 1, workers: 1 } } },
});

describe('replaying a plan', () => {
  test('plays it as it was played, and says that all held', async () => {
    const { traceHash } = await play(plan);
    const { code, out } = await replay(planText(plan));
    expect(code).toBe(0);
    expect(out).toContain(`trace hash ${traceHash}`);
    expect(out).toMatch(/All \d+ invariants held\./);
    expect(out).toContain('submit j1 to A, timeout 20 s');
  });

  test('traces every record as a line', async () => {
    const { history } = await play(plan);
    const { out } = await replay(planText(plan), { trace: true });
    expect(out.split('\n').filter((line) => /^#\d+ T=/.test(line))).toHaveLength(
      history.records.length,
    );
  });

  test('prints JSON and nothing else', async () => {
    const { out } = await replay(planText(plan), { json: true, trace: true });
    const result = JSON.parse(out);
    expect(result).toMatchObject({ seed: 11, holds: true, violations: [] });
    expect(result.trace[0]).toMatch(/^#0 T=/);
  });

  test.each([
    ['another version', '{"version":9}', /of another version, "9"/],
    ['no JSON', 'plan', /is no JSON/],
    ['no text', Buffer.from([0xff, 0xfe, 0x00]), /no text in UTF-8/],
    [
      'a fault that makes no sense',
      planText({ ...plan, nemeses: [nemesis('n1', 'lateFrames', { atMs: 1 })] }),
      /cannot be played/,
    ],
  ])('H19: refuses %s with exit 65', async (_, text, message) => {
    const { code, out } = await replay(text);
    expect(code).toBe(65);
    expect(out).toMatch(message);
  });
});

describe('the report of a plan on disk', () => {
  test('is a folder, and its plan can be replayed', async () => {
    const { output, text } = caught();
    const into = join(folder, 'failure');
    const late = planOf({ steps: [{ ...submission, atMs: 7 }], nemeses: [], untilMs: null });
    const options = { plan: late, invariant: 'XX-2', folder: into, confirmations: 2 };
    const invariants = [...jobsInvariants, noTimeout];
    expect(await writeReport({ ...options, invariants }, output)).toBe(true);
    expect(readdirSync(into).sort()).toEqual([
      'history.jsonl',
      ...(findPage() === undefined ? [] : ['inspector.html']),
      'original-plan.json',
      'plan.json',
      'report.txt',
      'repro.test.ts',
    ]);
    expect(text()).toContain(readFileSync(join(into, 'report.txt'), 'utf8').trimEnd());
    const saved = readFileSync(join(into, 'plan.json'), 'utf8');
    const { code, out } = await replay(saved);
    // To the invariants of the product nothing is wrong with it.
    expect(code).toBe(0);
    expect(out).toContain('seed=11');
    const lines = readFileSync(join(into, 'history.jsonl'), 'utf8').trimEnd().split('\n').slice(1);
    const records = lines.map((line): HistoryRecord => JSON.parse(line));
    const seen = records.find((one) => one.type === 'turn' && one.state === 'timedOut');
    expect(seen).toBeDefined();
    // H19: another release may play it otherwise.
    const older = saved.replace(`"release": "${ownVersion()}"`, '"release": "0.0.1"');
    expect(await replay(older)).toMatchObject({ code: 65 });
    expect(await replay(older, { force: true })).toMatchObject({ code: 0, out });
    // In a clone the test is one of the sources, and belongs into their folder of tests.
    const written = readFileSync(join(into, 'repro.test.ts'), 'utf8');
    const [, entry = ''] = /from '(.*simulator.*)';/.exec(written) ?? [];
    expect(existsSync(join(ROOT, 'test', entry))).toBe(true);
  });

  test('H20: writes over nothing, and follows no link', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    const into = join(folder, 'failure');
    mkdirSync(into);
    writeFileSync(join(into, 'plan.json'), 'mine');
    symlinkSync(outside, `${into}-2`);
    symlinkSync(join(folder, 'nowhere'), `${into}-3`);
    const late = planOf({ steps: [{ ...submission, atMs: 7 }], nemeses: [], untilMs: null });
    const options = { plan: late, invariant: 'XX-2', folder: into, confirmations: 1 };
    const invariants = [...jobsInvariants, noTimeout];
    const { output, text } = caught();
    expect(await writeReport({ ...options, invariants }, output)).toBe(true);
    expect(readFileSync(join(into, 'plan.json'), 'utf8')).toBe('mine');
    expect(readdirSync(outside)).toEqual([]);
    expect(text()).toContain(`files: ${into}-4: `);
    expect(readdirSync(`${into}-4`)).toContain('plan.json');
  });

  test('is none, and leaves no files, when nothing breaks', async () => {
    const { output, text } = caught();
    const into = join(folder, 'failure');
    expect(await writeReport({ plan, invariant: 'TS-1', folder: into }, output)).toBe(false);
    expect(text()).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });
});
