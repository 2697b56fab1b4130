/**
 * Assignments and other functions of a machine that know which event they are about.
 *
 *   const { given, keep } = givenEvents<OrderContext, OrderEvent>();
 *   keepAmount: keep('order.paid', ({ event }) => ({ amount: event.amount }))
 *
 * For an event of another type they throw in the turn.
 */

import {
  type ActionArgs,
  assertEvent,
  assign,
  type EventObject,
  type ExtractEvent,
  type MachineContext,
} from 'xstate';

interface Args<TContext, TEvent> {
  readonly context: TContext;
  readonly event: TEvent;
}

export function givenEvents<TContext extends MachineContext, TEvent extends EventObject>() {
  // Without XState's markers of what else a machine has, which it would take for all there is.
  type Assigned<TParams> = (args: ActionArgs<TContext, TEvent, TEvent>, params: TParams) => void;
  /** A function of one event, or of one of several. */
  const given =
    <TType extends TEvent['type'], TResult, TParams = undefined>(
      types: TType | readonly TType[],
      read: (args: Args<TContext, ExtractEvent<TEvent, TType>>, params: TParams) => TResult,
    ) =>
    ({ context, event }: Args<TContext, TEvent>, params: TParams): TResult => {
      assertEvent(event, types);
      return read({ context, event: event as ExtractEvent<TEvent, TType> }, params);
    };
  /** What the context keeps of it. */
  const keep = <TType extends TEvent['type'], TParams = undefined>(
    types: TType | readonly TType[],
    read: (args: Args<TContext, ExtractEvent<TEvent, TType>>, params: TParams) => Partial<TContext>,
  ): Assigned<TParams> => assign(given(types, read) as never) as never;
  return { given, keep };
}
