/**
 * Recommendation of limits: a percentile of the times that successful attempts and commands took in stored runs, with
 * some room above it.
 *
 * An attempt that a limit has cut would have taken longer than it did. It is no sample and is counted as censored,
 * and where more than one in a hundred is, the value is a lower bound: a limit that follows it would cut more.
 */

import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import { COMMAND_TYPES } from '../../machines/mapreduce/words.ts';
import type { StoredActor } from '../runs.ts';
import { nearestRank } from './percentile.ts';
import type { StoredRun, StoredRuns } from './stored-runs.ts';

export interface RecommendationRules {
  readonly percentile: number;
  readonly factor: number;
  readonly samplesMin: number;
}

export const USUAL_RULES: RecommendationRules = { percentile: 99, factor: 1.5, samplesMin: 20 };

export interface Recommendation {
  /** `agent`, a type of command, or a type with its place in the template: `shell_1`. */
  readonly key: string;
  readonly samples: number;
  readonly censored: number;
  /** The percentile of the samples; null without any. */
  readonly percentileMs: number | null;
  /** In whole seconds; null where there are too few samples. */
  readonly recommendedSecs: number | null;
  readonly mark: 'lower_bound' | 'insufficient' | null;
}

const CENSORED_MAX_PERCENT = 1;

interface Samples {
  readonly tookMs: number[];
  censored: number;
}

/** Of all attempts of these runs: for the agent, each type and each place in the template. */
export function recommendationsOf(
  stored: StoredRuns,
  runs: readonly StoredRun[],
  rules: RecommendationRules = USUAL_RULES,
): readonly Recommendation[] {
  const samples = new Map<string, Samples>([['agent', { tookMs: [], censored: 0 }]]);
  for (const { context } of runs)
    for (const agent of stored.agents(context.runId))
      if (agent.context.role === 'map') take(agent, samples);
  return [...samples]
    .sort(([one], [other]) => orderOf(one) - orderOf(other))
    .map(([key, each]) => recommended(key, each, rules));
}

/** Runs of a workflow by its name; without one all runs. */
export function runsOf(stored: StoredRuns, workflow: string | undefined): readonly StoredRun[] {
  return stored
    .runs()
    .filter(({ context }) => workflow === undefined || context.rules.workflow === workflow);
}

function take({ state, context }: StoredActor<MapAgentContext>, samples: Map<string, Samples>) {
  const { startedAt, commands, timeout, shadowTimeouts } = context;
  if (startedAt === null) return;
  const of = (key: string): Samples => {
    const found = samples.get(key) ?? { tookMs: [], censored: 0 };
    samples.set(key, found);
    return found;
  };
  const last = commands.at(-1);
  if (state === 'done' && last !== undefined)
    of('agent').tookMs.push(last.startedAt + (last.durationMs ?? 0) - startedAt);
  if (timeout !== null || shadowTimeouts.some(({ kind }) => kind === 'agent'))
    of('agent').censored += 1;
  for (const { index, type, exitCode, durationMs } of commands) {
    const isCut =
      (timeout !== null && index === last?.index) ||
      shadowTimeouts.some(({ kind, commandIndex }) => kind === 'command' && commandIndex === index);
    for (const key of [type, `${type}_${index}`]) {
      if (isCut) of(key).censored += 1;
      if (exitCode === 0 && durationMs !== null && !(timeout !== null && index === last?.index))
        of(key).tookMs.push(durationMs);
    }
  }
}

function recommended(
  key: string,
  { tookMs, censored }: Samples,
  { percentile, factor, samplesMin }: RecommendationRules,
): Recommendation {
  const samples = tookMs.length;
  const percentileMs = samples === 0 ? null : nearestRank(tookMs, percentile);
  const isEnough = percentileMs !== null && samples >= samplesMin;
  const isCut = (censored / (samples + censored)) * 100 > CENSORED_MAX_PERCENT;
  return {
    key,
    samples,
    censored,
    percentileMs,
    recommendedSecs: isEnough ? Math.max(1, Math.ceil((percentileMs * factor) / 1_000)) : null,
    mark: isEnough ? (isCut ? 'lower_bound' : null) : 'insufficient',
  };
}

/** The agent, then the types, then places in the order of the template. */
function orderOf(key: string): number {
  if (key === 'agent') return -10;
  const [type = '', index] = key.split('_');
  return index === undefined ? COMMAND_TYPES.indexOf(type as 'claude') - 9 : Number(index);
}
