/** Parts that a seed of the pretend world plays with: tests plant bugs in them. */

import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { commandLineOf } from '../../../programs/mapreduce/environment.ts';
import { limitsOf } from '../../../programs/mapreduce/workflow.ts';

export type Machines = {
  readonly mapreduce: typeof runMachine;
  readonly 'map-agent': typeof mapAgentMachine;
};

export const MACHINES: Machines = { mapreduce: runMachine, 'map-agent': mapAgentMachine };

/** What a seed plays with; tests plant bugs here. */
export interface Parts {
  readonly machines: Machines;
  readonly limits: typeof limitsOf;
  readonly commandLine: typeof commandLineOf;
  /** True: who is told of events may throw, and hinders what comes after. */
  readonly sinkHinders: boolean;
}

export const PARTS: Parts = {
  machines: MACHINES,
  limits: limitsOf,
  commandLine: commandLineOf,
  sinkHinders: false,
};
