/**
 * Types of machines that keep questions and hear of refusals, as the compiler sees them. Nothing here runs:
 * `tsc` fails when something that must compile does not, or when something that must not does.
 */

import { expectTypeOf } from 'vitest';
import { assign, setup } from 'xstate';
import type { RuntimeError } from '../index.ts';
import {
  answer,
  type MessageRefused,
  type Question,
  type ReplyAddress,
  type Timed,
} from '../runtime/machine.ts';

type OrderEvent =
  | Timed<{ type: 'order.paid'; by: string }>
  | Question<{ type: 'order.quote' }, number>;

/** An answer that is given later is checked where its address says what it is. */
export function answeringMachine() {
  type Refused = Extract<MessageRefused, { type: 'message.refused' }>;
  expectTypeOf<Refused['event']['type']>().toEqualTypeOf<string>();
  expectTypeOf<Refused['code']>().toEqualTypeOf<RuntimeError['code']>();
  return setup({
    types: {
      context: {} as { asked?: ReplyAddress<number>; text: string },
      events: {} as OrderEvent | MessageRefused,
    },
  }).createMachine({
    context: { text: '' },
    initial: 'right',
    states: {
      right: {
        on: {
          'order.quote': { actions: assign({ asked: ({ event }) => event.replyTo }) },
          'order.paid': {
            actions: [
              answer(
                ({ context }) => context.asked,
                ({ event }) => event.by.length,
              ),
              // A text says nothing of what is answered.
              answer(
                ({ context }) => context.text,
                () => ({ anything: true }),
              ),
            ],
          },
          'message.refused': {
            actions: assign({ text: ({ event }) => `${event.to} ${event.code} ${event.at}` }),
          },
        },
      },
      wrong: {
        on: {
          'order.paid': {
            actions: answer(
              ({ context }) => context.asked,
              // @ts-expect-error: the question declares a number.
              ({ event }) => event.by,
            ),
          },
        },
      },
    },
  });
}
