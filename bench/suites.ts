/** All suites, by name. */

import { agents } from './agents.ts';
import { cluster } from './cluster.ts';
import { engine } from './engine.ts';
import { imports } from './imports.ts';
import { inspector } from './inspector.ts';
import { jobs } from './jobs.ts';
import { mapreduce } from './mapreduce.ts';
import { modelTests } from './model-tests.ts';
import { peers } from './peers.ts';
import { simulator } from './simulator.ts';
import type { Suite } from './suite.ts';

export const SUITES: readonly Suite[] = [
  engine,
  jobs,
  cluster,
  peers,
  simulator,
  imports,
  mapreduce,
  agents,
  inspector,
  modelTests,
];
