/** Continuation of a run that was stopped: at its setup, its items or its reduce, and nothing that is done is done again. */

import { describe, expect, test } from 'vitest';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { WorkerStepper } from '../../jobs/machines/worker-stepper.ts';
import { PARTS } from './pretend-parts.ts';
import { drawRules, runRulesOf } from './pretend-rules.ts';

type Role = 'setup' | 'map' | 'reduce';

const rules = runRulesOf(drawRules(new SeededRandom(1, 'continuing')), PARTS.limits);
const steps = { ...rules.map, steps: [{ type: 'shell', limitMs: null, idleLimitMs: null }] };

const ended = (role: Role, outcome: string, attempt = 1) => ({
  type: 'agent.ended',
  ...{ role, itemIndex: 0, attempt, outcome, durationMs: 1 },
  ...{ hasStarted: true, enforcementFailure: null, failure: null },
});
const run = () =>
  new WorkerStepper(runMachine, {
    runId: 'r1',
    rules: { ...rules, itemCount: 1, setup: steps, reduce: steps },
    about: {},
  });
const mapping = () => run().take(ended('setup', 'done'));
const reducing = () => mapping().take(ended('map', 'done'));
const stopped = (at: WorkerStepper, role: Role, outcome: string) =>
  at.take({ type: 'run.interrupt' }).take(ended(role, outcome));
const placeOf = ({ value, snapshot }: WorkerStepper) => {
  const { active } = value as { readonly active?: string | object };
  const place = typeof active === 'object' ? Object.keys(active)[0] : (active ?? value);
  const { setup, reduce } = snapshot.context;
  return [place, setup.attempts, reduce.attempts];
};

describe('a run that is resumed', () => {
  test.each([
    ['its setup', run, 'setup', ['settingUp', 2, 0]],
    ['its items', mapping, 'map', ['mapping', 1, 0]],
    ['its reduce', reducing, 'reduce', ['reducing', 1, 2]],
  ] as const)('goes on at %s', (_, at, role, place) => {
    const stops = stopped(at(), role, 'interrupted');
    expect(stops.value).toBe('interrupted');
    expect(placeOf(stops.take({ type: 'run.resume' }))).toEqual(place);
  });

  test.each([
    ['setup', run, 'setup', ['mapping', 1, 0]],
    ['reduce', reducing, 'reduce', ['completed', 1, 1]],
  ] as const)('does not run a %s again that was done while it stopped', (_, at, role, place) => {
    expect(placeOf(stopped(at(), role, 'done').take({ type: 'run.resume' }))).toEqual(place);
  });

  test('before it has stopped waits for its agents, and then goes on', () => {
    const stops = reducing().take({ type: 'run.interrupt' }).take({ type: 'run.resume' });
    expect(stops.value).toBe('resuming');
    expect(placeOf(stops.take(ended('reduce', 'interrupted')))).toEqual(['reducing', 1, 2]);
  });
});
