/** Outcome of a job of a gate, and that it stays so; agreement of gate and datacenters in the end. */

import { describe } from 'vitest';
import type { GateJobContext, GateOutcome } from '../../../machines/jobs/gate-job/context.ts';
import {
  agreesInTheEnd,
  decisionsArrive,
  reportsArrive,
} from '../../../simulator/jobs/invariants/gate-convergence.ts';
import { followsFromEnds, staysAsItWasRead } from '../../../simulator/jobs/invariants/outcomes.ts';
import { decided, G1, gate, known, said } from './gate-tale.ts';
import { accepted, ended, moment, TIMER } from './tale.ts';
import { type Told, testVerdicts } from './verdicts.ts';

const SETTLED = { ...G1, state: 'settled' };
const final = (status: string, reason: string | null = null, gateReason: string | null = null) => ({
  run: 'final',
  final: { status, reason, gateReason, localReason: null },
});
const outcome = (
  status: string,
  reason: string | null = null,
  more: Partial<GateOutcome> = {},
): { readonly outcome: GateOutcome } => ({
  outcome: { status, reason, at: moment(1), unconfirmed: [], results: [], ...more } as GateOutcome,
});

type Ends = Readonly<Record<string, { readonly run?: string; readonly final?: object }>>;

/** Datacenters that run the job or came too late; the decision, if there is one, and the ends that they tell. */
const told = (ends: Ends, decision?: Partial<GateJobContext>) => {
  const names = Object.keys(ends);
  const runs = ({ datacenters }: GateJobContext) => ({
    datacenters: Object.fromEntries(
      names.map((name) => {
        const run = ends[name]?.run === 'late' ? 'late' : 'running';
        return [name, { ...datacenters['A'], run } as never];
      }),
    ),
  });
  const tale = gate().turn(60, { type: 'told' }, runs, { ...G1, isUnseen: true });
  tale.turn(70, { type: 'told' }, {}, G1);
  if (decision !== undefined) tale.turn(600_001, TIMER, decision, { ...G1, state: 'declaring' });
  for (const [datacenter, end] of Object.entries(ends))
    if (end.final !== undefined)
      tale.turn(
        decision === undefined ? 500 : 600_500,
        said('final.reported', { datacenter, ...end.final }),
        (context) => ({
          datacenters: {
            ...context.datacenters,
            [datacenter]: { ...context.datacenters[datacenter], ...end } as never,
          },
        }),
        G1,
      );
  return tale;
};

/** Datacenters ended like this, and then the outcome is published. */
const published = (
  ends: Ends,
  more: { readonly outcome: GateOutcome },
  atMs = 1_000,
  decision?: Partial<GateJobContext>,
) => told(ends, decision).turn(atMs, { type: 'told' }, more, SETTLED);

describe('what an outcome follows from', () => {
  const done = final('completed');
  const out = final('timedOut', 'global', 'overall');
  const alone = final('timedOut', 'fallback');
  const failed = final('failed', 'workflowFailed');
  const gone = final('cancelled');
  const isDecided = decided([1, 1], 'overall', 600_001);
  testVerdicts(followsFromEnds, {
    good: {
      'all completed': () => published({ A: done, B: done }, outcome('completed')),
      'one timed out': () => published({ A: done, B: out }, outcome('timedOut', 'overall')),
      'in the other order': () => published({ B: out, A: done }, outcome('timedOut', 'overall')),
      'of two reasons the first': () =>
        published({ A: alone, B: out }, outcome('timedOut', 'overall')),
      'a failure and a cancel': () =>
        published({ A: gone, B: failed }, outcome('failed', 'workflowFailed')),
      'nobody took it': () => published({ A: { run: 'late' } }, outcome('failed', 'noDatacenter')),
      'one is presumed': () =>
        published(
          { A: alone, B: {} },
          outcome('timedOut', 'overall', { unconfirmed: ['B'] }),
          660_002,
          isDecided,
        ),
    },
    bad: {
      'not all completed': () => published({ A: done, B: out }, outcome('completed')),
      'by the order of arrival': () =>
        published({ A: alone, B: out }, outcome('timedOut', 'fallback')),
      'a failure passes for a cancel': () =>
        published({ A: gone, B: failed }, outcome('cancelled')),
      'by an end that the record has otherwise': () =>
        told({ A: done, B: alone }).turn(
          1_000,
          { type: 'told' },
          ({ datacenters }) => ({
            ...outcome('timedOut', 'overall'),
            datacenters: { ...datacenters, B: { ...datacenters['B'], ...out } as never },
          }),
          SETTLED,
        ),
      'without a datacenter that the record counts as too late': () =>
        told({ A: done, B: failed }).turn(
          1_000,
          { type: 'told' },
          ({ datacenters }) => ({
            ...outcome('completed'),
            datacenters: { ...datacenters, B: { ...datacenters['B'], run: 'late' } as never },
          }),
          SETTLED,
        ),
      'presumed too early': () =>
        published(
          { A: alone, B: {} },
          outcome('timedOut', 'overall', { unconfirmed: ['B'] }),
          660_001,
          isDecided,
        ),
      'presumed without a word': () =>
        published({ A: alone, B: {} }, outcome('timedOut', 'overall'), 660_002, isDecided),
      'what is presumed does not count': () =>
        published(
          { A: done, B: {} },
          outcome('completed', null, { unconfirmed: ['B'] }),
          660_002,
          isDecided,
        ),
    },
  });
});

