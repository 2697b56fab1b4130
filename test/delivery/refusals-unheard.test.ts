/** Messages that were refused for good, and nobody heard of it: no wish to, no sender any more, a defect. */

import { afterEach, describe, expect, test } from 'vitest';
import { testRuntime } from '../../simulator/testing.ts';
import { defect, heard, KINDS, twoNodes } from './careful.ts';

afterEach(() => {
  defect.isThere = true;
});

describe('nobody hears of it', () => {
  test('where the machine has no transition for it: the message is undelivered', async () => {
    const { a } = await twoNodes();
    const sender = await a.spawn('careless/c');
    await sender.send({ type: 'say', to: 'listener/nobody@b', sayings: [heard(1)] });
    await a.settle();
    expect(a.runtime.undelivered()).toMatchObject([
      { to: 'listener/nobody@b', event: heard(1), error: { code: 'ACTOR_UNKNOWN' } },
    ]);
  });

  test.each(['before', 'after'] as const)(
    'where the sender has ended (%s the refusal): the message is undelivered',
    async (when) => {
      const { a, sender, say, refused, heardBy, network, hold, release } = await twoNodes();
      network.cut('a', 'b');
      await say('listener/l@b', { type: 'shouted' }, heard(1));
      if (when === 'before') await sender.send({ type: 'end' });
      else {
        // Its end waits in the mailbox, and the news behind it.
        hold();
        void sender.send({ type: 'end' });
      }
      network.heal('a', 'b');
      await a.settle();
      if (when === 'after') {
        expect(a.runtime.undelivered()).toEqual([]);
        release();
      }
      await a.advance('10s');
      expect(sender.getSnapshot().status).toBe('done');
      expect(refused()).toEqual([]);
      expect(a.runtime.undelivered()).toMatchObject([
        { to: 'listener/l@b', from: 'careful/c@a', event: { type: 'shouted' } },
      ]);
      expect(heardBy('listener/l')).toEqual({ s: [1] });
      expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
    },
  );

  test('where both have ended, and its machine would have heard of it: nothing is left to be done', async () => {
    const { a, sender, say, network } = await twoNodes();
    network.cut('a', 'b');
    await say('listener/ended@b', heard(1));
    await sender.send({ type: 'end' });
    network.heal('a', 'b');
    await a.advance('10s');
    expect(a.runtime.undelivered()).toEqual([]);
    expect(a.runtime.metrics().undelivered).toBe(0);
    expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
    expect(a.runtime.counts().underWay).toBe(0);
  });

  test('where it ends while the news waits behind its last event: the message is undelivered', async () => {
    const { a, sender, say, refused, heardBy, hold, release } = await twoNodes({
      groupTurnsMax: 1,
    });
    hold();
    void say('listener/near', { type: 'shouted' }, heard(1));
    await a.settle();
    // The next group is full with this, so what follows waits in the mailbox.
    void sender.send({ type: 'tell', to: 'listener/near', count: 0 });
    void sender.send({ type: 'end' });
    await a.settle();
    release();
    await a.advance('10s');
    expect(sender.getSnapshot().status).toBe('done');
    expect(refused()).toEqual([]);
    expect(a.runtime.undelivered()).toMatchObject([{ event: { type: 'shouted' } }]);
    expect(heardBy('listener/near')).toEqual({ s: [1] });
    expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
    expect(a.runtime.counts().underWay).toBe(0);
  });

  test('where its turn fails: the event is undelivered in place of the message', async () => {
    const { a, say, refused, heardBy } = await twoNodes();
    await say('listener/l@b', { type: 'poison', dose: 3 }, heard(1));
    await a.settle();
    expect(refused()).toEqual([]);
    expect(heardBy('listener/l')).toEqual({ s: [1] });
    expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
    const [kept, ...others] = a.runtime.undelivered();
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      to: 'careful/c@a',
      event: { type: 'message.refused', event: { type: 'poison', dose: 3 }, to: 'listener/l@b' },
      error: { code: 'TURN_FAILED' },
    });
    expect(a.runtime.history('careful/c').at(-1)).toMatchObject({
      event: 'message.refused',
      error: { code: 'TURN_FAILED' },
    });
    await a.crash();
    defect.isThere = false;
    await a.runtime.retryUndelivered(kept?.id ?? '');
    expect(refused()).toMatchObject([{ code: 'EVENT_UNDECLARED', event: { dose: 3 } }]);
    expect(a.runtime.undelivered()).toEqual([]);
  });
});

test('supervision decides the outcome of an actor that fails on the news', async () => {
  const rt = await testRuntime({
    kinds: KINDS,
    options: { careful: { supervise: { onFailure: 'stop' } } },
  });
  const sender = await rt.spawn('careful/c');
  const sayings = [{ type: 'poison' }, { type: 'shouted' }];
  await sender.send({ type: 'say', to: 'listener/nobody', sayings });
  await rt.settle();
  expect(sender.getSnapshot().context.refused).toEqual([]);
  // The second one found it stopped.
  expect(
    rt.runtime
      .undelivered()
      .map(({ event }) => event.type)
      .sort(),
  ).toEqual(['message.refused', 'shouted']);
  expect(rt.runtime.query({ status: 'stopped' }).actors).toHaveLength(1);
});
