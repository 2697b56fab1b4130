/**
 * Limits of a scenario file: what is above is refused before anything runs.
 *
 * They keep a file that was written by a stranger, or by a mistake, from using up a machine. They
 * are wide enough for anything that people write by hand.
 */

import { SOURCE_LIMITS, type SourceLimits } from '../../../reading/source.ts';

export interface ScenarioLimits extends SourceLimits {
  readonly datacentersMax: number;
  /** Gates, managers and workers together. */
  readonly nodesMax: number;
  readonly stepsMax: number;
  /** Workflows of all jobs together. */
  readonly workflowsMax: number;
  /** The latest simulated end: the longest timeout of a job, and half of it again. */
  readonly untilMaxMs: number;
  /** The end when the file names none, and jobs do not end before. */
  readonly untilDefaultMs: number;
}

const DAY_MS = 86_400_000;

export const SCENARIO_LIMITS: ScenarioLimits = {
  ...SOURCE_LIMITS,
  datacentersMax: 32,
  nodesMax: 200,
  stepsMax: 10_000,
  workflowsMax: 10_000,
  untilMaxMs: 90 * DAY_MS,
  untilDefaultMs: DAY_MS,
};
