/** Decisions that a gate must not take before it has taken what was said before it was there again. */

import { describe } from 'vitest';
import { encodeEnvelope, encodeFrame } from '../../../runtime/delivery/frame.ts';
import {
  countsOnlyWhoRuns,
  decidesNothingEnded,
  decidesWhenCaughtUp,
} from '../../../simulator/jobs/invariants/catching-up.ts';
import { sent } from './builders.ts';
import { decided, G1, gate, restarted, said } from './gate-tale.ts';
import { ACQUIRED, GATE_JOB, JOB, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const M1 = 'A.manager-1';
const DECLARING = { ...G1, state: '{"declaring":"overall"}' };
const from = (counter: number) => ({ ...G1, from: JOB, counter });

const report = said('timeout.reported', { reason: 'stuck' }, { locallyTimedOut: true });
const plain = said('progress.reported');
const credit = said('progress.reported', {}, { extensionsMs: 30_000 });
const final = said('final.reported', { status: 'completed' });

type Word = ReturnType<typeof said>;
/** The job of the datacenter says it, and it is kept until it arrives. */
const says = (tale: ReturnType<typeof gate>, atMs: number, counter: number, event: Word) =>
  tale.at(atMs, M1, sent(JOB, counter, GATE_JOB, event));

/** A copy of it leaves. */
const leaves = (tale: ReturnType<typeof gate>, atMs: number, counter: number, event: Word) => {
  const row = { to: GATE_JOB, counter, text: JSON.stringify(event) };
  const frame = encodeFrame([encodeEnvelope(JOB, row, counter - 1)], []);
  return tale.at(atMs, M1, { type: 'frame', to: 'gate-1', change: 'sent', frame });
};

describe('a gate that was restarted', () => {
  const back = () => {
    const tale = says(gate(60_000).turn(1_000, plain, {}, from(1)), 40_000, 2, plain);
    return says(tale, 50_000, 3, credit).turn(70_000, { ...ACQUIRED, fence: 2 }, restarted(2), G1);
  };
  const heard = () => back().turn(71_000, plain, {}, from(2));
  const silentThen = () => {
    const tale = says(gate(100_000).turn(1_000, plain, {}, from(1)), 40_000, 2, plain);
    return says(tale, 90_000, 3, final).turn(101_000, plain, {}, from(2));
  };
  testVerdicts(decidesWhenCaughtUp, {
    good: {
      'takes the credit that stands next': () => heard().turn(71_100, credit, {}, from(3)),
      'a later report has overtaken the credit, which was withdrawn': () =>
        heard()
          .turn(71_040, said('progress.reported'), {}, { ...G1, from: JOB })
          .turn(71_050, TIMER, decided([2, 1], 'overall', 71_050), DECLARING),
      'waits no longer than two reports': () =>
        heard().turn(91_001, TIMER, decided([2, 1], 'overall', 91_001), DECLARING),
      'has listened for as long when the budget ends meanwhile': () =>
        heard()
          .turn(71_100, credit, {}, from(3))
          .turn(80_000, { ...ACQUIRED, fence: 3 }, restarted(3), G1)
          .turn(100_001, TIMER, decided([3, 1], 'overall', 100_001), DECLARING),
      'takes the end of anybody who was silent': () =>
        silentThen().turn(101_010, final, {}, from(3)),
    },
    bad: {
      'declares while the credit is on its way': () =>
        heard().turn(71_050, TIMER, decided([2, 1], 'overall', 71_050), DECLARING),
      'declares in the turn of the first word': () =>
        back().turn(71_000, plain, decided([2, 1], 'overall', 71_000), {
          ...DECLARING,
          ...from(2),
        }),
      'declares before anybody is heard': () =>
        back().turn(75_000, TIMER, decided([2, 1], 'overall', 75_000), DECLARING),
      'declares while the end of anybody who was silent is on its way': () =>
        silentThen().turn(101_005, TIMER, decided([1, 1], 'overall', 101_005), DECLARING),
    },
  });
});

describe('a gate that comes late to the end of the budget', () => {
  const frozen = () => {
    const tale = gate(60_000).turn(59_000, plain, {}, from(1));
    return says(says(tale, 59_500, 2, plain), 59_900, 3, credit);
  };
  const declares = (atMs: number) => decided([1, 1], 'overall', atMs);
  testVerdicts(decidesWhenCaughtUp, {
    good: {
      'takes the credit that waits at its door': () =>
        frozen().turn(65_000, plain, {}, from(2)).turn(65_001, credit, {}, from(3)),
      'waits no longer than two reports': () =>
        frozen().turn(65_000, plain, {}, from(2)).turn(85_001, TIMER, declares(85_001), DECLARING),
    },
    bad: {
      'declares as soon as it looks': () =>
        frozen().turn(65_000, TIMER, declares(65_000), DECLARING),
      'declares while the credit is on its way': () =>
        frozen().turn(65_000, plain, {}, from(2)).turn(65_100, TIMER, declares(65_100), DECLARING),
    },
  });
});

describe('a job that has ended', () => {
  const ended = () => says(gate().turn(1_000, plain, {}, from(1)), 200_000, 2, final);
  testVerdicts(decidesNothingEnded, {
    good: {
      'its end came just before': () =>
        says(gate(), 599_990, 1, final)
          .turn(600_000, plain, {}, { ...G1, from: JOB })
          .turn(600_001, TIMER, decided([1, 1]), DECLARING),
      'a word of before is taken first, and nothing is declared': () =>
        says(ended(), 200_001, 3, plain)
          .turn(500_000, plain, {}, { ...G1, from: JOB })
          .turn(500_001, final, {}, from(2)),
    },
    bad: {
      'its datacenter was in touch since': () =>
        ended()
          .turn(500_000, said('status.corrected', { status: 'running' }), {}, { ...G1, from: JOB })
          .turn(600_001, TIMER, decided([1, 1]), DECLARING),
    },
  });
});

describe('a report of anybody who has ended the job', () => {
  const at = (event: Word, elapsedMs: number): Word => ({
    ...event,
    figures: { ...event.figures, elapsedMs },
  });
  /** One word comes at once before. */
  const begun = () => says(gate(), 100, 1, plain).turn(150, at(plain, 100), {}, from(1));
  const queued = () => {
    const tale = says(says(begun(), 150_000, 2, report), 200_000, 3, final);
    return leaves(leaves(tale, 300_000, 2, report), 300_000, 3, final);
  };
  /** It left at once, and was as long on its way as the gate was frozen. */
  const heldUp = (untilMs: number) => {
    const late = at(report, 150_000);
    const tale = leaves(says(begun(), 150_000, 2, late), 150_000, 2, late);
    return leaves(says(tale, 151_000, 3, final), 151_000, 3, final).turn(
      untilMs,
      late,
      decided([1, 1], 'datacenterTimeout', untilMs),
      { ...DECLARING, ...from(2) },
    );
  };
  const declares = { ...decided([1, 1], 'datacenterTimeout', 300_050) };
  testVerdicts(countsOnlyWhoRuns, {
    good: {
      'is taken, and decides nothing': () =>
        queued().turn(300_050, report, {}, from(2)).turn(300_051, final, {}, from(3)),
    },
    bad: {
      decides: () => queued().turn(300_050, report, declares, { ...DECLARING, ...from(2) }),
      'decides, though it was held up on its way': () => heldUp(156_000),
    },
  });
});