describe('what is read', () => {
  const call = (to = 'gate-1') =>
    ({ type: 'call', call: `call-${to}`, to, request: 'get', jobId: 'j1', body: null }) as const;
  const answer = (about: object, to = 'gate-1') =>
    ({ type: 'answer', call: `call-${to}`, outcome: 'ok', about }) as const;
  const over = () => published({ A: final('completed') }, outcome('completed'));
  const presumed = () =>
    published({ A: {} }, outcome('timedOut', 'overall', { unconfirmed: ['A'] }), 660_002);
  const lateEvents = [{ at: moment(700_000), what: 'final of A' }];
  const comesLate = (more: object) =>
    presumed().turn(
      700_000,
      { type: 'final.reported', datacenter: 'A' },
      (context) => ({ ...known(final('completed'))(context), ...more }),
      SETTLED,
    );
  testVerdicts(staysAsItWasRead, {
    good: {
      'what was published': () => over().add(call(), answer({ status: 'completed', reason: null })),
      'the datacenter has another end': () =>
        over()
          .add(call('A'), answer({ status: 'failed', reason: 'workflowFailed' }, 'A'))
          .add(call(), answer({ status: 'completed', reason: null })),
      'an end comes too late': () => comesLate({ lateEvents }),
    },
    bad: {
      'another end is read': () =>
        over().add(call(), answer({ status: 'timedOut', reason: 'overall' })),
      'another reason is read': () =>
        accepted()
          .turn(60_001, TIMER, ended(moment(60_001), 'timedOut', 'overall'))
          .add(call('A'), answer({ status: 'timedOut', reason: 'stuck' }, 'A')),
      'two readers disagree': () =>
        gate()
          .add(call(), answer({ status: 'completed', reason: null }))
          .add(call(), answer({ status: 'failed', reason: 'workflowFailed' })),
      'a late end is not noted': () => comesLate({}),
      'a late end changes it': () => comesLate({ lateEvents, ...outcome('completed') }),
    },
  });
});

/** Two tales of one run, in the order of their times. */
function both(one: Told, other: Told, endsAtMs = 900_000): Told {
  const records = [...one.records, ...other.records]
    .sort((a, b) => a.atMs - b.atMs)
    .map((record, index) => ({ ...record, index }));
  return { records, endsAtMs };
}

const GATED = { gateId: 'gate-1', timeoutMs: 600_000 } as const;
const job = () => accepted(GATED);
const obeyed = (atMs: number) =>
  job().turn(
    atMs,
    { type: 'timeout.declared' },
    ended(moment(atMs), 'timedOut', 'global', { gateReason: 'overall' }),
  );
const declares = (atMs = 600_001) =>
  gate().turn(
    atMs,
    TIMER,
    (context) => ({
      ...known({ decision: 'sent', told: { epoch: [1, 1], leaderFence: 2 } })(context),
      ...decided([1, 1], 'overall', atMs),
    }),
    { ...G1, state: 'declaring' },
  );

describe('once all is well', () => {
  testVerdicts(decisionsArrive, {
    good: {
      'the job ends': () => both(declares(), obeyed(600_100)),
    },
    bad: {
      'the job goes on': () => both(declares(), job()),
      'the job ends much later': () => both(declares(), obeyed(700_000)),
    },
  });

  const reports = (atMs: number) =>
    job().turn(atMs, TIMER, { timeoutReportedAt: moment(atMs), localReason: 'stuck' });
  const hears = (atMs: number) =>
    gate().turn(
      atMs,
      { type: 'timeout.reported', datacenter: 'A' },
      known({ run: 'reported', report: 'stuck' }),
      G1,
    );
  testVerdicts(reportsArrive, {
    good: { 'the gate hears of it': () => both(hears(120_100), reports(120_001)) },
    bad: {
      'the gate never hears of it': () => both(gate(), reports(120_001)),
      'the gate hears of it much later': () => both(hears(700_000), reports(120_001)),
    },
  });

  const knows = (atMs: number, end: object) =>
    gate().turn(atMs, { type: 'final.reported', datacenter: 'A' }, known(end), G1);
  const same = final('timedOut', 'global', 'overall');
  testVerdicts(agreesInTheEnd, {
    good: {
      'the gate has the same end': () => both(knows(600_200, same), obeyed(600_100)),
      'nobody was told of a job that was not finished': () =>
        both(
          both(knows(600_200, same), obeyed(600_100)),
          accepted({ ...GATED, jobId: 'j2' }).turn(60_000, TIMER, {
            ...ended(moment(60_000), 'cancelled'),
            isAbandoned: true,
          }),
        ),
    },
    bad: {
      'the gate has another end': () => both(knows(600_200, final('completed')), obeyed(600_100)),
      'the gate has another reason': () =>
        both(knows(600_200, final('timedOut', 'fallback')), obeyed(600_100)),
      'the gate does not know': () => both(gate(), obeyed(600_100)),
      'the gate knows much later': () => both(knows(700_000, same), obeyed(600_100)),
    },
  });
});
