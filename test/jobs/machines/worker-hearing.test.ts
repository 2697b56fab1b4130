/** Word of its manager, as a worker takes it: what counts, what does not, and where it waits meanwhile. */

import { describe, expect, test } from 'vitest';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import { acked, announced, dispatch, holding, input, region } from './worker-scenes.ts';
import { WorkerStepper } from './worker-stepper.ts';

const spawned = (): WorkerStepper => new WorkerStepper(workerMachine, input);

test('an announcement of its leader is word of it, and the silence is counted from there', () => {
  const worker = holding(1)
    .advance(10_000)
    .take(announced({ attempts: ['j1/w1#1'] }));
  expect(region(worker, 'manager')).toBe('heard');
  expect(region(worker.advance(15_000), 'manager')).toBe('heard');
  expect(region(worker.advance(1), 'manager')).toEqual({ gone: 'waiting' });
});

describe('without its manager', () => {
  const alone = (): WorkerStepper => holding(1).take({ type: 'manager.unreachable' });

  test('a dispatch is word of it, and no answer to a registration', () => {
    const worker = alone().take(dispatch({ attemptId: 'w5#1' }));
    expect(region(worker, 'manager')).toBe('heard');
    expect(region(worker, 'membership')).toEqual({ joining: 'pausing' });
  });

  test('a connection is no word of it: the grace goes on', () => {
    const worker = alone().advance(1_000).take({ type: 'manager.reachable' });
    expect(region(worker, 'manager')).toEqual({ gone: 'waiting' });
    expect(region(worker.advance(59_001), 'manager')).toEqual({ gone: 'givenUp' });
  });
});

describe('before it is registered', () => {
  test.each([
    ['an ack of a leader that knows it', acked(), 'member'],
    ['an ack that asks for a registration', acked({ registerAgain: true }), { joining: 'calling' }],
    ['an ack of a leader before', acked({ term: 2 }), { joining: 'calling' }],
  ])('%s', (_, event, membership) => {
    const worker = spawned().take(acked({ registerAgain: true }));
    expect(region(worker.take(event), 'membership')).toEqual(membership);
  });

  test.each([
    ['an announcement of its leader begins the heartbeats', 3, 'beating'],
    ['one of a leader before does not', 2, 'quiet'],
  ])('%s', (_, term, heartbeat) => {
    const worker = spawned()
      .take(acked({ registerAgain: true }))
      .take(announced({ term }));
    expect(region(worker, 'heartbeat')).toBe(heartbeat);
  });
});
