/** Submissions: what clients were told of their jobs. */

import { describe } from 'vitest';
import type { CallFact, HistoryFact } from '../../../simulator/history/history.ts';
import {
  acceptedJobsSurvive,
  nothingStartsAfterCancel,
  oneJobPerId,
} from '../../../simulator/jobs/invariants/submissions.ts';
import { commit, fault, record, turn } from './builders.ts';
import { accepted, ended, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const overdue = (atMs: number) => ended(moment(atMs), 'timedOut', 'overall');

describe('submissions', () => {
  const body = (timeoutMs = 60_000) => ({ jobId: 'j1', timeoutMs, workflows: [{ id: 'w1' }] });
  const call = (
    name: string,
    request: CallFact['request'],
    about: unknown = null,
  ): HistoryFact => ({
    type: 'call',
    call: name,
    to: 'A',
    request,
    jobId: 'j1',
    body: about,
  });
  const answer = (
    name: string,
    outcome: 'ok' | 'refused' | 'unknown',
    about: unknown = {},
  ): HistoryFact => ({
    type: 'answer',
    call: name,
    outcome,
    about,
  });
  const stored = () => accepted().add(commit('A', 1, { 'workflow/j1/w1@A': record(1) }));
  const submitted = () =>
    stored().at(10, 'client-1', call('c1', 'submit', body()), answer('c1', 'ok'));

  const diskLost = () => fault('diskLost', { place: 'A' });
  const anotherService = () => commit('A', 1, { 'desk/main@A': record(1) });

  testVerdicts(acceptedJobsSurvive, {
    good: {
      'it is in the store': submitted,
      'the disk was lost while its answer was on the way': () =>
        stored()
          .at(10, 'client-1', call('c1', 'submit', body()))
          .at(11, '', diskLost())
          .at(12, 'A.manager-1', anotherService())
          .at(13, 'client-1', answer('c1', 'ok'), call('c2', 'get'))
          .at(14, 'client-1', answer('c2', 'refused', null)),
      'it is found later': () =>
        submitted().at(
          20,
          'client-1',
          call('c2', 'get'),
          answer('c2', 'ok', { status: 'running' }),
        ),
      'asked for before it was accepted': () =>
        stored().at(
          10,
          'client-1',
          call('c1', 'submit', body()),
          call('c2', 'get'),
          answer('c1', 'ok'),
          answer('c2', 'refused', null),
        ),
      'nobody knows whether it was accepted': () =>
        submitted().at(20, 'client-1', call('c2', 'submit', body()), answer('c2', 'unknown')),
    },
    bad: {
      'a workflow is missing': () =>
        accepted().at(10, 'client-1', call('c1', 'submit', body()), answer('c1', 'ok')),
      'it was not whole when the disk was lost': () =>
        accepted()
          .at(10, 'client-1', call('c1', 'submit', body()))
          .at(11, '', diskLost())
          .at(12, 'A.manager-1', anotherService())
          .at(13, 'client-1', answer('c1', 'ok')),
      'it was asked for after the disk was lost': () =>
        stored()
          .at(11, '', diskLost())
          .at(12, 'A.manager-1', anotherService())
          .at(13, 'client-1', call('c1', 'submit', body()), answer('c1', 'ok')),
      'it is not found later': () =>
        submitted().at(20, 'client-1', call('c2', 'get'), answer('c2', 'refused', null)),
      'its cancel finds nothing': () =>
        submitted().at(
          20,
          'client-1',
          call('c2', 'cancel'),
          answer('c2', 'refused', { reason: 'unknown' }),
        ),
      'it is forgotten at once': () =>
        submitted()
          .turn(60_001, TIMER, overdue(60_001))
          .at(70_000, 'A.manager-1', commit('A', 1, { [JOB]: null })),
    },
  });

  const again = (about: unknown, outcome: 'ok' | 'refused', told: unknown = {}) =>
    submitted().at(20, 'client-1', call('c2', 'submit', about), answer('c2', outcome, told));

  /** The job of the first answer is not there any more. */
  const answeredAfter = (gone: 'diskLost' | 'deleted') => {
    const asked = stored().at(10, 'client-1', call('c1', 'submit', body()));
    const after =
      gone === 'diskLost'
        ? asked.at(11, '', diskLost())
        : asked.at(11, 'A.manager-1', commit('A', 1, { [JOB]: null }));
    return after.at(12, 'client-1', answer('c1', 'ok'));
  };
  const another = () =>
    ['c2', 'c3'].flatMap((name) => [call(name, 'submit', body(61_000)), answer(name, 'ok')]);

  testVerdicts(oneJobPerId, {
    good: {
      'the same again': () => again(body(), 'ok'),
      'the same in other words': () =>
        again({ workflows: [{ id: 'w1', cores: 1, dependsOn: [] }], timeoutMs: 60_000 }, 'ok'),
      'another one is refused': () => again(body(61_000), 'refused', { reason: 'conflict' }),
      'the disk was lost while the answer to the first was on the way': () =>
        answeredAfter('diskLost').at(20, 'client-1', ...another()),
      'the first was deleted while its answer was on the way': () =>
        answeredAfter('deleted').at(20, 'client-1', ...another()),
    },
    bad: {
      'another one is accepted': () => again(body(61_000), 'ok'),
      'the same is a conflict': () => again(body(), 'refused', { reason: 'conflict' }),
    },
  });

  const workflow = (atMs: number, state: string) =>
    turn('workflow/j1/w1@A', { turn: atMs, state, context: { jobId: 'j1', workflowId: 'w1' } });
  const cancelled = () =>
    submitted()
      .at(20, 'A.manager-1', workflow(20, '{"PENDING":"asking"}'))
      .at(21, 'client-1', call('c2', 'cancel'), answer('c2', 'ok'));

  testVerdicts(nothingStartsAfterCancel, {
    good: {
      'what ran is stopping': () =>
        cancelled().at(22, 'A.manager-1', workflow(21, '{"CANCELLING":"confirming"}')),
      'it was refused': () =>
        cancelled().at(22, 'client-1', call('c3', 'cancel'), answer('c3', 'refused')),
    },
    bad: {
      'a workflow is dispatched': () =>
        cancelled().at(22, 'A.manager-1', workflow(21, '{"DISPATCHED":{}}')),
      'a workflow still waits': () =>
        cancelled().at(22, 'A.manager-1', workflow(21, '{"PENDING":"waiting"}')),
    },
  });
});
