/**
 * A scenario file, read: the plan that it is, and what must come of it.
 *
 * Guarantees: a scenario that is returned can be played. Everything it names exists, everything it
 * counts is within limits; otherwise one error says where and what, up to ten mistakes at once.
 * What is read is text: the caller has opened the file.
 */

import { Field } from '../../../reading/field.ts';
import { Issues } from '../../../reading/issues.ts';
import { readSource } from '../../../reading/source.ts';
import { PLAN_VERSION, type Plan } from '../plan.ts';
import { readConfig, readNetwork, readTopology } from './cluster.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import { SCENARIO_LIMITS, type ScenarioLimits } from './limits.ts';
import { Places } from './places.ts';
import { readSteps } from './steps.ts';

export interface Scenario {
  /** As it was given, for people. */
  readonly file: string;
  readonly plan: Plan;
  readonly expect: Expectation;
}

const KEYS = {
  name: true,
  system: true,
  seed: false,
  until: false,
  network: false,
  topology: true,
  config: false,
  steps: false,
  expect: false,
} as const;

const SEEDS = { min: 0, max: Number.MAX_SAFE_INTEGER };
const NAME = /^[^\n]{1,300}$/;

/** @throws {RuntimeError} SCENARIO_INVALID */
export function parseScenario(
  text: string,
  file: string,
  limits: ScenarioLimits = SCENARIO_LIMITS,
): Scenario {
  const issues = new Issues(text, file);
  const source = readSource(text, issues, limits);
  issues.throwIfAny();
  const scenario = source && readScenario(new Field(source, '', issues), file, limits);
  issues.throwIfAny();
  return scenario as Scenario;
}

function readScenario(field: Field, file: string, limits: ScenarioLimits): Scenario | undefined {
  const keys = field.record(KEYS);
  if (keys === undefined) return undefined;
  const name = keys.name?.text(NAME, 'one line of text') ?? '';
  keys.system?.word(['jobs']);
  const untilMs = keys.until?.duration({ min: 1, max: limits.untilMaxMs }) ?? null;
  const network = readNetwork(keys.network);
  const config = readConfig(keys.config);
  const seed = keys.seed?.whole(SEEDS) ?? 1;
  // Without it nobody knows which names there are.
  const topology = keys.topology && readTopology(keys.topology, limits);
  if (topology === undefined) return undefined;
  const places = new Places(topology);
  const lastMs = untilMs ?? limits.untilDefaultMs;
  const steps = readSteps(keys.steps, places, limits, lastMs);
  const expect = readExpectation(keys.expect, places, steps);
  const plan: Plan = {
    version: PLAN_VERSION,
    name,
    system: 'jobs',
    seed,
    untilMs,
    network,
    topology,
    config,
    steps,
    nemeses: [],
    healAtMs: null,
  };
  return { file, plan, expect };
}
