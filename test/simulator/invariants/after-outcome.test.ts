/** Work that begins, and that must not, once a gate has published the outcome of a job. */

import { initialWorkflow } from '../../../machines/jobs/workflow/context.ts';
import { workflowRules } from '../../../programs/jobs/configuration.ts';
import { nothingBeginsAfterTheOutcome } from '../../../simulator/jobs/invariants/after-outcome.ts';
import { fault, sent, turn } from './builders.ts';
import { G1, gate } from './gate-tale.ts';
import { EPOCH, JOBS_FACTS, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const WORKFLOW = 'workflow/j1/w1@A';
const context = initialWorkflow({
  jobId: 'j1',
  workflowId: 'w1',
  datacenter: 'A',
  index: 0,
  handler: 'h',
  payload: '',
  cores: 1,
  acceptedAt: EPOCH,
  rules: workflowRules(JOBS_FACTS.config),
  at: EPOCH,
});

/** Its turn at that moment, by the clock of its node. */
const workflow = (number: number, atMs: number, state: string) =>
  turn(WORKFLOW, { turn: number, takenAt: moment(atMs), state, context });
const waits = (number: number, atMs: number) => workflow(number, atMs, '{"PENDING":"asking"}');
const begins = (number: number, atMs: number) =>
  workflow(number, atMs, '{"DISPATCHED":{"answerLimit":"armed"}}');

const published = (atMs: number, status: string) => ({
  outcome: {
    status: status as never,
    reason: null,
    at: moment(atMs),
    unconfirmed: [],
    results: [],
  },
});
const said = (type: string, more: object = {}) => ({ type, datacenter: 'A', ...more });

/** A gate that was told by the datacenter what `messages` say, and publishes at 10 s. */
const outcomeAfter = (...messages: ReadonlyArray<{ readonly type: string }>) => {
  // The answer to the submission, with which the tale begins, is that nobody answered.
  const tale = gate(600_000, { run: 'late' });
  for (const message of messages) tale.turn(100, message as never, {}, G1);
  return tale.turn(10_000, TIMER, published(10_000, 'failed'), G1);
};
const ASKS = { type: 'slot.requested', jobId: 'j1' };
const spawns = (input: object) => ({ type: 'escapement.spawn', input });
const SPAWNS_READY = spawns({ isReady: true });
const RUNS = said('submission.answered', { accepted: true });

testVerdicts(nothingBeginsAfterTheOutcome, {
  good: {
    'nothing begins': () => outcomeAfter(),
    'it began before': () =>
      outcomeAfter().at(10_010, 'A.manager-1', waits(1, 1_000), begins(2, 2_000)),
    'it had asked for a worker before': () =>
      gate(600_000, { run: 'late' })
        .at(1_000, 'A.manager-1', sent(WORKFLOW, 1, 'worker-pool/main@A', ASKS))
        .turn(10_000, TIMER, published(10_000, 'failed'), G1)
        .at(20_000, 'A.manager-1', waits(1, 1_000), begins(2, 20_000)),
    'its datacenter had spawned what asks for a worker, and crashed': () =>
      gate(600_000, { run: 'late' })
        .at(1_000, 'A.manager-1', sent('job/j1@A', 1, WORKFLOW, SPAWNS_READY))
        .turn(10_000, TIMER, published(10_000, 'failed'), G1)
        .at(20_000, 'A.manager-2', waits(1, 1_000), begins(2, 20_000)),
    'the end of a datacenter that is out of reach was presumed': () =>
      outcomeAfter(RUNS).at(20_000, 'A.manager-1', waits(1, 1_000), begins(2, 20_000)),
    'the gate has lost its disk, and with it what it published': () =>
      outcomeAfter()
        .at(11_000, '', fault('diskLost', { place: 'gate-1' }))
        .at(20_000, 'A.manager-1', waits(1, 1_000), begins(2, 20_000)),
  },
  bad: {
    'a submission that was held up': () =>
      outcomeAfter().at(100_000, 'A.manager-1', waits(1, 99_000), begins(2, 100_000)),
    'its datacenter had spawned what waits for another': () =>
      gate(600_000, { run: 'late' })
        .at(1_000, 'A.manager-1', sent('job/j1@A', 1, WORKFLOW, spawns({})))
        .turn(10_000, TIMER, published(10_000, 'failed'), G1)
        .at(20_000, 'A.manager-2', waits(1, 1_000), begins(2, 20_000)),
    'a datacenter that had refused it': () =>
      outcomeAfter(said('submission.answered', { accepted: false })).at(
        20_000,
        'A.manager-1',
        waits(1, 1_000),
        begins(2, 20_000),
      ),
    'a datacenter whose end the gate had heard': () =>
      outcomeAfter(RUNS, said('final.reported', { status: 'cancelled' })).at(
        20_000,
        'A.manager-1',
        waits(1, 1_000),
        begins(2, 20_000),
      ),
  },
});
