/** Explanations by `explain` of an actor that runs, waits and is waited for. */

import { expect, test } from 'vitest';
import { fromPromise, sendTo, setup, spawnChild } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';

const kidMachine = setup({}).createMachine({ initial: 'sleeping', states: { sleeping: {} } });

const busyMachine = setup({
  types: { events: {} as { type: 'tell'; to: string } | { type: 'idle' } | { type: 'told' } },
  actors: { kid: kidMachine, pay: fromPromise(() => new Promise(() => {})) },
}).createMachine({
  entry: spawnChild('kid', { id: 'kid' }),
  invoke: { id: 'charge', src: 'pay' },
  on: {
    tell: { actions: sendTo(({ event }) => to(event.to), { type: 'told' }) },
    idle: {},
    told: {},
  },
});

test('shows what runs, what waits to be taken, and what waits for others, with a bound on each', async () => {
  const rt = await testRuntime({ kinds: { busy: busyMachine, kid: kidMachine } });
  const one = await rt.spawn('busy/1');
  let text = await rt.explain('busy/1');
  expect(text).toContain('child     "charge" (pay) runs, and has not ended');
  expect(text).toContain('child     "kid" is "sleeping"');
  expect(text).not.toContain('mailbox');
  for (let index = 0; index < 30; index += 1)
    await one.send({ type: 'tell', to: `busy/${index}@elsewhere` });
  await one.send({ type: 'tell', to: 'busy/0@elsewhere' });
  await rt.advance('10s');
  text = await rt.explain('busy/1');
  expect(text).toMatch(
    /outbox {4}2 messages, the first "told", wait for busy\/0@elsewhere to acknowledge; \d tries came to nothing; nobody is connected who hosts "elsewhere"/,
  );
  expect(text).toContain('outbox    and 10 more');
  const sends = Array.from({ length: 30 }, () => one.send({ type: 'idle' }));
  expect(await rt.explain('busy/1')).toMatch(/mailbox {3}30 to be taken: idle, .* and 10 more/);
  await Promise.all(sends);
  for (const line of text.split('\n')) expect(line.length).toBeLessThan(1_000);
});
