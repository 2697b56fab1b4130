/** The simulator suite: how fast it is, and what it finds. */

import { simulatorStates } from './simulator-exhaustive.ts';
import { simulatorEvents, simulatorSpeedup } from './simulator-rate.ts';
import {
  simulatorFalseAlarms,
  simulatorMismatches,
  simulatorViolations,
} from './simulator-seeds.ts';
import type { Suite } from './suite.ts';

export const simulator: Suite = {
  name: 'simulator',
  about: 'speed of simulated clusters, violations, false alarms, and runs that do not repeat',
  fields: [
    simulatorEvents,
    simulatorSpeedup,
    simulatorViolations,
    simulatorFalseAlarms,
    simulatorMismatches,
    simulatorStates,
  ],
};
