/** Presumed ends, and what a gate learns again after it has lost its disk. */

import { agreesInTheEnd } from '../../../simulator/jobs/invariants/gate-convergence.ts';
import { presumesOnlyTheUnreachable } from '../../../simulator/jobs/invariants/unconfirmed.ts';
import { actor, fault } from './builders.ts';
import { decided, G1, gate, known } from './gate-tale.ts';
import { accepted, ended, GATE_JOB, moment, TIMER } from './tale.ts';
import { type Told, testVerdicts } from './verdicts.ts';

const outcome = (unconfirmed: readonly string[]) => ({
  outcome: {
    status: 'timedOut' as const,
    reason: 'overall' as const,
    at: moment(660_002),
    unconfirmed,
    results: [],
  },
});
const final = { status: 'timedOut', reason: 'global', gateReason: 'overall', localReason: null };

/** A decision at 600 s, and the outcome a minute later. */
const decides = () => gate().turn(600_001, TIMER, decided([1, 1]), { ...G1, state: 'declaring' });
const presumes = () => decides().turn(660_002, TIMER, outcome(['A']), { ...G1, state: 'settled' });

testVerdicts(presumesOnlyTheUnreachable, {
  good: {
    'nothing is presumed': () =>
      decides()
        .turn(600_100, { type: 'final.reported' }, known({ run: 'final', final }), G1)
        .turn(660_002, TIMER, outcome([]), { ...G1, state: 'settled' }),
    'the datacenter has lost its disk': () =>
      gate()
        .at(10_000, '', fault('diskLost', { place: 'A' }))
        .turn(600_001, TIMER, decided([1, 1]), { ...G1, state: 'declaring' })
        .turn(660_002, TIMER, outcome(['A']), { ...G1, state: 'settled' }),
  },
  bad: {
    'the datacenter was in reach all the time': presumes,
    'the faults were over long before': {
      told: presumes,
      facts: { isFaultFree: false, healedAtMs: 100_000 },
    },
  },
});

const job = () => accepted({ gateId: 'gate-1', timeoutMs: 600_000 });
const ends = (atMs: number): Told => job().turn(atMs, TIMER, ended(moment(atMs), 'completed'));

/** A gate that has lost its disk at 80 s, and is given the job back by another datacenter. */
const rebuilt = (more: object = {}) =>
  gate()
    .at(80_000, '', fault('diskLost', { place: 'gate-1' }))
    .at(81_000, 'gate-1', actor(GATE_JOB, 'born'))
    .turn(81_000, { type: 'escapement.spawn' }, known({ run: 'running', ...more }), G1)
    .turn(82_000, { type: 'status.found', datacenter: 'A' }, known({ run: 'running', ...more }), G1)
    .turn(500_000, TIMER, {}, G1);
const both = (...tales: readonly Told[]): Told => {
  const records = tales
    .flatMap((tale) => tale.records)
    .toSorted((one, other) => one.atMs - other.atMs)
    .map((record, index) => ({ ...record, index }));
  return { records, endsAtMs: Math.max(...tales.map(({ endsAtMs }) => endsAtMs)) };
};
const completed = { status: 'completed', reason: null, gateReason: null, localReason: null };

testVerdicts(agreesInTheEnd, {
  good: {
    'a gate without its data learns by asking': () =>
      both(ends(60_000), rebuilt({ run: 'final', final: completed })),
  },
  bad: {
    'a gate without its data never learns it': () => both(ends(60_000), rebuilt()),
  },
});
