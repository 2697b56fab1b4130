/** Hydration after a return on LMDB: the deadlines of all, the actors of few. */

import { expect, test } from 'vitest';
import { unspawned } from '../../runtime/actor/actor.ts';
import { Kind } from '../../runtime/actor/kind.ts';
import { LiveActors } from '../../runtime/actor/live-actors.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import { type AlarmEvent, alarm } from './recovery-machines.ts';
import { RecoveryNodes } from './recovery-nodes.ts';
import { Workshop } from './recovery-workshop.ts';

const ACTORS = 2_000;
/** Every hundredth has a durable effect under way, or a promise. */
const BUSY_EVERY = 100;

async function startMany() {
  const shop = new Workshop();
  const nodes = new RecoveryNodes();
  const node = await nodes.start({
    kinds: { alarm, workshop: shop.machine },
    options: { workshop: shop.options },
  });
  const { rt } = node;
  const busy = Array.from({ length: ACTORS / BUSY_EVERY }, (_, index) => index);
  const keys = Array.from({ length: ACTORS - busy.length }, (_, index) => index);
  const births = [
    ...keys.map((key) => rt.spawn(`alarm/${key}`)),
    ...busy.map((key) => rt.spawn(`workshop/${key}`)),
  ];
  await nodes.during(Promise.all(births));
  const armed = keys.map((key) => rt.actor(`alarm/${key}`).send(bell(60_000 + key)));
  const begun = busy.map((key) =>
    rt
      .actor(`workshop/${key}`)
      .send(key % 2 === 0 ? { type: 'job.charge', amount: key } : { type: 'job.begin', job: 'x' }),
  );
  await nodes.during(Promise.all([...armed, ...begun]));
  return { shop, nodes, node, keys, busy };
}

function bell(delayMs: number): AlarmEvent {
  return { type: 'alarm.arm', name: 'bell', delayMs };
}

test('of 2,000 actors only those with something under way are in memory, and all deadlines are planned', async () => {
  const { shop, nodes, node, keys, busy } = await startMany();
  await node.restart();
  expect(node.runtime.counts()).toMatchObject({
    live: busy.length,
    deadlines: keys.length,
    performers: busy.length / 2,
  });
  expect(node.runtime.metrics()).toMatchObject({ turns: 0, hydrations: busy.length });
  expect([shop.charged.length, shop.runs.length]).toEqual([busy.length, busy.length]);

  // The first that is sent something is served alone.
  await nodes.during(node.rt.actor('alarm/17').send(bell(90_000)));
  expect(node.runtime.counts().live).toBe(busy.length + 1);
  expect(node.runtime.metrics()).toMatchObject({ turns: 1, hydrations: busy.length + 1 });

  await nodes.advance(60_000 + 9);
  expect(node.runtime.metrics().turns).toBe(1 + 10);
  expect(node.runtime.counts()).toMatchObject({
    live: busy.length + 11,
    deadlines: keys.length - 10,
  });
});

test('when many deadlines were missed, their actors are let go again once they have had their turns', async () => {
  const { nodes, node, keys, busy } = await startMany();
  await node.die();
  nodes.clock.advanceBy(120_000);
  await node.comeBack({ limits: { liveActorsMax: 50 } });
  // All were due at once, and anybody who has something to do is in memory.
  expect(node.runtime.counts()).toMatchObject({ deadlines: 0, ready: 0 });
  expect(node.runtime.metrics().turns).toBe(keys.length);
  for (const key of keys.slice(-600)) {
    const { rings } = node.rt.actor(`alarm/${key}`).getSnapshot().context;
    expect(rings).toEqual([{ name: 'bell', at: nodes.clock.now(), dueAt: expect.any(Number) }]);
  }
  for (const key of keys.slice(0, 600)) {
    const { rings } = node.rt.actor(`alarm/${key}`).getSnapshot().context;
    expect(rings).toEqual([{ name: 'bell', at: nodes.clock.now(), dueAt: expect.any(Number) }]);
  }
  expect(node.runtime.counts().live).toBeLessThanOrEqual(50 + busy.length);
});

test('each life hosts under a greater fence, also where the lease remembers nothing', async () => {
  const nodes = new RecoveryNodes();
  const node = await nodes.start({ kinds: { alarm } });
  const fences: number[] = [];
  for (let life = 0; life < 3; life += 1) {
    fences.push(node.runtime.metrics().fence);
    expect(node.store.fence('node')).toBe(fences.at(-1));
    await node.restart();
  }
  expect(fences).toEqual([1, 2, 3]);
});

/** Turns while everybody is busy must not cost more the more of them there are. */
test('30,000 actors that are all due at once are found and let go in linear time', () => {
  const live = new LiveActors(100);
  const kind = new Kind('alarm', alarm, {}, DEFAULT_LIMITS);
  const all = Array.from({ length: 30_000 }, (_, key) => unspawned(`alarm/${key}`, kind));
  let looks = 0;
  for (const actor of all) {
    Object.defineProperty(actor, 'runningChildren', {
      get: () => {
        looks += 1;
        return 1;
      },
    });
    live.add(actor);
  }
  expect(live.size).toBe(all.length);
  expect(looks).toBeLessThan(10 * all.length);
});
