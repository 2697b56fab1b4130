import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Step } from '../../simulator/jobs/plan.ts';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';
import { ROOT } from '../project-files.ts';

const HEAD = `name: some scenario
system: jobs
topology: { gates: 1, datacenters: { A: { managers: 2, workers: 2 }, B: { managers: 1, workers: 1 } } }
`;
const SUBMIT =
  '{ at: 0s, submit: { job: j1, to: gate, timeout: 60s, workflows: [ { id: w1, runs: 1s } ] } }';

const planOf = (more: string) => parseScenario(`${HEAD}${more}`, 'some.yaml').plan;
const stepsOf = (...steps: string[]): readonly Step[] =>
  planOf(`steps:\n${steps.map((step) => `  - ${step}\n`).join('')}`).steps;

function workflowsOf(to: string, ...workflows: string[]) {
  const [step] = stepsOf(
    `{ at: 0s, submit: { job: j1, to: ${to}, timeout: 60s, workflows: [ ${workflows.join(', ')} ] } }`,
  );
  return step?.do === 'submit' ? step.job.workflows : [];
}

describe('a scenario file', () => {
  test('becomes a plan', () => {
    const plan = planOf(`seed: 7
until: 1h30m
network: { delay: [1ms, 50ms], loss: 0.01 }
config: { stuckThresholdMs: 2m, datacenterTimeoutQuorum: all, extensionJobCapMs: null }
`);
    expect(plan).toMatchObject({
      name: 'some scenario',
      system: 'jobs',
      seed: 7,
      untilMs: 5_400_000,
      network: { delayMs: [1, 50], loss: 0.01, duplicate: 0, reorder: 0 },
      topology: { gates: 1, datacenters: { A: { managers: 2, workers: 2 } } },
      config: {
        stuckThresholdMs: 120_000,
        datacenterTimeoutQuorum: 'all',
        extensionJobCapMs: null,
      },
      steps: [],
      nemeses: [],
      healAtMs: null,
    });
  });

  test('leaves out what has a default', () => {
    const plan = parseScenario(
      'name: x\nsystem: jobs\ntopology: { datacenters: { A: {} } }',
      'some.yaml',
    ).plan;
    expect(plan).toMatchObject({
      seed: 1,
      untilMs: null,
      network: { delayMs: [1, 1] },
      topology: { gates: 0, datacenters: { A: { managers: 1, workers: 1 } } },
    });
  });

  test('may be JSON, with a byte order mark and the line ends of Windows', () => {
    const json = JSON.stringify(
      { name: 'x', system: 'jobs', topology: { datacenters: { A: {} } } },
      null,
      '\t',
    );
    const { plan } = parseScenario(`\ufeff${json.replaceAll('\n', '\r\n')}`, 'some.json');
    expect(plan.topology.datacenters).toEqual({ A: { managers: 1, workers: 1 } });
  });

  test('may repeat itself by aliases', () => {
    const plan = planOf(`steps:
  - at: 0s
    submit: { job: j1, to: A, timeout: 60s, workflows: &work [ { id: w1, runs: 1s } ] }
  - { at: 1s, submit: { job: j2, to: B, timeout: 60s, workflows: *work } }
`);
    const jobs = plan.steps.flatMap((step) => (step.do === 'submit' ? [step.job] : []));
    expect(jobs[1]?.workflows).toEqual(jobs[0]?.workflows);
  });
});

