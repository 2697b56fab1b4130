/** A datacenter as a gate knows it: how far it is, what it makes of the decision, and whether it is known. */

import { describe, expect, test } from 'vitest';
import { type DatacenterRecord, UNHEARD } from '../../../machines/jobs/datacenter/context.ts';
import { stepped } from '../../../machines/jobs/datacenter.ts';
import { FIGURES } from '../figures.ts';

const LIMITS = {
  missedAfterMs: 15_000,
  silentAfterMs: 30_000,
  allStuckThresholdMs: 180_000,
  dispatchDueAt: 10_000,
  isRebuilt: false,
  roomCharacters: 1_000,
};
const END = { reason: null, localReason: null, gateReason: null, sinceEndedMs: 0 };

/** One that runs the job since 0, at the moment that its events say. */
class Datacenter {
  record: DatacenterRecord = { ...UNHEARD, run: 'running', leaderFence: 1 };
  #seq = 0;

  take(event: { readonly type: string; readonly at: number }, limits = LIMITS): this {
    this.record = stepped(this.record, event as never, limits);
    return this;
  }

  says(type: string, at: number, more: object = {}, figures: object = {}): this {
    this.#seq += 1;
    return this.take({
      ...{ type, at, jobId: 'j1', datacenter: 'A', managerId: 'A.m1', leaderFence: 1 },
      ...{ reportSeq: this.#seq, figures: { ...FIGURES, elapsedMs: at, ...figures } },
      ...more,
    } as never);
  }

  answers(at: number, nonce: string | undefined, status = 'running'): this {
    const correction = { ...END, status, correction: 'requested', rejectedDecisionEpoch: null };
    return this.says('status.corrected', at, { ...correction, nonce });
  }

  get states(): string {
    const { run, decision, contact } = this.record;
    return `${run} ${decision} ${contact}`;
  }
}

const told = (at: number, counter = 1, leaderFence = 1) => ({
  type: 'decision.told',
  told: { epoch: [1, counter], leaderFence },
  at,
});
const ack = (at: number, more: object) => ({
  ...{ type: 'ack.received', ackOf: 'timeout.declared', accepted: true, decisionEpoch: [1, 1] },
  ...{ datacenter: 'A', at, ...more },
});

describe('how far it is', () => {
  const asked = (): Datacenter => {
    const datacenter = new Datacenter();
    datacenter.record = UNHEARD;
    return datacenter;
  };
  const answer = (at: number, more: object = {}) => ({
    ...{ type: 'submission.answered', datacenter: 'A', accepted: true, reason: null, at },
    ...{ leaderFence: 2, managerId: 'A.m2', ...more },
  });

  test.each([
    ['it takes the job in time', answer(10_000), 'running'],
    ['it takes it a millisecond too late', answer(10_001), 'late'],
    ['it does not want it', answer(5, { accepted: false, reason: 'invalid' }), 'refused'],
    ['nobody says anything', answer(5, { accepted: false, reason: 'unreachable' }), 'late'],
    ['it is waited for no longer', { type: 'dispatch.closed', at: 10_001 }, 'late'],
  ])('%s', (_, event, run) => {
    expect(asked().take(event).record.run).toBe(run);
  });

  test('taken before, by an answer that was lost: what it has said since may be on its way', () => {
    expect(asked().take(answer(5_000, { created: true })).states).toBe('running none heard');
    const datacenter = asked().take(answer(5_000, { created: false }));
    expect(datacenter.states).toBe('running none catchingUp');
    expect(datacenter.record).toMatchObject({ metAt: 5_000, question: null });
    datacenter.take({ type: 'datacenter.asked', nonce: 'n1', at: 5_000 } as never);
    expect(datacenter.answers(5_100, 'n1').states).toBe('running none heard');
    for (const more of [{ hasEnded: true }, { at: 10_001 }])
      expect(asked().take(answer(5_000, { created: false, ...more })).record.contact).toBe('heard');
  });

  test('a report, taken back by a newer leader, and an end that stays', () => {
    const datacenter = new Datacenter().says('timeout.reported', 50, { reason: 'stuck' });
    expect(datacenter.record).toMatchObject({ run: 'reported', report: 'stuck' });
    datacenter.says('progress.reported', 60);
    expect(datacenter.record.run).toBe('reported');
    datacenter.says('leader.transferred', 70, { leaderFence: 2 });
    expect(datacenter.record).toMatchObject({ run: 'running', report: null, leaderFence: 2 });
    datacenter.says('final.reported', 80, {
      ...END,
      status: 'failed',
      results: [],
      leaderFence: 2,
    });
    datacenter.says('progress.reported', 90, { leaderFence: 3 });
    expect(datacenter.record).toMatchObject({ run: 'final', final: { status: 'failed' } });
  });
});

describe('what it makes of the decision', () => {
  test('obeyed, whichever copy of it', () => {
    const datacenter = new Datacenter().take(told(10)).take(told(20, 2));
    expect(datacenter.states).toBe('running sent heard');
    expect(datacenter.take(ack(30, {})).states).toBe('running accepted heard');
  });

  test('refused under another fence it is contradicted, without news deferred until a word', () => {
    const refusal = { ...END, status: 'running', correction: 'staleLeaderFence' };
    const epochs = { rejectedDecisionEpoch: [1, 1], highestDecisionEpoch: [1, 0] };
    const datacenter = new Datacenter().take(told(10));
    datacenter.says('status.corrected', 20, { ...refusal, ...epochs });
    expect(datacenter.record.decision).toBe('deferred');
    datacenter.says('progress.reported', 30);
    expect(datacenter.record.decision).toBe('contradicted');
    datacenter.take(told(40, 2));
    datacenter.says('leader.transferred', 50, { leaderFence: 2 });
    expect(datacenter.record.decision).toBe('contradicted');
  });

  test.each([
    ['not its leader', ack(20, { accepted: false, reason: 'notLeader' }), 'deferred'],
    ['no such job', ack(20, { accepted: false, reason: 'unknown' }), 'gone'],
    ['of an earlier issue', ack(20, { accepted: false, decisionEpoch: [1, 0] }), 'sent'],
    ['nobody of that address', refused(20, 'ACTOR_UNKNOWN'), 'gone'],
    ['it has ended', refused(20, 'ACTOR_ENDED'), 'deferred'],
    ['its jobs service does not know it', { type: 'status.found', found: null, at: 20 }, 'gone'],
  ])('refused: %s', (_, event, decision) => {
    expect(new Datacenter().take(told(10)).take(event).record.decision).toBe(decision);
  });

  function refused(at: number, code: string) {
    const event = { type: 'timeout.declared', decisionEpoch: [1, 1] };
    return { type: 'message.refused', to: 'job/j1@A', event, code, at };
  }
});

describe('whether it is known', () => {
  const silent = () => new Datacenter().take({ type: 'silence.due', at: 30_001 });

  test('it falls silent, and is not known again by a word that comes first', () => {
    const datacenter = silent();
    expect(datacenter.states).toBe('running none silent');
    datacenter.says('timeout.reported', 60_000, { reason: 'stuck' });
    expect(datacenter.states).toBe('reported none catchingUp');
    expect(datacenter.record).toMatchObject({ metAt: 60_000, question: null });
  });

  test('the answer to the question that was asked since is one, an earlier answer is none', () => {
    const datacenter = silent().says('progress.reported', 60_000);
    datacenter.take({ type: 'datacenter.asked', nonce: '1.60000', at: 60_000 } as never);
    expect(datacenter.answers(60_050, '1.20000').states).toBe('running none catchingUp');
    expect(datacenter.answers(60_060, undefined).states).toBe('running none catchingUp');
    expect(datacenter.answers(60_100, '1.60000').states).toBe('running none heard');
    expect(datacenter.record).toMatchObject({ metAt: null, question: null });
  });

  test('an end needs no answer', () => {
    const final = { ...END, status: 'completed', results: [], ageMs: 50_000 };
    expect(silent().says('final.reported', 60_000, final).states).toBe('final none heard');
  });

  test('a correction that waited is history, one that did not says how things are', () => {
    const correction = { ...END, status: 'running', correction: 'staleDecision' };
    const datacenter = silent().says('progress.reported', 60_000);
    datacenter.says('status.corrected', 60_000, { ...correction, ageMs: 20_000 });
    expect(datacenter.record.contact).toBe('catchingUp');
    datacenter.says('status.corrected', 60_010, correction);
    expect(datacenter.record.contact).toBe('heard');
  });

  test('a word that waited is history though nobody was silent', () => {
    const datacenter = new Datacenter().says('progress.reported', 10_000);
    datacenter.says('timeout.reported', 20_000, { reason: 'stuck', ageMs: 4_000 });
    expect(datacenter.states).toBe('reported none catchingUp');
  });

  test('a word is history when one before it is missing, and is none in its time', () => {
    const report = (at: number) =>
      new Datacenter()
        .says('progress.reported', 10_000)
        .says('timeout.reported', at, { reason: 'stuck' }).states;
    expect(report(25_000)).toBe('reported none heard');
    expect(report(25_001)).toBe('reported none catchingUp');
  });

  test('a word against the job is history when it was longer on its way than the fastest', () => {
    const report = (lateMs: number, figures: object = {}) =>
      new Datacenter()
        .says('progress.reported', 10_050, {}, { elapsedMs: 10_000 })
        .says('timeout.reported', 20_050 + lateMs, { reason: 'stuck' }, { elapsedMs: 20_000 })
        .says('progress.reported', 20_051 + lateMs, {}, { elapsedMs: 20_001, ...figures }).states;
    expect(report(100)).toBe('reported none heard');
    expect(report(101)).toBe('reported none catchingUp');
    const progress = (sinceProgressMs: number) =>
      new Datacenter()
        .says('progress.reported', 10_050, {}, { elapsedMs: 10_000 })
        .says('progress.reported', 22_050, {}, { elapsedMs: 20_000, sinceProgressMs }).states;
    expect(progress(180_000)).toBe('running none heard');
    expect(progress(180_001)).toBe('running none catchingUp');
  });

  test('an answer counts that came within a second, or as fast as any word; it is asked again otherwise', () => {
    const asked = () =>
      silent()
        .says('progress.reported', 60_050, {}, { elapsedMs: 60_000 })
        .take({ type: 'datacenter.asked', nonce: '1.60050', at: 60_050 } as never);
    const answered = (at: number, elapsedMs: number) => {
      const correction = { ...END, status: 'running', correction: 'requested' };
      const more = { ...correction, rejectedDecisionEpoch: null, nonce: '1.60050' };
      return asked().says('status.corrected', at, more, { elapsedMs }).record;
    };
    expect(answered(61_050, 60_100)).toMatchObject({ contact: 'heard', startedAt: 950 });
    expect(answered(61_051, 60_951)).toMatchObject({ contact: 'heard' });
    expect(answered(61_051, 60_900)).toMatchObject({ contact: 'catchingUp', question: null });
  });

  test('it is caught up with when the gate looks too late to know whether it was silent', () => {
    const looked = (at: number) =>
      new Datacenter().says('progress.reported', 1_000).take({ type: 'silence.due', at }).states;
    expect(looked(31_100)).toBe('running none silent');
    expect(looked(31_101)).toBe('running none catchingUp');
  });

  test('after a restart it is waited for, with a word or without one', () => {
    const restarted = { type: 'touch.lost', at: 40_000 };
    const due = (at: number) => ({ type: 'catchUp.due', at });
    const met = new Datacenter().take(restarted).says('progress.reported', 45_000);
    expect(met.record).toMatchObject({ contactSince: 40_000, metAt: 45_000 });
    expect(met.take(due(65_001)).states).toBe('running none heard');
    expect(new Datacenter().take(restarted).take(due(60_001)).states).toBe('running none silent');
  });
});

describe('what it says of itself', () => {
  test('is as old as the message', () => {
    const datacenter = new Datacenter();
    const figures = { sinceProgressMs: 2_000, holdMs: 30_000 };
    datacenter.says('timeout.reported', 400_000, { reason: 'stuck', ageMs: 300_000 }, figures);
    expect(datacenter.record).toMatchObject({ lastProgressAt: 98_000, holdUntil: 130_000 });
    const end = { ...END, status: 'failed', results: [], sinceEndedMs: 5_000, ageMs: 295_000 };
    datacenter.says('final.reported', 400_000, end);
    expect(datacenter.record.final?.endedAt).toBe(100_000);
  });

  test('names where its leaders can be reached, where they say so', () => {
    const datacenter = new Datacenter().says('progress.reported', 10);
    expect(datacenter.record.managerAddrs).toEqual({});
    datacenter.says('progress.reported', 20, { managerHost: '10.0.0.7', managerPort: 4_000 });
    expect(datacenter.record.managerAddrs).toEqual({
      'A.m1': { managerHost: '10.0.0.7', managerPort: 4_000 },
    });
  });
});
