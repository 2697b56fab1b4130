/** Dead letters of runs with faults and without. */

import { describe } from 'vitest';
import { leavesNoDeadLetters } from '../../../simulator/jobs/invariants/dead-letters.ts';
import { history, turn, undelivered } from './builders.ts';
import { testVerdicts } from './verdicts.ts';

const JOB = 'job/j1@A';

describe('dead letters', () => {
  const isFaultFree = true;
  const clean = () => history().add('A.manager-1', turn(JOB));
  const left = () => clean().add('A.manager-1', undelivered(JOB));
  testVerdicts(leavesNoDeadLetters, {
    good: { 'there are none': { facts: { isFaultFree }, told: clean } },
    bad: { 'there is one': { facts: { isFaultFree }, told: left } },
  });
});
