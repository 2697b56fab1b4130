import { describe, expect, test } from 'vitest';
import { answersOf, ask, asked, credited, ended, holding } from './worker-health-scenes.ts';

const W1 = 'j1/w1#1';

describe('WH-3 answers that are kept', () => {
  test('row 0: a request that comes again has its answer after any number of requests of other attempts', () => {
    const others = Array.from({ length: 200 }, (_, index) => `j1/x${index}#1`);
    const health = holding([W1, ...others]);
    const request = asked(W1, 0.1);
    health.take(request);
    health.take(credited(request.requestId, 'j1'));
    for (const other of others) ask(health, other, 0.1);
    health.said();
    const { grantCount } = health.context;
    health.take(request);
    expect(answersOf(health.said())).toMatchObject([{ granted: true, extensionMs: 30_000 }]);
    expect(health.context.grantCount).toBe(grantCount);
    expect(health.context.answers).toHaveLength(201);
  });

  test('row 0: a late copy of the request before has the answer it had', () => {
    const health = holding([W1]);
    ask(health, W1, 0.1);
    const denied = asked(W1, 0.1);
    health.take(denied);
    ask(health, W1, 0.2);
    const { context } = health;
    health.said();
    health.take(denied);
    expect(answersOf(health.said())).toMatchObject([
      { requestId: denied.requestId, granted: false, denialReason: 'noProgress' },
    ]);
    expect(health.context.answers).toEqual(context.answers);
  });

  test('row 0: of one attempt the last answers are kept, and few of attempts that are over', () => {
    const over = Array.from({ length: 100 }, (_, index) => `j1/x${index}#1`);
    const health = holding([W1, ...over]);
    for (const progress of [0.1, 0.2, 0.25, 0.3]) ask(health, W1, progress);
    for (const one of over) {
      ask(health, one, 0.1);
      health.take(ended(one));
    }
    ask(health, W1, 0.4);
    expect(health.context.answers.length).toBeLessThanOrEqual(69);
    expect(health.context.answers.filter(({ operationId }) => operationId === W1)).toHaveLength(4);
  });
});
