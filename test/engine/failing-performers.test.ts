/** Performers that throw: in the log, counted and explained, for as long as their kind wants them tried. */

import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import type { DurablePerformer, Performer } from '../../runtime/actor/kind.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { during } from './outcomes.ts';

const declined = () => {
  throw new Error('card declined');
};

describe('a performer that fails', () => {
  const mailing = setup({
    types: { events: {} as { type: 'go' } },
    actions: { mail: () => {} },
  }).createMachine({ on: { go: { actions: 'mail' } } });

  async function openMailer(perform: Performer | DurablePerformer) {
    const lines: Array<{ readonly fields: Record<string, unknown> }> = [];
    const log = (fields: object) =>
      'address' in fields && lines.push({ fields: fields as Record<string, unknown> });
    const rt = await testRuntime({
      kinds: { mailer: mailing },
      options: { mailer: { perform: { mail: perform } } },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    await (await rt.spawn('mailer/1')).send({ type: 'go' });
    await rt.settle();
    return { rt, lines };
  }

  test('is in the log with its stack, counted, and in explain with its next try', async () => {
    let isDown = true;
    const run = () => (isDown ? declined() : undefined);
    const { rt, lines } = await openMailer({
      run,
      durable: true,
      attemptsMax: Number.POSITIVE_INFINITY,
    });
    expect(await rt.explain('mailer/1')).toMatch(
      /mail is tried again in .*ms, has failed 1 times: card declined/,
    );
    await rt.advance('1h');
    expect(rt.runtime.metrics().effectsRetried).toBeGreaterThan(500);
    expect(rt.runtime.undelivered()).toEqual([]);
    for (const { fields } of lines) expect(fields.stack).toContain('failing-performers.test.ts');
    isDown = false;
    await rt.advance('1m');
    expect(await rt.explain('mailer/1')).not.toContain('failed');
  });

  test('and given up is tried again by retryUndelivered', async () => {
    let isDown = true;
    let done = 0;
    const run = () => {
      if (isDown) declined();
      done += 1;
    };
    const { rt } = await openMailer({ run, durable: true });
    await rt.advance('1m');
    const [kept] = rt.runtime.undelivered();
    expect(kept).toMatchObject({ error: { code: 'EFFECT_FAILED' } });
    expect(kept?.cause).toContain('failing-performers.test.ts');
    isDown = false;
    await during(rt, rt.runtime.retryUndelivered(kept?.id as string));
    await rt.settle();
    expect([done, rt.runtime.undelivered()]).toEqual([1, []]);
  });

  test('once and for all is counted', async () => {
    const { rt, lines } = await openMailer(declined);
    expect(rt.runtime.metrics().actionsFailed).toBe(1);
    expect(lines).toMatchObject([
      { fields: { action: 'mail', stack: expect.stringContaining('failing-performers.test.ts') } },
    ]);
  });
});
