/** Reports of failures: what they print, why they say it broke, and the files beside them. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FailureAnswer, TimelineAnswer, ToldPage } from '../../inspector/protocol.ts';
import { type FailureLimits, linesOfFailure } from '../../inspector/recording/failure.ts';
import { Recorded, readLines } from '../../inspector/recording/recorded.ts';
import { recordedView } from '../../inspector/recording/recorded-views.ts';
import { recordsOf } from '../../inspector/recording/simulated.ts';
import { singleFile } from '../../inspector/single-file.ts';
import { because } from '../../simulator/explanation/because.ts';
import { historyLines, windowAround } from '../../simulator/explanation/history-lines.ts';
import type { HistoryRecord } from '../../simulator/history/history.ts';
import { jobsInvariants } from '../../simulator/jobs/invariants/index.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { readPlan } from '../../simulator/jobs/report/plan-file.ts';
import { reportFailure } from '../../simulator/jobs/report/report.ts';
import { JOBS_SUBJECTS } from '../../simulator/jobs/report/subjects.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';
import { nemesis, noNewLeader, noTimeout, planOf } from './report-fixtures.ts';

const submit = (jobId: string, to: string): Plan['steps'][number] => ({
  atMs: 100,
  do: 'submit',
  job: { jobId, to, timeoutMs: 5_000, workflows: [{ id: 'w1', runsMs: null }] },
});

const violationAt = (record: HistoryRecord) => ({
  invariant: 'XX-2',
  says: 'No job is timed out.',
  what: 'it is',
  atMs: record.atMs,
  node: record.node,
  record: record.index,
});

async function timedOut(changes: Partial<Plan> = {}): Promise<[Run, HistoryRecord]> {
  const run = await play(planOf({ steps: [submit('j1', 'gate-1')], ...changes }));
  const ended = run.history.records.find(
    (record) => record.type === 'turn' && record.kind === 'job' && record.state === 'timedOut',
  );
  if (ended === undefined) throw new Error('The job was not timed out.');
  return [run, ended];
}

const subjects = JOBS_SUBJECTS;

describe('why it broke', () => {
  test('goes back over messages and deadlines to the client that asked', async () => {
    const [run, ended] = await timedOut();
    const { lines, records } = because(run.history.records, violationAt(ended), { subjects });
    const text = lines.join('\n');
    expect(lines[0]).toContain('submit j1 at gate-1');
    expect(text).toMatch(
      /gate-job\/j1@gate-1 met its deadline overallLimit.*it sent timeout\.declared to job\/j1@[AB] \(message \d+\)/,
    );
    expect(text).toMatch(/job\/j1@[AB] took timeout\.declared from gate-job\/j1@gate-1/);
    expect(lines.at(-1)).toContain('→ timedOut');
    expect(records).toContain(ended.index);
    expect(records.toSorted((one, other) => one - other)).toEqual(
      records.toSorted((one, other) => one - other).filter((index) => index <= ended.index),
    );
  });

  test('tells what befell the message on the way', async () => {
    const steps: Plan['steps'] = [
      submit('j1', 'gate-1'),
      {
        atMs: 50,
        do: 'link',
        between: [['gate-1'], ['A', 'B']],
        action: { holdMs: 9_000 },
        messageType: 'JobGlobalTimeout',
        count: 2,
      },
    ];
    const [run, ended] = await timedOut({ steps });
    const { lines } = because(run.history.records, violationAt(ended));
    expect(lines.join('\n')).toMatch(/timeout\.declared to [AB]\/manager-1 held/);
  });

  test('leaves out the middle of a long chain, and says how much', async () => {
    const [run, ended] = await timedOut();
    const { lines } = because(run.history.records, violationAt(ended), { linesMax: 5 });
    expect(lines).toHaveLength(5);
    expect(lines.some((line) => /… \d+ more/.test(line))).toBe(true);
  });

  test('begins with the actor that is spoken of when it was seen at the end', async () => {
    const [run, ended] = await timedOut();
    const what = `${(ended as { address: string }).address} has not ended`;
    const { lines } = because(run.history.records, { ...violationAt(ended), what, record: null });
    expect(lines.at(-1)).toContain((ended as { address: string }).address);
  });
});

describe('a report', () => {
  const invariants = [...jobsInvariants, noNewLeader, noTimeout];
  const report = (plan: Plan, invariant: string) =>
    reportFailure({ plan, invariant, invariants, folder: './out', confirmations: 3 });

  test('has seed, violation, replay, size, causes and the nearest passing run', async () => {
    const nemeses = [
      nemesis('n1', 'slowNodes', { targets: ['B.worker-1'], params: { factor: 2 } }),
      nemesis('n2', 'crashNodes', { targets: ['A.manager-1'], durMs: 40_000 }),
    ];
    const plan = planOf({ nemeses, steps: [submit('j1', 'B')], seed: 4711 });
    const made = await report(plan, 'XX-1');
    const text = made?.lines.join('\n') ?? '';
    expect(text).toContain('FAIL XX-1  seed=4711');
    expect(text).toContain('replay:  escapement simulate --replay ./out/plan.json --trace');
    expect(text).toMatch(
      /minimal: 0 jobs, 0 workflows, 1 datacenter, 1 node, 1 fault, \d+ events {3}\[shrunk, \d+ tries, reproduced 3\/3\]/,
    );
    expect(text).toContain(
      'nearest passing run: the same without n2 (crashNodes); every invariant holds',
    );
    expect(text).toMatch(/there: #\d+ T=00:00:0/);
    const again = await play(readPlan(made?.files['plan.json'] ?? '', 'plan.json'), {
      invariants,
    });
    const first = await play(made?.plan as Plan, { invariants });
    expect(again.traceHash).toBe(first.traceHash);
    expect(again.judgement.violations[0]?.invariant).toBe('XX-1');
    expect(readPlan(made?.files['original-plan.json'] ?? '', 'plan.json')).toEqual(plan);
    expect(made?.files['repro.test.ts']).toContain("from 'escapement/simulator'");
    const history = made?.files['history.jsonl']?.trimEnd().split('\n') ?? [];
    expect(JSON.parse(history[0] ?? '')).toEqual({
      format: 1,
      records: history.length - 1,
      leftOut: { before: 0, after: 0 },
    });
  });

  test('is none when nothing breaks', async () => {
    expect(await report(planOf(), 'XX-2')).toBeUndefined();
  });
});

describe('the page of a failure', () => {
  const HOSTILE = '</script><img src=x onerror=alert(1)><!--\u2028"\'&';
  const lines = async (violationOf = violationAt, limits?: FailureLimits) => {
    const [run, ended] = await timedOut();
    run.history.add(`A.${HOSTILE}`, {
      type: 'log',
      level: 'warn',
      message: HOSTILE,
      fields: { jobId: HOSTILE, reason: HOSTILE },
    });
    const violation = violationOf(ended);
    const why = because(run.history.records, violation, { places: run.facts.places, subjects });
    const passing = { run: recordsOf(run), change: HOSTILE, parting: undefined };
    const broken = {
      title: HOSTILE,
      run: recordsOf(run),
      violation,
      why,
      passing,
      replay: HOSTILE,
    };
    return { run, ended, lines: linesOfFailure(broken, limits) };
  };

  test('has the run with its charts, what led there, and the nearest run that holds', async () => {
    const { lines: all, ended } = await lines();
    const recorded = new Recorded(all);
    const ask = (path: string, parameters = {}) => recordedView(recorded, path, parameters);
    const { failure, other, told } = (await ask('failure')) as FailureAnswer;
    const { address: job } = ended as { address: string };
    expect(failure.why.at(-1)).toMatchObject({
      address: job,
      what: expect.stringContaining('timedOut'),
    });
    expect(failure.addresses).toContain(job);
    expect(other?.change).toBe(HOSTILE);
    expect(told).toBeGreaterThan(50);
    const lanes = (await ask('timeline', { address: failure.addresses })) as TimelineAnswer;
    const alive = lanes.nodes?.find(({ address }) => address === 'A.manager-1')?.bars ?? [];
    expect(alive.map(({ sort }) => sort)).toEqual(['life', 'lease']);
    // Moments are of one clock, the deadline's too: it came when it was due.
    const base = lanes.lanes
      .find(({ address }) => address === job)
      ?.bars.find(({ sort }) => sort === 'base');
    expect(Math.abs((base?.to ?? 0) - failure.at)).toBeLessThan(1_000);
    expect(lanes.messages.filter(({ outcome }) => outcome === 'taken').length).toBeGreaterThan(3);
    expect(recorded.chart('job')?.states.length).toBeGreaterThan(5);
    const of = (await ask('timeline', { address: failure.addresses, run: 'other' })) as object;
    expect(of).toMatchObject({ lanes: expect.arrayContaining([expect.anything()]) });
    const around = (await ask('told', { around: String(failure.at), limit: '9' })) as ToldPage;
    expect(around.rows.some(({ at }) => at === failure.at)).toBe(true);
    const found = (await ask('told', { text: 'ONERROR' })) as ToldPage;
    expect(found).toMatchObject({ total: 1, rows: [{ text: expect.stringContaining('onerror') }] });
  });

  test('has nothing of the data but as inert JSON', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'escapement-failure-'));
    mkdirSync(join(folder, 'assets'));
    for (const name of ['page.css', 'page.js', 'at-rest.js'])
      writeFileSync(join(folder, 'assets', name), 'void 0;');
    const hostile = (ended: HistoryRecord) => ({
      ...violationAt(ended),
      what: HOSTILE,
      says: HOSTILE,
      invariant: HOSTILE,
    });
    const html = singleFile((await lines(hostile)).lines, folder);
    rmSync(folder, { recursive: true });
    expect(html).not.toContain('<img');
    expect(html.match(/<\/script>/g)).toHaveLength(4);
    expect(html.match(/<!--/g)).toBeNull();
    // Nothing is fetched.
    expect(html).not.toMatch(/\b(?:src|href)="(?!#)/);
    const data = /id="escapement-recording">(.*)<\/script>/.exec(html)?.[1] ?? '';
    expect(readLines(JSON.parse(data)).at(-2)).toMatchObject({ failure: { what: HOSTILE } });
  });

  test('is bounded, and says how much is missing', async () => {
    const { lines: few, ended } = await lines(violationAt, { recordsMax: 40, bytesMax: 1e9 });
    const recorded = new Recorded(few);
    const { told, leftOut } = (await recordedView(recorded, 'failure', {})) as FailureAnswer;
    expect(told).toBe(40);
    expect(leftOut).toBeGreaterThan(10);
    expect(recorded.told.some(({ index }) => index === ended.index)).toBe(true);
    const small = (await lines(violationAt, { recordsMax: 400, bytesMax: 100_000 })).lines;
    expect(small.filter(({ type }) => type === 'told').length).toBeLessThan(400);
  });

  test('keeps what lies around the violation when a run is too long for a page', () => {
    expect(windowAround(100, 50, 200)).toEqual({ start: 0, end: 100 });
    expect(windowAround(1_000, 500, 100)).toEqual({ start: 411, end: 511 });
    expect(windowAround(1_000, 5, 100)).toEqual({ start: 0, end: 100 });
    expect(windowAround(1_000, null, 100)).toEqual({ start: 900, end: 1_000 });
  });
});

describe('a saved history', () => {
  const records = Array.from(
    { length: 500 },
    (_, index): HistoryRecord => ({ index, atMs: index, node: 'n', type: 'mark', mark: 'm' }),
  );

  test('is bounded, and says what was left out', () => {
    const lines = historyLines(records, 400, { recordsMax: 100, charactersMax: 1e9 });
    const [head, first] = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(head).toEqual({ format: 1, records: 100, leftOut: { before: 311, after: 89 } });
    expect(first).toEqual(records[311]);
  });

  test('is bounded in characters too', () => {
    const lines = historyLines(records, null, { recordsMax: 1_000, charactersMax: 1_000 });
    expect(lines.length).toBeLessThan(1_200);
    expect(JSON.parse(lines.trimEnd().split('\n').at(-1) ?? '')).toEqual(records.at(-1));
  });
});
