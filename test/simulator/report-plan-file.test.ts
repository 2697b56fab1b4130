/** Plan files: what was written is read again, and nothing else is. */

import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { planText, readPlan } from '../../simulator/jobs/report/plan-file.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';
import { nemesis, planOf } from './report-fixtures.ts';

function failureOf(text: string, release = '0.1.0'): RuntimeError {
  try {
    readPlan(text, 'plan.json', { release });
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return thrown;
    throw thrown;
  }
  throw new Error('It was taken for a plan.');
}

const changed = (changes: object): string => JSON.stringify({ ...planOf(), ...changes });

describe('a plan file', () => {
  test('is read as it was written, for every plan that chance makes', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const plan = drawPlan(seed);
      expect(readPlan(planText(plan), 'plan.json')).toEqual(JSON.parse(planText(plan)));
    }
  });

  test('of another version is refused with a word about that, whatever else is in it', () => {
    const { code, message } = failureOf(JSON.stringify({ version: 2, seeds: [1] }));
    expect(code).toBe('PLAN_INVALID');
    expect(message).toBe(
      'plan.json: a plan of another version, "2"; this release plays version 1. With --force it is played all the same, and may come to another run.',
    );
  });

  test('of another release is refused, and so is that of another version, unless it is forced', () => {
    const text = planText(planOf(), '0.0.9');
    const { message } = failureOf(text, '0.1.0');
    expect(message).toContain('plan.json: a plan of another release, "0.0.9"; this is 0.1.0.');
    expect(readPlan(text, 'plan.json', { release: '0.0.9' })).toEqual({
      ...planOf(),
      release: '0.0.9',
    });
    const forced = readPlan(changed({ version: 2, release: '0.0.9' }), 'plan.json', {
      release: '0.1.0',
      isForced: true,
    });
    expect(forced).toEqual({ ...planOf(), release: '0.0.9' });
  });

  test.each([
    ['no JSON', '{', /is no JSON/],
    ['no plan', '[]', /the plan: /],
    ['nothing', 'null', /the plan: /],
    ['a key that is not known', changed({ extra: 1 }), /extra/],
    ['a step that is not known', changed({ steps: [{ atMs: 0, do: 'fly' }] }), /steps\[0\]/],
    [
      'a moment that is no number',
      changed({ steps: [{ atMs: '0', do: 'heal' }] }),
      /steps\[0\]\.atMs/,
    ],
    ['a time without end', changed({ untilMs: 1e300 }), /untilMs/],
    [
      'delays the wrong way round',
      changed({ network: { ...planOf().network, delayMs: [5, 1] } }),
      /delayMs/,
    ],
    ['a share above one', changed({ network: { ...planOf().network, loss: 2 } }), /network\.loss/],
    ['an option that is not known', changed({ config: { speed: 1 } }), /config: /],
    ['options that contradict each other', changed({ config: { leaseMs: 1 } }), /config: /],
    [
      'a fault that is not on the menu',
      changed({ nemeses: [nemesis('n1', 'earthquake')] }),
      /nemeses\[0\]\.kind: There is no nemesis "earthquake"/,
    ],
    [
      'two faults of one name',
      changed({ nemeses: [nemesis('n1', 'powerCut'), nemesis('n1', 'powerCut')] }),
      /same id/,
    ],
    [
      'a node that is not there',
      changed({ steps: [{ atMs: 0, do: 'crash', node: 'Z.manager-1' }] }),
      /steps\[0\]\.node: "Z\.manager-1" is not in the topology/,
    ],
    [
      'a target that is not there',
      changed({ nemeses: [nemesis('n1', 'crashNodes', { targets: ['A.manager-9'] })] }),
      /nemeses\[0\]\.targets\[0\]: "A\.manager-9" is not/,
    ],
    [
      'a side that is not there',
      changed({ steps: [{ atMs: 0, do: 'partition', sides: [['A'], ['Z.*']], forMs: null }] }),
      /steps\[0\]\.sides\[1\]\[0\]: "Z\.\*" is not/,
    ],
    [
      'a workflow on a worker that is not there',
      changed({
        steps: [
          {
            atMs: 0,
            do: 'submit',
            job: {
              jobId: 'j1',
              to: 'A',
              timeoutMs: 1,
              workflows: [{ id: 'w', onWorker: { A: 'A.worker-9' } }],
            },
          },
        ],
      }),
      /steps\[0\]\.job\.workflows\[0\]\.onWorker\.A: "A\.worker-9" is not/,
    ],
    [
      'a fault before the beginning',
      changed({ nemeses: [nemesis('n1', 'powerCut', { atMs: -1 })] }),
      /nemeses\[0\]\.atMs: Too small/,
    ],
    [
      'no datacenter',
      changed({ topology: { gates: 1, datacenters: {} } }),
      /topology\.datacenters: there must be a datacenter/,
    ],
    [
      'a datacenter that nobody can lead',
      changed({ topology: { gates: 0, datacenters: { A: { managers: 0, workers: 1 } } } }),
      /topology\.datacenters\.A\.managers: Too small/,
    ],
    [
      'too many nodes',
      changed({ topology: { gates: 150, datacenters: { A: { managers: 100, workers: 1 } } } }),
      /251 nodes/,
    ],
  ])('with %s is refused', (_, text, message) => {
    const failure = failureOf(text);
    expect(failure.code).toBe('PLAN_INVALID');
    expect(failure.message).toMatch(message);
  });

  test('tells line and column: of a value, of the parent of a missing one, of broken JSON', () => {
    const text = planText({ ...planOf(), steps: [{ atMs: '0', do: 'heal' } as never] });
    const at = text.indexOf('"atMs": "0"');
    const line = text.slice(0, at).split('\n').length;
    const column = at - text.lastIndexOf('\n', at);
    expect(failureOf(text).message).toContain(`plan.json:${line}:${column}: steps[0].atMs: `);
    expect(failureOf('{\n  "version": 1\n}').message).toMatch(/^plan\.json:1:1: /);
    expect(failureOf('{\n  "version": }').message).toMatch(/^plan\.json:2:14: is no JSON/);
    for (const [text, at] of [
      ['{', 2],
      ['[1, 2,]', 7],
      ['{"a": tru}', 7],
      ['{"a" 1}', 6],
      ['{"a": 1,}', 9],
      ['{"a": [1 2]}', 10],
      ['{} {}', 4],
      ['["a\\x"]', 2],
    ] as const)
      expect(failureOf(text).message).toMatch(new RegExp(`^plan\\.json:1:${at}: is no JSON`));
  });

  test('tells of ten issues and counts the others', () => {
    const steps = Array.from({ length: 30 }, () => ({ atMs: -1e99, do: 'heal' }));
    const lines = failureOf(changed({ steps })).message.split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('plan.json: and 20 more.');
  });

  test('may speak of a job that nobody submits', () => {
    const steps: Plan['steps'] = [{ atMs: 0, do: 'get', jobId: 'nobody', to: 'A' }];
    expect(readPlan(planText(planOf({ steps })), 'plan.json').steps).toEqual(steps);
  });
});
