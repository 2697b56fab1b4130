/**
 * Section `map` of a workflow, key by key.
 */

import type { RetryRules } from '../../../machines/mapreduce/run/context.ts';
import {
  COMMAND_TYPES,
  type CommandType,
  FAILURE_ACTIONS,
  type FailureAction,
  POLICIES,
  type Policy,
  TIMEOUT_ACTIONS,
  type TimeoutAction,
} from '../../../machines/mapreduce/words.ts';
import type { Field } from './field.ts';
import { readSteps, type Step } from './steps.ts';

export interface CommandTimeout {
  readonly key: string;
  readonly type: CommandType;
  /** Place in the whole template; null for every command of the type. */
  readonly index: number | null;
  readonly ms: number;
}

export interface Adaptive {
  readonly percentile: number;
  readonly factor: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export interface TimeoutConfig {
  readonly policy: Policy;
  readonly graceMs: number;
  readonly action: TimeoutAction;
  readonly monitoring: boolean;
  readonly commandTimeouts: readonly CommandTimeout[];
  readonly enforce: boolean;
  readonly onEnforcerFailure: 'run' | 'fail';
  readonly alertPercent: number | null;
  readonly adaptive: Adaptive | null;
}

export interface Quota {
  readonly exitCodes: readonly number[];
  readonly outputMatches: readonly string[];
  readonly resumeAfterMs: number;
}

export interface MapSection {
  readonly input: string;
  readonly jsonPath: string;
  /** Stated limit; null where it is the sum of the commands'. */
  readonly agentTimeoutMs: number | null;
  /** Limit in percent of the median of successes, once there are enough; the one above holds until then. */
  readonly agentTimeoutPercent: number | null;
  /** Where the stated limit stands; where it would go if none stands anywhere. */
  readonly agentLimitPaths: ReadonlyArray<readonly string[]>;
  readonly timeout: TimeoutConfig;
  readonly template: readonly Step[];
  readonly maxParallel: number;
  readonly onItemFailure: FailureAction;
  readonly retry: RetryRules;
  readonly hasWorktree: boolean;
  readonly outputBytesMax: number;
  readonly idleTimeoutMs: number | null;
  readonly idleTimeouts: Readonly<Partial<Record<CommandType, number>>>;
  readonly quota: Quota | null;
  readonly itemBudget: Readonly<Record<string, number>>;
  readonly runBudget: Readonly<Record<string, number>>;
}

const MAP_KEYS = [
  ...['input', 'json_path', 'agent_timeout_secs', 'timeout_config', 'agent_template'],
  ...['max_parallel', 'on_item_failure', 'retry', 'worktree', 'max_output_bytes'],
  ...['idle_timeout_secs', 'idle_timeouts', 'quota', 'budgets'],
];
const CONFIG_KEYS = [
  ...['agent_timeout_secs', 'timeout_policy', 'cleanup_grace_period_secs', 'timeout_action'],
  ...['enable_monitoring', 'command_timeouts', 'enforce', 'on_enforcer_failure'],
  ...['alert_timeout_rate_percent', 'adaptive'],
];
const RETRY_KEYS = [
  ...['max_attempts', 'retry_on', 'backoff', 'initial_delay_secs', 'max_delay_secs'],
];
const COMMAND_KEY = /^(claude|shell|unknown)(?:_(0|[1-9][0-9]*))?$/;
/** A limit below the median would end every second success. */
const PERCENT_MIN = 100;
const PERCENT_MAX = 100_000;
const DEFAULT_GRACE_MS = 30_000;
const DEFAULT_PARALLEL = 5;
const DEFAULT_OUTPUT_BYTES = 10_485_760;

export function readMap(field: Field): MapSection {
  field.record(MAP_KEYS);
  const config = field.member('timeout_config');
  if (!config.isMissing) config.record(CONFIG_KEYS, 'wrongLimit');
  const budgets = field.member('budgets');
  if (!budgets.isMissing) budgets.record(['item', 'run']);
  const path = field.member('json_path');
  return {
    input: field.member('input').text(),
    jsonPath: path.isMissing ? '$[*]' : path.text(),
    agentTimeoutMs: agreed(limitFields(field, config), (each) =>
      each.isShare ? null : each.limit(),
    ),
    agentTimeoutPercent: agreed(limitFields(field, config), (each) =>
      each.share(PERCENT_MIN, PERCENT_MAX),
    ),
    agentLimitPaths: limitPaths(field, config),
    timeout: readConfig(config),
    template: readSteps(field.member('agent_template'), 'map'),
    maxParallel: field.member('max_parallel').count(DEFAULT_PARALLEL),
    onItemFailure: field.member('on_item_failure').choice(FAILURE_ACTIONS, 'dlq'),
    retry: readRetry(field.member('retry')),
    hasWorktree: field.member('worktree').flag(false),
    outputBytesMax: field.member('max_output_bytes').count(DEFAULT_OUTPUT_BYTES, 0),
    idleTimeoutMs: field.member('idle_timeout_secs').limit(),
    idleTimeouts: readIdleTimeouts(field.member('idle_timeouts')),
    quota: readQuota(field.member('quota')),
    itemBudget: budgets.member('item').amounts(),
    runBudget: budgets.member('run').amounts(),
  };
}

type LimitFields = readonly [onMap: Field, inConfig: Field];

/** The two places in which an agent limit may stand. */
const limitFields = (onMap: Field, config: Field): LimitFields => [
  onMap.member('agent_timeout_secs'),
  config.member('agent_timeout_secs'),
];

/** The value that stands in one of two places, or the same in both. */
function agreed(
  [onMap, inConfig]: LimitFields,
  read: (field: Field) => number | null,
): number | null {
  const [one, other] = [read(onMap), read(inConfig)];
  if (one !== null && other !== null && one !== other)
    inConfig.wrongLimit(
      `map.agent_timeout_secs (${onMap.value}) and timeout_config.agent_timeout_secs (${inConfig.value}) differ`,
    );
  return one ?? other;
}

/** A share of the median is no number that could be replaced by another. */
function limitPaths(onMap: Field, config: Field): MapSection['agentLimitPaths'] {
  const both = limitFields(onMap, config);
  const stated = both.filter(({ isMissing }) => !isMissing);
  const found = stated.length > 0 ? stated.filter(({ isShare }) => !isShare) : both.slice(1);
  return found.map(({ path }) => path.map(String));
}

function readConfig(config: Field): TimeoutConfig {
  const alert = config.member('alert_timeout_rate_percent');
  if (!alert.isMissing && alert.value === 0)
    alert.wrongLimit(`${alert.name} must be greater than 0`);
  const fallback = DEFAULT_GRACE_MS;
  return {
    policy: config.member('timeout_policy').choice(POLICIES, 'per_agent'),
    graceMs: config.member('cleanup_grace_period_secs').limit({ mayBeZero: true }) ?? fallback,
    action: config.member('timeout_action').choice(TIMEOUT_ACTIONS, 'dlq'),
    monitoring: config.member('enable_monitoring').flag(true),
    commandTimeouts: readCommandTimeouts(config.member('command_timeouts')),
    enforce: config.member('enforce').flag(true),
    onEnforcerFailure: config.member('on_enforcer_failure').choice(['run', 'fail'], 'run'),
    alertPercent: alert.isMissing ? null : alert.number(0, 100),
    adaptive: readAdaptive(config.member('adaptive')),
  };
}

function readCommandTimeouts(field: Field): readonly CommandTimeout[] {
  return field.entries().map((each) => {
    const key = String(each.path.at(-1));
    const [, type, index] = COMMAND_KEY.exec(key) ?? [];
    if (type === undefined) each.wrongLimit(`unknown command key "${key}"`);
    const ms: number = each.limit() ?? each.wrongLimit(`${each.name} must be greater than 0`);
    return {
      key,
      type: type as CommandType,
      index: index === undefined ? null : Number(index),
      ms,
    };
  });
}

function readAdaptive(field: Field): Adaptive | null {
  if (field.isMissing) return null;
  field.record(['percentile', 'factor', 'min_secs', 'max_secs'], 'wrongLimit');
  const or = (key: string, fallback: number, min: number, max: number): number =>
    field.member(key).isMissing ? fallback : field.member(key).number(min, max);
  const maxMs = field.member('max_secs').limit();
  if (maxMs === null) field.wrongLimit(`${field.name} needs max_secs`);
  const minMs = field.member('min_secs').limit() ?? 1_000;
  if (minMs > maxMs)
    field.wrongLimit(`${field.name}.min_secs is greater than ${field.name}.max_secs`);
  return {
    percentile: or('percentile', 99, 1, 100),
    factor: or('factor', 1.5, 1, Number.MAX_VALUE),
    minMs,
    maxMs,
  };
}

function readRetry(field: Field): RetryRules {
  if (!field.isMissing) field.record(RETRY_KEYS);
  const on = field.member('retry_on');
  return {
    maxAttempts: field.member('max_attempts').count(1),
    retryOn: on.isMissing
      ? ['timeout', 'command_failed']
      : on.list().map((each) => each.choice(['timeout', 'command_failed'], 'timeout')),
    backoff: field.member('backoff').choice(['immediate', 'fixed', 'exponential'], 'immediate'),
    initialDelayMs: field.member('initial_delay_secs').limit() ?? 1_000,
    maxDelayMs: field.member('max_delay_secs').limit() ?? 30_000,
  };
}

function readIdleTimeouts(field: Field): MapSection['idleTimeouts'] {
  if (field.isMissing) return {};
  field.record(COMMAND_TYPES, 'wrongLimit');
  return Object.fromEntries(field.entries().map((each) => [each.path.at(-1), each.limit()]));
}

function readQuota(field: Field): Quota | null {
  if (field.isMissing) return null;
  field.record(['exit_codes', 'output_matches', 'resume_after_secs']);
  const codes = field.member('exit_codes');
  const matches = field.member('output_matches');
  const quota = {
    exitCodes: codes.isMissing ? [] : codes.list().map((each) => each.count(1)),
    outputMatches: matches.isMissing ? [] : matches.list().map(readPattern),
    resumeAfterMs: field.member('resume_after_secs').limit(),
  };
  const { resumeAfterMs } = quota;
  if (resumeAfterMs === null) field.wrong(`${field.name} needs resume_after_secs`);
  if (quota.exitCodes.length + quota.outputMatches.length === 0)
    field.wrong(`${field.name} needs exit_codes or output_matches`);
  return { ...quota, resumeAfterMs };
}

function readPattern(field: Field): string {
  const text = field.text();
  try {
    new RegExp(text);
  } catch {
    field.wrong(`${field.name} is no regular expression`);
  }
  return text;
}
