/** Good and bad histories of clients that ask. */

import { expect, test } from 'vitest';
import type { AnswerFact, CallFact, TurnFact } from '../../../simulator/history/history.ts';
import { everyCallIsAnswered } from '../../../simulator/jobs/invariants/answers.ts';
import { history, howOften, whatBroke } from './builders.ts';

const asked: CallFact = {
  type: 'call',
  call: 'call-1',
  to: 'A',
  request: 'cancel',
  jobId: 'j1',
  body: null,
};
const answered = (outcome: AnswerFact['outcome']) =>
  history()
    .add('client-1', asked)
    .at(10_000)
    .add('client-1', { type: 'answer', call: 'call-1', outcome, about: null });

test.each(['ok', 'refused'] as const)('TS-7 holds: the answer is %s', (outcome) => {
  expect(whatBroke(everyCallIsAnswered, answered(outcome))).toEqual([]);
  expect(howOften(everyCallIsAnswered, answered(outcome))).toBe(1);
});

test('TS-7 holds: it may be lost where anything goes wrong', () => {
  const facts = { isFaultFree: false };
  expect(whatBroke(everyCallIsAnswered, answered('unknown'), facts)).toEqual([]);
  expect(howOften(everyCallIsAnswered, answered('unknown'), facts)).toBe(0);
});

const replyTo = 'ask/1@client-1';
const taken = {
  type: 'turn',
  place: 'A',
  address: 'desk/main@A',
  kind: 'desk',
  turn: 7,
  takenAt: 0,
  event: { type: 'job.asked', replyTo },
  from: 'session:1@client-1',
  counter: 1,
  state: 'open',
  context: {},
  error: undefined,
} as unknown as TurnFact;
const frame = (event: object) => JSON.stringify({ v: 1, envelopes: [event], receipts: [] });
const reply = {
  type: 'frame',
  to: 'client-1',
  change: 'sent',
  frame: frame({
    to: replyTo,
    from: 'desk/main@A',
    counter: 0,
    event: { type: 'escapement.reply' },
  }),
} as const;
const crashed = { type: 'node', change: 'crashed', life: 1, skewMs: 0, driftPpm: 0 } as const;
const slowed = { type: 'fault', kind: 'slowDisk', id: 's', change: 'began', about: {} } as const;
const FAULTS = { isFaultFree: false };
const later = (...facts: Parameters<ReturnType<typeof history>['add']>) =>
  history()
    .add('a-1', taken)
    .at(500)
    .add(...facts)
    .at(10_000)
    .add('a-2', crashed);

test('TS-7 holds with faults too: the question that a jobs service took is answered', () => {
  expect(whatBroke(everyCallIsAnswered, later('a-1', reply), FAULTS)).toEqual([]);
  expect(howOften(everyCallIsAnswered, later('a-1', reply), FAULTS)).toBe(1);
});

test('TS-7 holds: the node died, or its disk is slow', () => {
  expect(whatBroke(everyCallIsAnswered, later('a-1', crashed), FAULTS)).toEqual([]);
  expect(whatBroke(everyCallIsAnswered, later('', slowed), FAULTS)).toEqual([]);
});

test('TS-7 holds: the refusal left just before the turn that took the question was shown', () => {
  const early = (betweenMs: number) =>
    history().add('a-1', reply).at(betweenMs).add('a-1', taken).at(10_000).add('a-2', crashed);
  expect(whatBroke(everyCallIsAnswered, early(0), FAULTS)).toEqual([]);
  expect(whatBroke(everyCallIsAnswered, early(1), FAULTS)).toHaveLength(1);
});

test('TS-7 holds: nodes have room for three questions, and watchers keep others out', () => {
  const facts = { refusesQuestions: true };
  expect(whatBroke(everyCallIsAnswered, answered('unknown'), facts)).toEqual([]);
});

test('TS-7 is broken: a jobs service took a question, and its node says nothing', () => {
  const other = { ...reply, frame: reply.frame.replace('ask/1', 'ask/2') };
  expect(whatBroke(everyCallIsAnswered, later('a-1', other), FAULTS)).toEqual([
    'desk/main@A took job.asked at 0 ms, and a-1 has neither answered nor refused it 10000 ms later',
  ]);
});

/** Five questions at once, of which four are answered, or refused, before the last one is. */
function inLine(type: string, answeredMs = 5_500, first: object = {}) {
  const tale = history();
  const names = [1, 2, 3, 4, 5].map((name) => `ask/${name}@client-1`);
  for (const name of names)
    tale.add('a-1', { ...taken, event: { type, replyTo: name } } as TurnFact);
  const answer = (to: string, more: object = {}) => {
    const event = { type: 'escapement.reply', ...more };
    tale.add('a-1', { ...reply, frame: frame({ to, from: 'desk/main@A', counter: 0, event }) });
  };
  tale.at(900);
  for (const name of names.slice(0, 4)) answer(name, first);
  tale.at(answeredMs);
  answer(names[4] as string);
  return tale;
}

test('TS-7 holds: a question waits for what its client has asked before', () => {
  expect(whatBroke(everyCallIsAnswered, inLine('stuckWorkflows.asked'), FAULTS)).toEqual([]);
  expect(howOften(everyCallIsAnswered, inLine('jobs.asked'), FAULTS)).toBe(5);
});

/** A sixth question comes once the others have been answered, or refused. */
const askedAgain = (first: object) => {
  const tale = inLine('jobs.asked', 1_000, first);
  const event = { type: 'jobs.asked', replyTo: 'ask/6@client-1' };
  return tale
    .add('a-1', { ...taken, event } as TurnFact)
    .at(5_500)
    .add('a-1', { ...reply, frame: reply.frame.replace('ask/1', 'ask/6') });
};

test('TS-7 holds: a question that was refused may be worked off before it', () => {
  const error = { code: 'ASK_LOST', message: 'Over 4 questions are open here.' };
  expect(whatBroke(everyCallIsAnswered, askedAgain({ error }), FAULTS)).toEqual([]);
  expect(whatBroke(everyCallIsAnswered, askedAgain({}), FAULTS)).toHaveLength(1);
});

test('TS-7 is broken: it waits for longer, or for what is worked off at once', () => {
  for (const late of [inLine('stuckWorkflows.asked', 7_500), inLine('job.asked')])
    expect(whatBroke(everyCallIsAnswered, late, FAULTS)).toHaveLength(1);
});

test('TS-7 is broken: nobody answered', () => {
  expect(whatBroke(everyCallIsAnswered, answered('unknown'))).toEqual([
    'Nobody answered cancel of j1 at A.',
  ]);
});
