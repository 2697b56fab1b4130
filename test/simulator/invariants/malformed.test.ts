/** Good and bad histories of submissions that no jobs service may accept. */

import { expect, test } from 'vitest';
import type { AnswerFact } from '../../../simulator/history/history.ts';
import { malformedIsRefused } from '../../../simulator/jobs/invariants/malformed.ts';
import { commit, history, howOften, record, type Story, whatBroke } from './builders.ts';
import { JOBS_FACTS } from './tale.ts';

const workflow = { id: 'w1', handler: 'h' };
const right = { jobId: 'j1', timeoutMs: 60_000, workflows: [workflow] };

function submitted(body: object, about: unknown, outcome: AnswerFact['outcome'] = 'refused') {
  const call = { call: 'call-1', to: 'A', request: 'submit', jobId: 'j1', body } as const;
  return history()
    .add('client-1', { type: 'call', ...call })
    .at(10)
    .add('client-1', { type: 'answer', call: 'call-1', outcome, about });
}

const broken = (story: Story) => whatBroke(malformedIsRefused, story, JOBS_FACTS);
const invalid = (field: string) => ({ accepted: false, reason: 'invalid', field });
const WRONG: ReadonlyArray<readonly [field: string, body: object]> = [
  ['timeoutMs', { timeoutMs: 0 }],
  ['timeoutMs', { timeoutMs: 1.5 }],
  ['timeoutMs', { timeoutMs: '60000' }],
  ['stuckThresholdMs', { stuckThresholdMs: 999 }],
  ['failFast', { failFast: 'yes' }],
  ['workflows', { workflows: [] }],
  ['workflows[0].handler', { workflows: [{ id: 'w1', handler: '' }] }],
  ['workflows[1].id', { workflows: [workflow, { ...workflow, id: 'w 2' }] }],
  ['workflows[1].id', { workflows: [workflow, workflow] }],
  ['workflows[0].cores', { workflows: [{ ...workflow, cores: 0 }] }],
  ['workflows[0].dependsOn', { workflows: [{ ...workflow, dependsOn: ['w2'] }] }],
];

test.each(WRONG)('TS-9 holds: %s is named', (field, body) => {
  const story = submitted({ ...right, ...body }, invalid(field));
  expect(broken(story)).toEqual([]);
  expect(howOften(malformedIsRefused, story, JOBS_FACTS)).toBe(1);
});

test.each(WRONG)('TS-9 is broken: a malformed %s is accepted', (field, body) => {
  const story = submitted({ ...right, ...body }, { accepted: true, reason: null }, 'ok');
  expect(broken(story)).toEqual([`A malformed ${field} was accepted`]);
});

test('TS-9 holds: anybody who has no room need not look, and nobody knows what was not answered', () => {
  const body = { ...right, timeoutMs: 0 };
  for (const reason of ['overloaded', 'notLeader'])
    expect(broken(submitted(body, { reason }))).toEqual([]);
  expect(broken(submitted(body, null, 'unknown'))).toEqual([]);
});

test('TS-9 is broken: another field is named, or another reason', () => {
  const body = { ...right, timeoutMs: 0 };
  expect(broken(submitted(body, invalid('failFast')))).toEqual([
    'A malformed timeoutMs was refused for failFast',
  ]);
  expect(broken(submitted(body, { reason: 'conflict' }))).toEqual([
    'A malformed timeoutMs was refused with {"reason":"conflict"}',
  ]);
});

test('TS-9 is broken: something of it is stored', () => {
  const story = submitted({ ...right, timeoutMs: 0 }, invalid('timeoutMs'));
  story.add('a-1', commit('A', 1, { 'job/j1@A': record(1) }));
  expect(broken(story)).toEqual(['Every submission of j1 was malformed, and there is job/j1@A']);
});

test('TS-9 is broken: a submission without a mistake is refused as invalid', () => {
  expect(broken(submitted(right, invalid('pages')))).toEqual([
    'A submission without a mistake was refused for pages',
  ]);
});

test('TS-9 holds: too many dependencies; and is broken where they are not', () => {
  const body = { ...right, workflows: [workflow, { ...workflow, id: 'w2', dependsOn: ['w1'] }] };
  const refused = submitted(body, { ...invalid('workflows.dependsOn'), isTooLarge: true });
  const config = { ...JOBS_FACTS.config, dependenciesMax: 0 };
  expect(whatBroke(malformedIsRefused, refused, { ...JOBS_FACTS, config })).toEqual([]);
  expect(broken(refused)).toEqual([
    'A submission without a mistake was refused for workflows.dependsOn',
  ]);
});
