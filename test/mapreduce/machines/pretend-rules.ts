/**
 * Rules of a run in the pretend world: a workflow drawn from a seed, as a person would write it, and what its limits
 * are by the words of the specification alone.
 */

import type { RunRules } from '../../../machines/mapreduce/run.ts';
import { rulesOf } from '../../../programs/mapreduce/run-rules.ts';
import {
  checkWorkflow,
  type limitsOf,
  type Workflow,
} from '../../../programs/mapreduce/workflow.ts';
import type { SeededRandom } from '../../../simulator/world/random.ts';

type Step = Readonly<Record<string, string | readonly string[] | number>>;

export interface Drawn {
  readonly workflow: Workflow;
  readonly itemCount: number;
  /** Milliseconds by which each step is bounded, and the whole attempt; Infinity: by nothing. */
  readonly stepLimits: readonly number[];
  readonly agentLimit: number;
  /** Share of the median that the limit of attempts is after some successes; null without. */
  readonly percent: number | null;
  readonly graceMs: number;
}

const PERCENTS = [100, null, 150, null, 300, null, null];
export const MEDIAN_FROM = 2;
export const MEDIAN_LEAST_MS = 100;
const USUAL_MS: Readonly<Record<string, number>> = {
  claude: 300_000,
  shell: 60_000,
  unknown: 120_000,
};

export function drawRules(random: SeededRandom): Drawn {
  const pick = <T>(...each: readonly T[]): T => each[Math.floor(random.next() * each.length)] as T;
  const secs = () => Math.round(500 + random.next() * 2_000) / 1_000;
  const maybe = (chance: number, fields: () => object): object =>
    random.next() < chance ? fields() : {};
  const template: Step[] = Array.from({ length: pick(1, 2, 3) }, () => ({
    ...pick<Step>({ shell: 'run ${item}' }, { claude: '${item}' }, { exec: ['run', '${item}'] }),
    ...(maybe(0.3, () => ({ timeout_secs: secs() })) as Step),
  }));
  const types = template.map(typeOf);
  const keys: Record<string, number> = {};
  for (const [index, type] of types.entries()) {
    if (random.next() < 0.3) keys[type] = secs();
    if (random.next() < 0.3) keys[`${type}_${index}`] = secs();
  }
  const policy = pick('per_agent', 'per_command', 'hybrid');
  const stated = random.next() < 0.7 ? secs() : null;
  const graceMs = pick(0, 300, 1_000);
  // Worked out of what is drawn, so that a seed draws the rest as it did before there were shares.
  const percent = PERCENTS[Math.round((stated ?? 0.001) * 1_000) % PERCENTS.length] ?? null;
  const workflow = checkWorkflow({
    mode: 'mapreduce',
    ...maybe(0.5, () => ({ setup: [{ shell: 'begin' }] })),
    ...maybe(0.5, () => ({ reduce: [{ shell: 'end' }] })),
    map: {
      input: 'items.json',
      max_parallel: pick(1, 2, 4),
      ...(stated !== null && { agent_timeout_secs: stated }),
      agent_template: template,
      on_item_failure: pick('dlq', 'skip'),
      retry: {
        max_attempts: pick(1, 2, 3),
        backoff: pick('immediate', 'exponential'),
        initial_delay_secs: 0.2,
        max_delay_secs: 1,
      },
      quota: { exit_codes: [9], resume_after_secs: 0.7 },
      timeout_config: {
        timeout_policy: policy,
        ...(percent !== null && { agent_timeout_secs: `${percent}%` }),
        cleanup_grace_period_secs: graceMs / 1_000,
        timeout_action: pick('dlq', 'dlq', 'skip', 'fail'),
        command_timeouts: keys,
      },
    },
  });
  // A step's own limit, that of its place, that of its type, the usual one.
  const limits = template.map((step, index) => {
    const type = types[index] ?? '';
    const own = (step.timeout_secs as number | undefined) ?? keys[`${type}_${index}`] ?? keys[type];
    return own === undefined ? (USUAL_MS[type] ?? 0) : own * 1_000;
  });
  const stepLimits = limits.map((limit, index) => {
    const type = types[index] ?? '';
    const hasKey = `${type}_${index}` in keys || type in keys;
    const isTimed =
      policy === 'per_command' ||
      'timeout_secs' in (template[index] ?? {}) ||
      (policy === 'hybrid' && hasKey);
    return isTimed ? limit : Number.POSITIVE_INFINITY;
  });
  const sum = Math.max(
    60_000,
    limits.reduce((all, each) => all + each, 0),
  );
  const hasTimer = policy !== 'per_command' || percent !== null;
  const unstated = hasTimer ? sum : Number.POSITIVE_INFINITY;
  return {
    workflow,
    itemCount: pick(1, 3, 8),
    stepLimits,
    agentLimit: stated === null ? unstated : stated * 1_000,
    graceMs,
    percent,
  };
}

function typeOf(step: Step): string {
  if ('claude' in step) return 'claude';
  return 'shell' in step ? 'shell' : 'unknown';
}

export const runRulesOf = ({ workflow, itemCount }: Drawn, limits: typeof limitsOf) =>
  inSmall(rulesOf(workflow, limits(workflow.map, null), itemCount, {}));

/** A run of few items has few successes, and they take less than a second. */
const inSmall = (rules: RunRules): RunRules => ({
  ...rules,
  medianLimit: rules.medianLimit && {
    ...rules.medianLimit,
    successesMin: MEDIAN_FROM,
    leastMs: MEDIAN_LEAST_MS,
  },
});
