/**
 * Limits of a scenario file: what is above is refused before anything runs.
 *
 * They keep a file that was written by a stranger, or by a mistake, from using up a machine. They
 * are wide enough for anything that people write by hand.
 */

export interface ScenarioLimits {
  /** Length of the whole text, in characters. */
  readonly charactersMax: number;
  /** Lists and maps in lists and maps. */
  readonly depthMax: number;
  /** Values in a file, with what its aliases repeat. */
  readonly valuesMax: number;
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
  charactersMax: 1_048_576,
  depthMax: 32,
  valuesMax: 200_000,
  datacentersMax: 32,
  nodesMax: 200,
  stepsMax: 10_000,
  workflowsMax: 10_000,
  untilMaxMs: 90 * DAY_MS,
  untilDefaultMs: DAY_MS,
};
