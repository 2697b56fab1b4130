/**
 * Limits of a workflow: which timer each agent and each command gets, and what in the file comes to nothing.
 */

import type { StepRules } from '../../../machines/mapreduce/map-agent/context.ts';
import { type CommandType, durationText } from '../../../machines/mapreduce/words.ts';
import type { MapSection } from './map-keys.ts';

export interface Limits {
  readonly agentLimitMs: number | null;
  /** Percent of the median of successes that the agent limit is once there are enough; null: it stays as it is. */
  readonly agentPercent: number | null;
  readonly steps: readonly StepRules[];
  /** Each command's limit, whether the policy gives it a timer or not. */
  readonly commandLimitsMs: readonly number[];
  /** Ordinary limits of the types that have a step for which nobody states one. */
  readonly unstatedMs: ReadonlyMap<CommandType, number>;
}

/** Limits that nobody has stated, as somebody has learnt them. */
export interface Learnt {
  readonly agentMs?: number;
  readonly byType: Readonly<Partial<Record<CommandType, number>>>;
}

const DEFAULT_LIMITS_MS: Readonly<Record<CommandType, number>> = {
  claude: 300_000,
  shell: 60_000,
  unknown: 120_000,
};
const LEAST_SUM_MS = 60_000;
const NOTHING_LEARNT: Learnt = { byType: {} };

/** `stated`: an agent limit that the command line gives. */
export function limitsOf(map: MapSection, stated: number | null, learnt = NOTHING_LEARNT): Limits {
  const { policy, commandTimeouts } = map.timeout;
  const keyed = map.template.map(({ type }, index) => {
    const ofType = commandTimeouts.filter((each) => each.type === type);
    return (
      ofType.find((each) => each.index === index) ?? ofType.find((each) => each.index === null)
    )?.ms;
  });
  const commandLimitsMs = map.template.map(
    ({ type, timeoutMs }, index) =>
      timeoutMs ?? keyed[index] ?? learnt.byType[type] ?? DEFAULT_LIMITS_MS[type],
  );
  const sum = Math.max(
    LEAST_SUM_MS,
    commandLimitsMs.reduce((all, each) => all + each, 0),
  );
  const explicit = stated ?? map.agentTimeoutMs;
  const agentPercent = stated === null ? map.agentTimeoutPercent : null;
  const hasAgentTimer = policy !== 'per_command' || explicit !== null || agentPercent !== null;
  const agentLimitMs = hasAgentTimer ? (explicit ?? learnt.agentMs ?? sum) : null;
  const steps = map.template.map(({ type, timeoutMs, idleTimeoutMs }, index) => {
    const isTimed =
      policy === 'per_command' ||
      timeoutMs !== null ||
      (policy === 'hybrid' && keyed[index] !== undefined);
    return {
      type,
      limitMs: isTimed ? (commandLimitsMs[index] ?? null) : null,
      idleLimitMs: idleTimeoutMs ?? map.idleTimeouts[type] ?? map.idleTimeoutMs,
    };
  });
  const unstated = map.template.filter(
    ({ timeoutMs }, index) => timeoutMs === null && keyed[index] === undefined,
  );
  const unstatedMs = new Map(unstated.map(({ type }) => [type, DEFAULT_LIMITS_MS[type]] as const));
  return { agentLimitMs, agentPercent, steps, commandLimitsMs, unstatedMs };
}

/** What in the file has no effect, or another one than it seems to have. */
export function warningsOf(map: MapSection, stated: number | null, limits: Limits): string[] {
  const { policy, commandTimeouts } = map.timeout;
  const warnings: string[] = [];
  for (const { key, type, index } of commandTimeouts) {
    if (
      index === null
        ? map.template.some((step) => step.type === type)
        : map.template[index]?.type === type
    )
      continue;
    warnings.push(`map.timeout_config.command_timeouts.${key}: the key never matches a step`);
  }
  if (policy === 'per_agent' && commandTimeouts.length > 0)
    warnings.push('map.timeout_config.command_timeouts: ignored under the policy per_agent');
  if (policy === 'per_command' && (stated ?? limits.agentLimitMs) !== null)
    warnings.push('map.agent_timeout_secs: under the policy per_command both limits apply');
  for (const [index, { limitMs }] of limits.steps.entries()) {
    const { agentLimitMs } = limits;
    if (policy !== 'hybrid' || limitMs === null || agentLimitMs === null || limitMs <= agentLimitMs)
      continue;
    warnings.push(
      `map.agent_template.${index}: its limit of ${durationText(limitMs)} is clipped to the agent's of ${durationText(agentLimitMs)}`,
    );
  }
  return warnings;
}
