/** Extensions: what workers are granted and answered. */

import { describe } from 'vitest';
import { healthRules, resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import { Table } from '../../../runtime/machine.ts';
import {
  answersTheSame,
  answersWhatIsTrue,
  boundsAllGrants,
  grantsToTheLiving,
  halvesEachGrant,
  needsMoreProgress,
} from '../../../simulator/jobs/invariants/extensions.ts';
import { beats, denies, grants, health, OPERATION, SUSPECT, TRUSTED } from './health-tale.ts';
import { ACQUIRED, moment } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const RULES = healthRules(resolveConfiguration());
const asked = (n: number) => ({ requestId: `r${n}`, progress: n / 10 });
/** This many grants, one a second. */
const granted = (count: number) => {
  const tale = health();
  for (let n = 1; n <= count; n += 1) grants(tale, n * 1_000, asked(n));
  return tale;
};
/** The record has forgotten that anything was granted. */
const forgotten = { operations: Table.of({ [OPERATION]: { heartbeatSeq: 1 } }) };
const suspect = (tale = granted(2)) =>
  tale.turn(80_000, { type: 'xstate.after.deadlineLimit' }, {}, { state: SUSPECT });

describe('how much', () => {
  testVerdicts(halvesEachGrant, {
    good: {
      'five times': () => granted(5),
      'again after it was suspect and is heard again': () =>
        grants(beats(suspect(), 90_000, ['w1#1'], forgotten), 91_000, asked(3)),
      'on after a takeover of one that was suspect': () =>
        grants(
          suspect().turn(90_000, ACQUIRED, { deadline: moment(120_000) }, { state: TRUSTED }),
          91_000,
          asked(3),
        ),
      'after turns that nobody saw': () =>
        grants(
          granted(1).turn(
            1_500,
            { type: 'told' },
            { operations: Table.of({ [OPERATION]: { grants: 3 } }) },
            { isUnseen: true },
          ),
          2_000,
          asked(2),
        ),
    },
    bad: {
      'a half too early': () => grants(health(), 1_000, {}, { ms: 15_000 }),
      'half of what is configured, as its record has it': () =>
        grants(health({ rules: { ...RULES, baseDeadlineMs: 15_000 } }), 1_000, {}, { ms: 15_000 }),
      'again because the record has lost the attempt for a moment': () =>
        grants(
          granted(1)
            .turn(1_400, { type: 'told' }, { operations: Table.of() })
            .turn(1_500, { type: 'told' }, forgotten),
          2_000,
          asked(2),
        ),
      'never halved': () => grants(granted(1), 2_000, asked(2), { ms: 30_000 }),
      'less than the least': () => grants(granted(4), 9_000, asked(6), { ms: 900 }),
      'a heartbeat begins it again': () =>
        grants(beats(granted(1), 1_500, ['w1#1'], forgotten), 2_000, asked(2)),
    },
  });
  testVerdicts(boundsAllGrants, {
    good: { 'five times': () => granted(5) },
    bad: {
      'six times': () => granted(6),
      'too much at once': () => grants(health(), 1_000, {}, { ms: 60_000 }),
    },
  });
});

describe('for what', () => {
  const items = (n: number, completedItems: number) => ({ ...asked(n), completedItems });
  testVerdicts(needsMoreProgress, {
    good: {
      'ever more': () => granted(5),
      'more items and less of all': () =>
        grants(grants(health(), 1_000, items(5, 10)), 2_000, items(4, 11)),
      'items that were not known the last time': () =>
        grants(grants(grants(health(), 1_000, items(1, 9)), 2_000, asked(2)), 3_000, items(3, 9)),
    },
    bad: {
      'no more than before': () => grants(granted(1), 2_000, { requestId: 'r2', progress: 0.1 }),
      'as many items': () => grants(grants(health(), 1_000, items(1, 10)), 2_000, items(5, 10)),
      'items weighed against those of long ago': () =>
        grants(grants(grants(health(), 1_000, items(1, 9)), 2_000, asked(5)), 3_000, items(3, 10)),
      'no number': () => grants(health(), 1_000, { progress: null }),
      'more than all': () => grants(health(), 1_000, { progress: 1.5 }),
      'progress compared with what was forgotten': () =>
        grants(beats(granted(2), 2_500, ['w1#1'], forgotten), 3_000, asked(1)),
    },
  });
  testVerdicts(grantsToTheLiving, {
    good: {
      'up to its deadline, and not while it is suspect': () =>
        denies(suspect(grants(health(), 30_000)), 81_000, { requestId: 'r2' }),
    },
    bad: {
      'after its deadline': () => grants(health(), 30_001),
      'it is suspect': () => grants(suspect(), 60_000, asked(3)),
      'it does not have the attempt': () =>
        grants(health({ operations: Table.of({ 'j2/w1#1': { heartbeatSeq: 1 } }) }), 1_000),
    },
  });
});

describe('what it is answered', () => {
  testVerdicts(answersWhatIsTrue, {
    good: { 'a grant and a denial': () => denies(granted(1), 2_000, { requestId: 'r2' }) },
    bad: {
      'the deadline stays': () =>
        grants(health(), 1_000, {}, { context: { deadline: moment(30_000) } }),
      'another deadline is told': () =>
        grants(health(), 1_000, {}, { answer: { deadlineInMs: 1 } }),
      'one too many is left': () =>
        grants(health(), 1_000, {}, { answer: { remainingExtensions: 5 } }),
      'a denial moves the deadline': () =>
        denies(granted(1), 2_000, { requestId: 'r2' }, { context: { deadline: moment(99_000) } }),
      'a heartbeat has not put it off, in the record neither': () =>
        grants(beats(health(), 20_000, ['w1#1'], { deadline: moment(30_000) }), 25_000),
      'another number of extensions than is configured': () =>
        grants(
          health({ rules: { ...RULES, maxExtensions: 9 } }),
          1_000,
          {},
          { answer: { remainingExtensions: 8 } },
        ),
      'a denial counts': () =>
        denies(granted(1), 2_000, { requestId: 'r2' }, { context: { grantCount: 2 } }),
      'a denial tells another deadline': () =>
        denies(granted(1), 2_000, { requestId: 'r2' }, { answer: { deadlineInMs: 1 } }),
    },
  });

  const again = { type: 'extension.requested', requestId: 'r1', operationId: OPERATION };
  const told = (extensionMs: number) => ({
    ...{ type: 'work', change: 'answered', jobId: 'j1', workflowId: 'w1', run: 1 },
    about: {
      ...{ requestId: 'r1', granted: true, extensionMs, denialReason: null },
      ...{ deadlineInMs: 59_000, remainingExtensions: 4 },
    },
  });
  testVerdicts(answersTheSame, {
    good: {
      'it comes again': () =>
        granted(1)
          .turn(2_000, again)
          .add(told(30_000) as never),
      'it comes again when its registration is gone': () =>
        denies(
          granted(1).turn(
            2_000,
            { type: 'registration.told' },
            { registration: 2, operations: Table.of(), pending: [], creditedJobs: [] },
          ),
          3_000,
          {},
        ),
    },
    bad: {
      'it is granted again': () => grants(granted(1), 2_000),
      'it is denied the second time': () => denies(granted(1), 2_000, {}),
      'it counts twice': () => granted(1).turn(2_000, again, { grantCount: 2 }),
      'the worker is told something else': () => granted(1).add(told(15_000) as never),
      'two answers to one question': () =>
        health().add(told(30_000) as never, told(15_000) as never),
    },
  });
});
