import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';

const HEAD = `name: some scenario
system: jobs
topology: { gates: 1, datacenters: { A: { managers: 2, workers: 2 }, B: { managers: 1, workers: 1 } } }
`;
const SUBMIT =
  '{ at: 0s, submit: { job: j1, to: gate, timeout: 60s, workflows: [ { id: w1, runs: 1s } ] } }';

/** The lines of the one error, without the file's name. */
function mistakesIn(text: string): readonly string[] {
  try {
    parseScenario(text, 'some.yaml');
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: 'RuntimeError', code: 'SCENARIO_INVALID' });
    return (thrown as Error).message.split('\n').map((line) => line.replace('some.yaml:', ''));
  }
  return [];
}

describe('mistakes', () => {
  const expectMistake = (more: string, ...mistakes: string[]) =>
    expect(mistakesIn(`${HEAD}${more}`)).toEqual(mistakes);
  const expectStepMistake = (step: string, mistake: string) =>
    expectMistake(`steps:\n  - ${SUBMIT}\n  - ${step}\n`, mistake);

  test('are told with line, column, path and what would be right', () => {
    expectMistake(
      'until: 5 parsecs\n',
      '4:8: until: must be a duration such as 250ms, 30s, 5m, 1h30m or 60d, or a number of milliseconds, got "5 parsecs".',
    );
  });

  test('are told all at once, up to ten', () => {
    const steps = Array.from({ length: 12 }, () => '  - { at: 0s, crash: C }\n').join('');
    const mistakes = mistakesIn(`${HEAD}steps:\n${steps}`);
    expect(mistakes).toHaveLength(11);
    expect(mistakes[0]).toMatch(/^5:22: steps\[0\]\.crash: must be a node, and "C" is none; /);
    expect(mistakes[10]).toBe(' and more.');
  });

  test('in keys come with a suggestion', () => {
    expectMistake(
      'topologie: {}\n',
      '4:1: topologie: there is no such key; did you mean "topology"?',
    );
    expectMistake(
      'steps: [ { at: 0s, crahs: A/worker-1 } ]\n',
      '4:10: steps[0]: must do something: submit, extend, cancel, extendJob, crash, restart, pause, partition, heal, lead, link, skew, inject.',
      '4:20: steps[0].crahs: there is no such key; did you mean "crash"?',
    );
    expectMistake(
      'config: { stuckTreshold: 3 }\n',
      '4:11: config.stuckTreshold: there is no such option; did you mean "stuckThresholdMs"?',
    );
  });

  test('in options come with what is legal, and between options with both', () => {
    expectMistake(
      'config: { maxRetries: 99 }\n',
      '4:23: config.maxRetries: must be a whole number from 0 to 10, got 99.',
    );
    expectMistake(
      'config: { heartbeatIntervalMs: 20s }\n',
      '4:9: config: Twice "heartbeatIntervalMs" must not be above "baseDeadlineMs": "heartbeatIntervalMs" is 20000 and "baseDeadlineMs" is 30000.',
    );
  });

  test.each([
    [
      '{ at: 0s, crash: A/manager-7 }',
      '6:22: steps[1].crash: must be a node, and "A/manager-7" is none; did you mean "A/manager-1"?',
    ],
    [
      '{ at: 0s }',
      '6:5: steps[1]: must do something: submit, extend, cancel, extendJob, crash, restart, pause, partition, heal, lead, link, skew, inject.',
    ],
    [
      '{ at: 0s, heal: true, lead: A/manager-1 }',
      '6:33: steps[1].lead: must be a step of its own: a step does one thing.',
    ],
    [
      '{ at: 25h, heal: true }',
      '6:11: steps[1].at: must be a duration from 0 to 86,400,000 ms, got "25h".',
    ],
    [
      '{ at: 1s, cancel: { job: j2, to: A } }',
      '6:30: steps[1].cancel.job: must be a job that is submitted, and "j2" is none; there is j1.',
    ],
    [
      '{ at: 1s, cancel: { job: j1, to: C } }',
      '6:38: steps[1].cancel.to: must be a datacenter or "gate", and "C" is none; there are A, B, gate, gate-1.',
    ],
    [
      '{ at: 1s, restart: A/worker-1 }',
      '6:24: steps[1].restart: must have crashed: it is running.',
    ],
    [
      '{ at: 1s, partition: { sides: [[A], [A/worker-1]] } }',
      '6:35: steps[1].partition.sides: must not have a node on two sides.',
    ],
    [
      '{ at: 1s, link: { between: [A, B] } }',
      '6:21: steps[1].link: must have one of drop, duplicate, hold.',
    ],
    [
      '{ at: 1s, link: { between: [A, B], drop: { type: JobTimeoutReprot } } }',
      '6:54: steps[1].link.drop.type: must be a message of the jobs system, and "JobTimeoutReprot" is none; did you mean "JobTimeoutReport"?',
    ],
    [
      '{ at: 1s, submit: { job: j2, to: A, timeout: 61d, workflows: [ { id: w1, runs: 1s } ] } }',
      '6:50: steps[1].submit.timeout: must be a duration from 1 to 5,184,000,000 ms, got "61d".',
    ],
    [
      '{ at: 1s, submit: { job: j2, to: A, timeout: 1s, workflows: [ { id: w1, runs: 1s, dependsOn: [w1] } ] } }',
      '6:98: steps[1].submit.workflows[0].dependsOn: must not be part of a circle.',
    ],
    [
      '{ at: 1s, submit: { job: j2, to: A, timeout: 1s, workflows: [ { id: w1, runs: 1s, dependsOn: [w7] } ] } }',
      '6:99: steps[1].submit.workflows[0].dependsOn[0]: must be a workflow of the job, and "w7" is none; there is w1.',
    ],
    [
      '{ at: 1s, submit: { job: j2, to: A, timeout: 1s, workflows: [ { id: w1, runs: 1s, onWorker: B/worker-1 } ] } }',
      '6:97: steps[1].submit.workflows[0].onWorker: must be a worker of a datacenter that the workflow goes to.',
    ],
    [
      '{ at: 1s, submit: { job: j2, to: A, datacenters: [A], timeout: 1s, workflows: [ { id: w1, runs: 1s } ] } }',
      '6:54: steps[1].submit.datacenters: is only for jobs that are submitted to a gate.',
    ],
  ])('in a step: %s', (step, mistake) => expectStepMistake(step, mistake));

  test.each([
    ['{ gates: 1, datacenters: {} }', '3:36: topology.datacenters: must have a datacenter.'],
    ['{ gates: 1 }', '3:11: topology: must have "datacenters".'],
    [
      '{ gates: -1, datacenters: { A: {} } }',
      '3:20: topology.gates: must be a whole number from 0 to 200, got -1.',
    ],
    [
      '{ datacenters: { A: { managers: 0 } } }',
      '3:43: topology.datacenters.A.managers: must be a whole number from 1 to 200, got 0.',
    ],
    [
      '{ datacenters: { gate-1: {} } }',
      '3:36: topology.datacenters.gate-1: must not have a name that nodes have.',
    ],
    [
      '{ datacenters: { A: { workers: 150 }, B: { workers: 150 } } }',
      '3:11: topology: must have at most 200 nodes, got 302.',
    ],
  ])('in the topology: %s', (topology, mistake) =>
    expect(mistakesIn(`name: x\nsystem: jobs\ntopology: ${topology}`)).toEqual([mistake]),
  );

  test.each([
    [
      '{ jobs: { j2: {} } }',
      '6:19: expect.jobs.j2: must name a job that is submitted, and "j2" is none; there is j1.',
    ],
    [
      '{ jobs: { j1: { gate: { status: timeOut } } } }',
      '6:41: expect.jobs.j1.gate.status: must be one of submitted, running, completed, failed, cancelled, timedOut, got "timeOut".',
    ],
    [
      '{ jobs: { j1: { gate: { atMs: [2s, 1s] } } } }',
      '6:39: expect.jobs.j1.gate.atMs: must be a number, or two of them, the smaller one first.',
    ],
    [
      '{ counters: { staleAttemps: 1 } }',
      '6:23: expect.counters.staleAttemps: there is no such key; did you mean "staleAttempts"?',
    ],
    [
      '{ workers: { A/worker-9: { denials: 1 } } }',
      '6:22: expect.workers.A/worker-9: must name a worker, and "A/worker-9" is none; did you mean "A/worker-1"?',
    ],
  ])('in what is expected: %s', (expected, mistake) =>
    expectMistake(`steps:\n  - ${SUBMIT}\nexpect: ${expected}\n`, mistake),
  );

  test('of the grammar have their place as well', () => {
    expect(mistakesIn('name: x\n  topology: [')[0]).toMatch(/^\d:\d+: /);
    expect(mistakesIn('')).toEqual(['1:1: must be a map, got nothing.']);
  });

  test('needs its work in every datacenter that gets it', () => {
    const text = `${HEAD}steps:
  - at: 0s
    submit:
      job: j1
      to: gate
      timeout: 1m
      workflows:
        - { id: w1, runs: 1s, in: [A] }
`;
    expect(mistakesIn(text)).toEqual([
      '11:11: steps[0].submit.workflows[0]: must have "runs" in B: nobody says how much work "w1" is there.',
    ]);
  });
});