describe('a step', () => {
  test('is played in the order of time, then of the file', () => {
    const steps = stepsOf(
      '{ at: 2s, heal: true }',
      '{ at: 1s, crash: A/manager-1 }',
      '{ at: 1s, restart: A/manager-1 }',
    );
    expect(steps).toEqual([
      { atMs: 1_000, do: 'crash', node: 'A.manager-1' },
      { atMs: 1_000, do: 'restart', node: 'A.manager-1' },
      { atMs: 2_000, do: 'heal' },
    ]);
  });

  test('names nodes, datacenters and patterns', () => {
    const [cut, named] = stepsOf(
      '{ at: 0s, partition: { sides: [[gate-1], ["A/*"]], for: 6m } }',
      '{ at: 0s, partition: { sides: [[B], ["A/manager-*", A/worker-2]] } }',
    );
    const managers = ['A.manager-1', 'A.manager-2'];
    expect(cut).toEqual({
      atMs: 0,
      do: 'partition',
      sides: [['gate-1'], [...managers, 'A.worker-1', 'A.worker-2']],
      forMs: 360_000,
    });
    expect(named).toMatchObject({
      sides: [
        ['B.manager-1', 'B.worker-1'],
        [...managers, 'A.worker-2'],
      ],
      forMs: null,
    });
  });

  test('acts on a link', () => {
    const steps = stepsOf(
      '{ at: 0s, link: { between: [gate-1, B], drop: { type: JobTimeoutReport, count: 3 } } }',
      '{ at: 0s, link: { between: [gate-1, B], duplicate: { times: 2 } } }',
      '{ at: 0s, link: { between: [B/worker-1, B], hold: { type: WorkflowResult, for: 30s } } }',
    );
    expect(steps).toMatchObject([
      { do: 'link', action: 'drop', messageType: 'JobTimeoutReport', count: 3 },
      { action: { duplicate: 2 }, between: [['gate-1'], ['B.manager-1', 'B.worker-1']] },
      { action: { holdMs: 30_000 }, messageType: 'WorkflowResult' },
    ]);
  });

  test('takes clocks forward and back', () => {
    const steps = stepsOf(
      '{ at: 0s, skew: { node: A/manager-2, by: -2s } }',
      '{ at: 0s, skew: { node: A/manager-2, by: 1500 } }',
    );
    expect(steps).toMatchObject([{ byMs: -2_000 }, { byMs: 1_500 }]);
  });

  test('passes on the progress of an extension as it is', () => {
    const progresses = ['1.5', '.nan', 'most of it', '[1]', '~'].map((progress) => {
      const step = `{ at: 1s, extend: { worker: A/worker-1, progress: ${progress} } }`;
      return (stepsOf(SUBMIT, step)[1] as { progress: unknown }).progress;
    });
    expect(progresses).toEqual([1.5, 'NaN', 'most of it', [1], null]);
  });

  test('injects a message as it is', () => {
    const [step] = stepsOf(
      '{ at: 1s, inject: { to: A, message: { type: JobGlobalTimeout, jobId: j1, decisionEpoch: [1, 1] } } }',
    );
    expect(step).toEqual({
      atMs: 1_000,
      do: 'inject',
      to: 'A',
      message: { type: 'JobGlobalTimeout', jobId: 'j1', decisionEpoch: [1, 1] },
    });
  });
});

describe('a workflow', () => {
  test('has its script in the words of plans', () => {
    const script =
      '{ id: w1, runs: 85s, progressEvery: never, failsTimes: 1, cores: 2, completesItems: 9, ignoresCancel: true, rejects: 2, onWorker: A/worker-2 }';
    expect(workflowsOf('A', script, '{ id: w2, stopsProgressAt: 20s, dependsOn: [w1] }')).toEqual([
      {
        id: 'w1',
        runsMs: 85_000,
        progressEveryMs: null,
        failsTimes: 1,
        cores: 2,
        completesItems: 9,
        ignoresCancel: true,
        rejects: 2,
        onWorker: { A: 'A.worker-2' },
      },
      { id: 'w2', stopsProgressAtMs: 20_000, dependsOn: ['w1'] },
    ]);
  });

  test('is put together from its entries, by datacenter', () => {
    const entries = ['{ id: w1, runs: 30m }', '{ id: w1, stopsProgressAt: 30s, in: [A] }'];
    expect(workflowsOf('gate', ...entries)).toEqual([
      {
        id: 'w1',
        in: { A: { runsMs: 1_800_000, stopsProgressAtMs: 30_000 }, B: { runsMs: 1_800_000 } },
      },
    ]);
  });
});

test('every file of the project becomes the same plan as its JSON', () => {
  const text = readFileSync(join(ROOT, 'test/conformance/35-cut-off-for-good.yaml'), 'utf8');
  const { plan } = parseScenario(text, 'some.yaml');
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});
