/**
 * Configurations drawn by chance: half of all runs have the defaults, the others some options that
 * differ, up to the legal extremes.
 *
 * Only configurations that a program would accept are drawn. Rhythms are kept slow enough that an
 * hour of them is no million heartbeats.
 */

import { JOBS_OPTIONS } from '../../../programs/jobs/configuration/options.ts';
import {
  type JobsConfiguration,
  resolveConfiguration,
} from '../../../programs/jobs/configuration.ts';
import type { Chance } from '../../world.ts';

type OptionName = keyof JobsConfiguration;

const DEFAULTS_PROBABILITY = 0.5;
const CHANGED_PROBABILITY = 0.2;
const EXTREME_PROBABILITY = 0.1;
/** How far from its default an option usually goes. */
const FACTOR = 6;
const TRIES = 20;
/** What happens again and again; faster than this costs much and shows nothing new. */
const SLOWEST_USEFUL_MS: Partial<Record<OptionName, readonly [min: number, max: number]>> = {
  heartbeatIntervalMs: [1_000, 60_000],
  reportIntervalMs: [1_000, 60_000],
  checkIntervalMs: [1_000, 3_600_000],
  gateCheckIntervalMs: [1_000, 3_600_000],
  leaseRenewMs: [500, 20_000],
  leaseMs: [1_500, 120_000],
  jobRetentionMs: [3_600_000, 30 * 86_400_000],
};

/** Options that differ from their defaults. */
export function drawKnobs(chance: Chance): Partial<JobsConfiguration> {
  if (chance.is(DEFAULTS_PROBABILITY)) return {};
  for (let tries = 0; tries < TRIES; tries++) {
    const drawn = drawOnce(chance);
    if (isLegal(drawn)) return drawn;
  }
  return {};
}

function drawOnce(chance: Chance): Partial<JobsConfiguration> {
  const drawn: Record<string, unknown> = {};
  for (const name of Object.keys(JOBS_OPTIONS) as OptionName[]) {
    // Drawn for each, changed or not: one more option then moves no other.
    const isChanged = chance.is(CHANGED_PROBABILITY);
    const value = drawValue(name, chance);
    if (isChanged) drawn[name] = value;
  }
  return drawn as Partial<JobsConfiguration>;
}

function drawValue(name: OptionName, chance: Chance): unknown {
  const option = JOBS_OPTIONS[name];
  switch (option.kind) {
    case 'flag':
      return chance.is(0.5);
    case 'choice':
      return chance.pick<string>(option.choices);
    default: {
      const [min, max] = SLOWEST_USEFUL_MS[name] ?? [option.min, option.max];
      if (option.default === null)
        return chance.is(0.3) ? min : whole(chance.scaled(1_000, 600_000));
      if (chance.is(EXTREME_PROBABILITY)) return chance.is(0.5) ? min : max;
      if (option.default === 0) return chance.whole(min, Math.min(max, 5));
      const around = option.default * chance.scaled(1 / FACTOR, FACTOR);
      return whole(Math.min(max, Math.max(min, around)));
    }
  }
}

function whole(value: number): number {
  return Math.round(value);
}

function isLegal(config: Partial<JobsConfiguration>): boolean {
  try {
    resolveConfiguration(config);
    return true;
  } catch {
    return false;
  }
}
