/** Readers of the inspection stream that are concerned with some actors alone. */

import { expect, test } from 'vitest';
import { sendTo, setup } from 'xstate';
import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import { to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';

const speaker = setup({
  types: { events: {} as { type: 'speak'; peer: string } | { type: 'heard' } },
  delays: { limit: 60_000 },
}).createMachine({
  initial: 'on',
  states: {
    on: {
      on: {
        speak: { actions: sendTo(({ event }) => to(event.peer), { type: 'heard' }) },
        heard: 'off',
      },
      after: { limit: 'off' },
    },
    off: { type: 'final' },
  },
});

const short = (record: InspectionRecord): string => {
  if (record.type === 'messageSent') return `sent ${record.from} to ${record.to}`;
  return 'address' in record ? `${record.type} ${record.address}` : record.type;
};

test('a reader hears of its actors, of messages to them, and of what is of no single actor', async () => {
  const runtime = await testRuntime({ kinds: { speaker } });
  const [own, all]: [string[], string[]] = [[], []];
  runtime.runtime.inspect(
    (record) => own.push(short(record)),
    (address) => address === 'speaker/2@test',
  );
  const end = runtime.runtime.inspect((record) => all.push(short(record)));
  const one = await runtime.spawn('speaker/1');
  await runtime.spawn('speaker/2');
  await runtime.spawn('speaker/3');
  for (const peer of ['speaker/2', 'speaker/3']) await one.send({ type: 'speak', peer } as never);
  await runtime.settle();
  const mine = (line: string): boolean => line.includes('speaker/2') || !line.includes('/');
  expect(own.filter((line) => line.includes('/'))).toEqual([
    'actor speaker/2@test',
    'turn speaker/2@test',
    'timers speaker/2@test',
    'sent speaker/1@test to speaker/2@test',
    'turn speaker/2@test',
    'timers speaker/2@test',
    'actor speaker/2@test',
  ]);
  expect(own).toEqual(all.filter(mine));
  // Without the reader of everything it is told the same.
  end();
  await one.send({ type: 'speak', peer: 'speaker/2' } as never);
  await runtime.settle();
  expect(own.at(-1)).not.toBe('turn speaker/1@test');
  expect(own).toContain('sent speaker/1@test to speaker/2@test');
  await runtime.stop();
});

test('a concern that throws takes its reader off the stream and harms nobody', async () => {
  const runtime = await testRuntime({ kinds: { speaker } });
  let asked = 0;
  runtime.runtime.inspect(
    () => {},
    () => {
      asked += 1;
      throw new Error('no');
    },
  );
  const one = await runtime.spawn('speaker/1');
  await one.send({ type: 'speak', peer: 'speaker/1' } as never);
  await runtime.settle();
  expect([asked, one.getSnapshot().value]).toEqual([1, 'off']);
  await runtime.stop();
});
