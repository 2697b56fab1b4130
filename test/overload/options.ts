/** Options of the overload rig: how much load, for how long, and what can be done of it. */

export interface OverloadOptions {
  /** Jobs per second of the base load, and while it is too much, in all. */
  readonly basePerSecond: number;
  readonly overloadPerSecond: number;
  readonly baseSeconds: number;
  readonly overloadSeconds: number;
  /** Base load afterwards; goodput is looked at in its last quarter. */
  readonly afterSeconds: number;
  /** The worker does `cores` jobs at a time, each of which takes `workMs`. */
  readonly cores: number;
  readonly workMs: number;
  /** What is done later is of no use. */
  readonly patienceMs: number;
  /** Time budget of each job. */
  readonly timeoutMs: number;
  /** More settings of the manager, such as `jobs.backlogWorkflowsMax=50`. */
  readonly settings?: readonly string[];
  readonly progress?: (line: string) => void;
}

export const OVERLOAD_DEFAULTS: OverloadOptions = {
  basePerSecond: 25,
  overloadPerSecond: 250,
  baseSeconds: 20,
  overloadSeconds: 60,
  afterSeconds: 75,
  cores: 7,
  workMs: 200,
  patienceMs: 5_000,
  timeoutMs: 30_000,
};
