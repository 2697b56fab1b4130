import { expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { reminderMachine } from '../../machines/index.ts';
import type { Timed } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';

const listener = setup({
  types: {
    context: {} as { heard: Array<readonly [string, number]> },
    events: {} as Timed<{ type: 'note.due'; text: string }>,
  },
}).createMachine({
  id: 'listener',
  context: { heard: [] },
  on: {
    'note.due': {
      actions: assign({
        heard: ({ context, event }) => [...context.heard, [event.text, event.at] as const],
      }),
    },
  },
});

async function reminded(inMs: number) {
  const rt = await testRuntime({ kinds: { reminder: reminderMachine, listener } });
  const startedAt = rt.now();
  const heard = await rt.spawn('listener/1');
  const reminder = await rt.spawn('reminder/1', {
    input: {
      until: startedAt + inMs,
      to: 'listener/1@test',
      event: { type: 'note.due', text: 'tea' },
    },
  });
  const said = () =>
    heard.getSnapshot().context.heard.map(([text, at]) => [text, at - startedAt] as const);
  return { rt, reminder, said, startedAt };
}

test('speaks at its moment, once, also after a crash', async () => {
  const { rt, reminder, said } = await reminded(60_000);
  await rt.advance('59s');
  expect(said()).toEqual([]);
  await rt.crash();
  await rt.advance('1h');
  expect(said()).toEqual([['tea', 60_000]]);
  expect(reminder.getSnapshot().value).toBe('said');
});

test('speaks at once when the moment has passed', async () => {
  const { rt, said } = await reminded(-5_000);
  await rt.settle();
  expect(said()).toEqual([['tea', 0]]);
});

test('can be moved, later and earlier, and cancelled', async () => {
  const { rt, reminder, said, startedAt } = await reminded(10_000);
  await rt.advance('5s');
  await reminder.send({ type: 'reminder.move', until: startedAt + 100_000 });
  await rt.advance('50s');
  expect(said()).toEqual([]);
  await reminder.send({ type: 'reminder.move', until: startedAt + 60_000 });
  await rt.advance('1m');
  expect(said()).toEqual([['tea', 60_000]]);

  const other = await reminded(10_000);
  await other.reminder.send({ type: 'reminder.cancel' });
  await other.rt.advance('1h');
  expect(other.said()).toEqual([]);
  expect(other.reminder.getSnapshot().value).toBe('cancelled');
});
