import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { play } from '../../simulator/jobs/run.ts';
import { findMisses } from '../../simulator/jobs/scenario/misses.ts';
import { resultOf, type ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';
import { ROOT } from '../project-files.ts';

const textOf = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');

async function resultOfText(text: string): Promise<ScenarioResult> {
  const scenario = parseScenario(text, 'some.yaml');
  return resultOf(scenario, await play(scenario.plan));
}

/** The first scenario of all, with other expectations. */
function failuresOf(expected: string): Promise<readonly string[]> {
  const [file = ''] = textOf('test/conformance/01-local-overall.yaml').split('expect:');
  return resultOfText(`${file}expect: ${expected}\n`).then(({ failures }) => failures);
}

const inA = (end: string) => `{ jobs: { j1: { datacenters: { A: ${end} } } } }`;
const AT_A = 'jobs.j1.datacenters.A';

describe('what was expected and is not so', () => {
  test.each([
    [
      inA('{ status: completed, reason: overall }'),
      `${AT_A}.status: expected completed, got timedOut`,
    ],
    [inA('{ atMs: [60000, 60050] }'), `${AT_A}.atMs: expected 60000 to 60050, got 60051`],
    [inA('{ atMs: [60052, 70000] }'), `${AT_A}.atMs: expected 60052 to 70000, got 60051`],
    [inA('{ reason: null }'), `${AT_A}.reason: expected nothing, got overall`],
    [
      inA('{ localReason: overall, reportedAtMs: 5 }'),
      `${AT_A}.reportedAtMs: expected 5, got nothing`,
    ],
    [inA('null'), `${AT_A}: expected nothing, got something else`],
    [
      inA('{ workflows: { w1: { attempts: 2 } } }'),
      `${AT_A}.workflows.w1.attempts: expected 2, got 1`,
    ],
    [inA('{ leader: null }'), `${AT_A}.leader: expected nothing, got A/manager-1`],
    [
      '{ jobs: { j1: { gate: { status: timedOut, unconfirmed: [] } } } }',
      'jobs.j1.gate: expected status timedOut, unconfirmed none, got nothing',
    ],
    [
      '{ workers: { A/worker-1: { health: evicted } } }',
      'workers.A/worker-1.health: expected evicted, got healthy',
    ],
    ['{ counters: { timeoutReports: 1 } }', 'counters.timeoutReports: expected 1, got 0'],
    ['{ endedAtMs: 1s }', 'endedAtMs: expected 1000, got 300000'],
  ])('%s', async (expected, failure) => expect(await failuresOf(expected)).toEqual([failure]));

  test('is nothing when both ends of a range are met, or nothing was expected', async () => {
    expect(await failuresOf(inA('{ atMs: [60051, 60051], gateReason: null }'))).toEqual([]);
    expect(await failuresOf('{}')).toEqual([]);
  });

  test('is told for all that was expected, in the order of the result', async () => {
    const expected =
      '{ counters: { staleAttempts: 3 }, jobs: { j1: { datacenters: { A: { leaderFence: 2 } } } } }';
    expect(await failuresOf(expected)).toEqual([
      `${AT_A}.leaderFence: expected 2, got 1`,
      'counters.staleAttempts: expected 3, got 0',
    ]);
  });

  test('minds no order of names', () => {
    const [file = ''] = textOf('test/conformance/35-cut-off-for-good.yaml').split('expect:');
    const result = { jobs: { j1: { gate: { unconfirmed: ['A', 'B'] } } } };
    const missesOf = (names: string) => {
      const expected = `expect: { jobs: { j1: { gate: { unconfirmed: ${names} } } } }`;
      return findMisses(parseScenario(`${file}${expected}`, 'some.yaml').expect, result);
    };
    expect(missesOf('[B, A]')).toEqual([]);
    expect(missesOf('[A, B]')).toEqual([]);
    expect(missesOf('[A]')).toEqual(['jobs.j1.gate.unconfirmed: expected A, got A, B']);
    expect(missesOf('[]')).toEqual(['jobs.j1.gate.unconfirmed: expected none, got A, B']);
  });
});

describe('the result', () => {
  test('of the document is what its file gives', async () => {
    const page = textOf('docs/scenarios.md');
    const block = (kind: string) =>
      new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
    const { traceHash: _, turns: __, ...shown } = JSON.parse(block('json') ?? '');
    const result = await resultOfText(block('yaml') ?? '');
    expect(result).toMatchObject(shown);
    expect(Object.keys(result).sort()).toEqual(
      [...Object.keys(shown), 'traceHash', 'turns'].sort(),
    );
  });

  test('keeps true time where the clock of a manager is off', async () => {
    const { jobs } = await resultOfText(`name: x
system: jobs
until: 2m
topology: { datacenters: { A: { managers: 1, workers: 1 } } }
steps:
  - { at: 0s, skew: { node: A/manager-1, by: 1h } }
  - { at: 10s, submit: { job: j1, to: A, timeout: 60s, workflows: [ { id: w1, runs: 1h } ] } }
`);
    const { startedAtMs, atMs } = jobs['j1']?.datacenters['A'] ?? {};
    expect(startedAtMs).toBe(10_001);
    expect(atMs).toBe(70_002);
  });

  test('knows a job that nobody took', async () => {
    const { jobs } = await resultOfText(`name: x
system: jobs
until: 1m
topology: { gates: 1, datacenters: { A: { managers: 1, workers: 1 }, B: { managers: 1, workers: 1 } } }
steps:
  - { at: 0s, partition: { sides: [[gate-1], [A, B]] } }
  - { at: 1s, submit: { job: j1, to: gate, timeout: 30s, workflows: [ { id: w1, runs: 1h } ] } }
`);
    expect(jobs).toMatchObject({
      j1: { gate: { status: 'failed', reason: 'noDatacenter' }, datacenters: {} },
    });
  });

  test('changes with the seed where there is chance, and only there', async () => {
    const file = (seed: number, delay: string) => `name: x
system: jobs
seed: ${seed}
until: 1m
network: { delay: ${delay} }
topology: { datacenters: { A: { managers: 1, workers: 1 } } }
steps:
  - { at: 0s, submit: { job: j1, to: A, timeout: 30s, workflows: [ { id: w1, runs: 1h } ] } }
`;
    const hash = async (seed: number) => (await resultOfText(file(seed, '[1ms, 90ms]'))).traceHash;
    expect(await hash(1)).toBe(await hash(1));
    expect(await hash(1)).not.toBe(await hash(2));
  });
});

test('a step that turns out to be impossible says when and why', async () => {
  await expect(
    resultOfText(`name: x
system: jobs
topology: { datacenters: { A: { managers: 1, workers: 1 } } }
steps:
  - { at: 5s, extend: { worker: A/worker-1, progress: 0.5 } }
`),
  ).rejects.toMatchObject({
    code: 'SCENARIO_INVALID',
    message: 'At 5,000 ms nothing runs on A/worker-1 that could ask for an extension.',
  });
});
