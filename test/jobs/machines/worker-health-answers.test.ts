import { describe, expect, test } from 'vitest';
import { answersOf, ask, asked, credited, ended, fresh, holding } from './worker-health-scenes.ts';

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

  test('row 0: a copy that comes after later requests of its run is dropped, and counts nowhere', () => {
    const health = holding([W1]);
    const all = [0.1, 0.2, 0.2, 0.2, 0.2, 0.2].map((progress, at) =>
      asked(W1, progress, { requestSeq: at + 1 }),
    );
    for (const request of all) {
      health.take(request);
      health.take(credited(request.requestId, 'j1'));
    }
    const { denials, grantCount } = fresh(health).context;
    for (const copy of all.slice(0, -1)) health.take(copy);
    expect(answersOf(health.said())).toEqual([]);
    expect(health.notes()).toMatchObject(
      Array(5).fill({ event: 'event.late', kind: 'extension.requested' }),
    );
    expect(health.context).toMatchObject({ denials, grantCount });
  });

  test('row 0: of one attempt the last answer is kept, and few of attempts that are over', () => {
    const over = Array.from({ length: 100 }, (_, index) => `j1/x${index}#1`);
    const health = holding([W1, ...over]);
    for (const progress of [0.1, 0.2, 0.25, 0.3]) ask(health, W1, progress);
    for (const one of over) {
      ask(health, one, 0.1);
      health.take(ended(one));
    }
    ask(health, W1, 0.4);
    expect(health.context.answers.length).toBeLessThanOrEqual(66);
    expect(health.context.answers.filter(({ operationId }) => operationId === W1)).toHaveLength(1);
  });
});
