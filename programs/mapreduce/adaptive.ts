/**
 * Adaptive limits: what nobody has stated follows what earlier runs of the workflow took, within bounds that somebody
 * has. Decided when a run begins and kept with it.
 *
 * A recommendation that is a lower bound may raise a limit and never lowers one, so that timeouts do not breed
 * tighter timeouts.
 */

import { type CommandType, durationText } from '../../machines/mapreduce/words.ts';
import { type Recommendation, recommendationsOf, runsOf, USUAL_RULES } from './recommendation.ts';
import type { StoredRuns } from './stored-runs.ts';
import { type Learnt, type Limits, limitsOf, type Workflow, warningsOf } from './workflow.ts';

export interface Adapted {
  readonly limits: Limits;
  readonly warnings: readonly string[];
  /** What each learnt limit is, and from what. */
  readonly learnt: readonly string[];
}

/** Limits for a run that begins now. `stated`: an agent limit that the command line gives. */
export function adaptedLimits(
  { name, map }: Workflow,
  stated: number | null,
  stored: StoredRuns,
): Adapted | undefined {
  const { adaptive, policy } = map.timeout;
  if (adaptive === null) return undefined;
  const { percentile, factor, minMs, maxMs } = adaptive;
  const rules = { ...USUAL_RULES, percentile, factor };
  const found = new Map(
    recommendationsOf(stored, runsOf(stored, name), rules).map((each) => [each.key, each]),
  );
  const usual = limitsOf(map, stated);
  const missing: string[] = [];
  const learnt: string[] = [];
  const learn = (key: string, usualMs: number): number | undefined => {
    const each = found.get(key);
    const secs = each?.recommendedSecs ?? null;
    if (each === undefined || secs === null) {
      missing.push(tooFew(key, each, usualMs));
      return undefined;
    }
    const ms = Math.min(maxMs, Math.max(minMs, secs * 1_000));
    const learntMs = each.mark === 'lower_bound' ? Math.max(usualMs, ms) : ms;
    learnt.push(`limit of ${key}: ${durationText(learntMs)}, ${basis(each)}`);
    return learntMs;
  };
  const isAgentLearnt = policy !== 'per_command' && stated === null && map.agentTimeoutMs === null;
  const agentMs = isAgentLearnt ? learn('agent', usual.agentLimitMs ?? 0) : undefined;
  const byType: Partial<Record<CommandType, number>> = {};
  // Without a timer of its own a command's limit counts in the sum of the agent alone.
  if (policy === 'per_command' || (isAgentLearnt && agentMs === undefined))
    for (const [type, usualMs] of usual.unstatedMs) {
      const ms = learn(type, usualMs);
      if (ms !== undefined) byType[type] = ms;
    }
  const given: Learnt = { byType, ...(agentMs !== undefined && { agentMs }) };
  const limits = limitsOf(map, stated, given);
  return { limits, warnings: [...warningsOf(map, stated, limits), ...missing], learnt };
}

const basis = ({ samples, mark }: Recommendation): string =>
  `from ${samples} successes${mark === 'lower_bound' ? ', a lower bound: it only raises limits' : ''}`;

const tooFew = (key: string, each: Recommendation | undefined, usualMs: number): string =>
  `adaptive: ${each?.samples ?? 0} successes are too few for the limit of ${key}; the ordinary ${durationText(usualMs)} holds`;
