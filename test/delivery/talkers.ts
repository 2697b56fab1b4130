/**
 * Two machines for tests of delivery: one that says what it is told to say, one that
 * writes down what it heard, in which order and from whom.
 */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { hint, type Question, reply, spawnRoot, to } from '../../runtime/machine.ts';

export type SpeakerEvent =
  /** Tells each of `to` the numbers from `next` on, `count` of them, in one turn. */
  | { type: 'speak'; to: readonly string[]; count: number }
  | { type: 'speakOf'; to: string; saying: { type: string; [field: string]: unknown } }
  | { type: 'hintAt'; to: string; number: number }
  | { type: 'bear'; address: string; input?: unknown };

/** Every number it tells a receiver is one more than the last one it told that receiver. */
export const speaker = setup({
  types: {
    context: {} as { self: string; said: Record<string, number> },
    input: {} as { self: string },
    events: {} as SpeakerEvent,
  },
}).createMachine({
  id: 'speaker',
  context: ({ input }) => ({ self: input.self, said: {} }),
  on: {
    speak: {
      actions: enqueueActions(({ context, event, enqueue }) => {
        const said = { ...context.said };
        for (let round = 0; round < event.count; round += 1) {
          for (const address of event.to) {
            const number = (said[address] ?? 0) + 1;
            said[address] = number;
            enqueue.sendTo(to(address), { type: 'heard', from: context.self, number });
          }
        }
        enqueue.assign({ said });
      }),
    },
    speakOf: {
      actions: sendTo(
        ({ event }) => to(event.to),
        ({ event }) => event.saying,
      ),
    },
    hintAt: {
      actions: sendTo(
        ({ event }) => hint(event.to),
        ({ context, event }) => ({ type: 'heard', from: context.self, number: event.number }),
      ),
    },
    bear: {
      actions: spawnRoot(
        ({ event }) => event.address,
        ({ event }) => event.input,
      ),
    },
  },
});

export type ListenerEvent =
  | { type: 'heard'; from: string; number: number }
  | Question<{ type: 'count' }, number>
  | { type: 'fail' }
  | { type: 'end' };

/** What it heard, by sender; `births` says how often it was spawned since the record began. */
export const listener = setup({
  types: {
    context: {} as { heard: Record<string, number[]> },
    events: {} as ListenerEvent,
  },
}).createMachine({
  id: 'listener',
  context: { heard: {} },
  initial: 'listening',
  states: {
    listening: {
      on: {
        heard: {
          actions: assign({
            heard: ({ context: { heard }, event: { from, number } }) => ({
              ...heard,
              [from]: [...(heard[from] ?? []), number],
            }),
          }),
        },
        count: {
          actions: reply(({ context }) => Object.values(context.heard).flat().length),
        },
        fail: {
          actions: assign(() => {
            throw new Error('cannot take this');
          }),
        },
        end: 'ended',
      },
    },
    ended: { type: 'final' },
  },
});

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
