/** Requests of code to actors here and elsewhere: repeatable, limited, or without guarantee. */

import { expect, test } from 'vitest';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { KINDS, twoNodes } from './clerk.ts';
import { LossyNetwork } from './lossy-network.ts';

test.each(['near', 'far'] as const)(
  'sends with the same id are taken once, also after a crash (%s)',
  async (where) => {
    const { a, b, [where]: clerk } = await twoNodes();
    const target = where === 'near' ? a : b;
    const send = async (number: number, id: string) => {
      const sent = clerk.send({ type: 'take', number }, { id });
      await a.settle();
      return sent;
    };
    await send(1, 'x');
    await send(2, 'x');
    await send(3, 'y');
    await target.crash();
    await a.advance('1s');
    await send(4, 'x');
    await send(5, 'y:2~3.4_-');
    await Promise.all([send(6, 'z'), send(7, 'z')]);
    expect(target.actor('clerk/c').getSnapshot().context.taken).toEqual([1, 3, 5, 6]);
  },
);

test('the same id means something else for another actor', async () => {
  const { a, b, near, far } = await twoNodes();
  await a.spawn('clerk/d');
  const sent = [near, far, a.actor('clerk/d')].map((clerk, number) =>
    clerk.send({ type: 'take', number }, { id: 'x' }),
  );
  await a.settle();
  await Promise.all(sent);
  const taken = [near, b.actor('clerk/c'), a.actor('clerk/d')].map(
    (clerk) => clerk.getSnapshot().context.taken,
  );
  expect(taken).toEqual([[0], [1], [2]]);
});

test.each(['', 'x'.repeat(129), 'a b', 'ä', 'x\n'])('the id %j is refused', async (id) => {
  const { near } = await twoNodes();
  await expect(near.send({ type: 'take', number: 1 }, { id })).rejects.toMatchObject({
    code: 'OPTION_INVALID',
  });
});

test('what code sends to another node has a limit', async () => {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const a = await testRuntime({
    kinds: KINDS,
    node: 'a',
    clock,
    limits: { outboxMax: 3 },
    transport: () => network.join('a'),
  });
  const far = a.actor('clerk/c@b');
  for (const number of [1, 2, 3]) void far.send({ type: 'take', number }).catch(() => {});
  await expect(far.send({ type: 'take', number: 4 })).rejects.toMatchObject({
    code: 'OUTBOX_FULL',
    retryable: true,
  });
});

test('an event that has no JSON is refused before it leaves', async () => {
  const { far } = await twoNodes();
  await expect(far.send({ type: 'take', number: 1n } as never)).rejects.toMatchObject({
    code: 'EVENT_MALFORMED',
  });
});

test('hints to a peer that is gone vanish; of those that find a full mailbox the last stays', async () => {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string) =>
    testRuntime({
      kinds: KINDS,
      node,
      clock,
      limits: { mailboxMax: 2 },
      transport: () => network.join(node),
    });
  const [a, b] = [await open('a'), await open('b')];
  await b.spawn('listener/l');
  await a.spawn('speaker/s', { input: { self: 's' } });
  const hintAt = (number: number, place = 'b') =>
    a.actor('speaker/s').send({ type: 'hintAt', to: `listener/l@${place}`, number });
  const first = [hintAt(1), hintAt(2)];
  await Promise.all(first);
  await a.settle();
  // More than fit, in one frame: all of one tick.
  void Promise.allSettled([3, 4].map((number) => hintAt(number)));
  await a.settle();
  const heard = b.actor('listener/l').getSnapshot().context.heard.s ?? [];
  expect(heard.slice(0, 2)).toEqual([1, 2]);
  expect(heard.at(-1)).toBe(4);
  await hintAt(5, 'nowhere');
  network.cut('a', 'b');
  await hintAt(6);
  network.heal('a', 'b');
  await a.advance('1m');
  expect(b.actor('listener/l').getSnapshot().context.heard.s).not.toContain(6);
  expect(a.runtime.counts().underWay).toBe(0);
  expect(a.runtime.undelivered()).toEqual([]);
});

test.each(['near', 'far'] as const)('a hint from code arrives when it can (%s)', async (where) => {
  const { a, b, [where]: clerk, network } = await twoNodes();
  expect(clerk.hint({ type: 'take', number: 1 })).toBeUndefined();
  await a.settle();
  network.cut('a', 'b');
  // Nobody there, nobody of that name, a node that has stopped: nothing happens.
  a.actor('clerk/c@b').hint({ type: 'take', number: 2 });
  a.actor('clerk/nobody').hint({ type: 'take', number: 3 });
  a.actor('clerk/c@nowhere' as 'clerk/c').hint({ type: 'take', number: 4 });
  a.actor('clerk/c@b').hint({ type: 'take', number: 5n } as never);
  network.heal('a', 'b');
  await a.advance('1m');
  const { taken } = (where === 'near' ? a : b).actor('clerk/c').getSnapshot().context;
  expect(taken).toEqual([1]);
  expect(a.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
  expect(a.runtime.undelivered()).toEqual([]);
  const handle = a.runtime.actor('clerk/c');
  await a.stop();
  expect(handle.hint({ type: 'take', number: 6 })).toBeUndefined();
});

test('of hints from code that find a full mailbox the last stays', async () => {
  const rt = await testRuntime({ kinds: KINDS, limits: { mailboxMax: 2 } });
  const clerk = await rt.spawn('clerk/c');
  for (let number = 1; number <= 9; number += 1) clerk.hint({ type: 'take', number });
  await rt.settle();
  expect(clerk.getSnapshot().context.taken).toEqual([1, 9]);
});

test.each(['near', 'far'] as const)(
  'a hint from code that is no event for anybody throws (%s)',
  async (where) => {
    const { [where]: clerk } = await twoNodes();
    for (const [event, code] of [
      [{ type: 'escapement.reply' }, 'EVENT_RESERVED'],
      [{ type: 'xstate.stop' }, 'EVENT_RESERVED'],
      [{ type: 5 }, 'EVENT_MALFORMED'],
      [undefined, 'EVENT_MALFORMED'],
    ] as const)
      expect(() => clerk.hint(event as never)).toThrow(expect.objectContaining({ code }));
  },
);
