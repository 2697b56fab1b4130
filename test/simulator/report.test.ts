/** Reports of failures: what they print, why they say it broke, and the files beside them. */

import { describe, expect, test } from 'vitest';
import { because } from '../../simulator/explanation/because.ts';
import { historyLines, windowAround } from '../../simulator/explanation/history-lines.ts';
import type { HistoryRecord } from '../../simulator/history/history.ts';
import { jobsInvariants } from '../../simulator/jobs/invariants/index.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { readPlan } from '../../simulator/jobs/report/plan-file.ts';
import { reportFailure } from '../../simulator/jobs/report/report.ts';
import { JOBS_SUBJECTS } from '../../simulator/jobs/report/subjects.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';
import { inertJson } from '../../simulator/timeline/page.ts';
import { timeline } from '../../simulator/timeline/timeline.ts';
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

describe('the timeline', () => {
  const HOSTILE = '</script><img src=x onerror=alert(1)><!--\u2028"\'&';

  test('has nothing of the data but as inert JSON', async () => {
    const [run, ended] = await timedOut();
    run.history.add(`A.${HOSTILE}`, {
      type: 'log',
      level: 'warn',
      message: HOSTILE,
      fields: { jobId: HOSTILE, reason: HOSTILE },
    });
    const violation = { ...violationAt(ended), what: HOSTILE, says: HOSTILE, invariant: HOSTILE };
    const why = because(run.history.records, violation);
    const html = timeline({
      run,
      violation,
      why,
      passing: { run, change: HOSTILE, parting: undefined },
    });
    expect(html).not.toContain('<img');
    expect(html).not.toContain('\u2028');
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html.match(/<!--/g)).toBeNull();
    const json = /<script type="application\/json" id="shown">(.*)<\/script>/.exec(html)?.[1] ?? '';
    expect(JSON.parse(json)).toMatchObject({ violation: { what: HOSTILE } });
    // Nothing is fetched, and the script is one that runs.
    expect(html).not.toMatch(/\b(?:src|href)="(?!#)/);
    const script = html.slice(html.lastIndexOf('<script>') + 8, html.lastIndexOf('</script>'));
    expect(() => new Function(script)).not.toThrow();
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });

  test('keeps what lies around the violation when a run is too long for a page', () => {
    expect(windowAround(100, 50, 200)).toEqual({ start: 0, end: 100 });
    expect(windowAround(1_000, 500, 100)).toEqual({ start: 411, end: 511 });
    expect(windowAround(1_000, 5, 100)).toEqual({ start: 0, end: 100 });
    expect(windowAround(1_000, null, 100)).toEqual({ start: 900, end: 1_000 });
  });

  test('escapes JSON for an element of HTML', () => {
    const text = inertJson({ a: '<b>&\u2028' });
    expect(text).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(text)).toEqual({ a: '<b>&\u2028' });
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
