/**
 * All reductions, in the order in which they are tried: what makes further tries cheap comes first.
 */

import type { Reduction } from './reduction.ts';
import {
  defaultConfig,
  fewerDatacenters,
  fewerNodes,
  orderlyTies,
  usualBounds,
} from './reductions-cluster.ts';
import {
  fewerNemeses,
  fewerTargets,
  noHealing,
  promptDisks,
  quieterNetwork,
  shorterNemeses,
} from './reductions-faults.ts';
import { rounderMoments, rounderTimes, shorterRun } from './reductions-times.ts';
import { fewerJobs, fewerSteps, fewerWorkflows, plainerJobs } from './reductions-work.ts';

export const REDUCTIONS: readonly Reduction[] = [
  shorterRun,
  fewerNemeses,
  promptDisks,
  fewerJobs,
  fewerSteps,
  quieterNetwork,
  fewerDatacenters,
  fewerNodes,
  fewerWorkflows,
  defaultConfig,
  usualBounds,
  fewerTargets,
  noHealing,
  orderlyTies,
  plainerJobs,
  rounderTimes,
  shorterNemeses,
  rounderMoments,
];
