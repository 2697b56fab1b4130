/**
 * Actions and other functions of a machine that know which event they are about.
 *
 *   const { given, keep, doing } = givenEvents<OrderContext, OrderEvent>();
 *   keepAmount: keep('order.paid', ({ event }) => ({ amount: event.amount }))
 *   ship: doing('order.paid', ({ event, enqueue }) => enqueue.sendTo(to(event.depot), { type: 'ship' }))
 *
 * For an event of another type they throw in the turn. `stepActions` makes actions of a machine's steps: what one
 * event does to an actor, as plain data that a pure function has worked out.
 */

import {
  type ActionArgs,
  assertEvent,
  assign,
  type EventObject,
  type ExtractEvent,
  enqueueActions,
  type MachineContext,
  type ParameterizedObject,
} from 'xstate';

interface Args<TContext, TEvent> {
  readonly context: TContext;
  readonly event: TEvent;
}

/** The part of XState's `enqueue` that is used with it. */
export interface Enqueue<TContext> {
  // biome-ignore lint/suspicious/noExplicitAny: named actions of any machine.
  (action: any): void;
  assign(next: Partial<TContext>): void;
  // biome-ignore lint/suspicious/noExplicitAny: targets are addresses.
  sendTo(target: any, event: any): void;
}

interface DoingArgs<TContext, TEvent> extends Args<TContext, TEvent> {
  readonly enqueue: Enqueue<TContext>;
}

type Params = ParameterizedObject['params'] | string;

// Without XState's markers of what else a machine has, which it would take for all there is.
type Action<TContext extends MachineContext, TEvent extends EventObject, TParams> = (
  args: ActionArgs<TContext, TEvent, TEvent>,
  params: TParams,
) => void;

const acting = <TContext extends MachineContext, TEvent extends EventObject, TParams>(
  act: (args: DoingArgs<TContext, TEvent>, params: TParams) => void,
): Action<TContext, TEvent, TParams> =>
  enqueueActions((args, params) => act(args as never, params as never)) as never;

export function givenEvents<TContext extends MachineContext, TEvent extends EventObject>() {
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
  ): Action<TContext, TEvent, TParams> => assign(given(types, read) as never) as never;
  /** What it does: assignments, messages and other actions, in order. */
  const doing = <TType extends TEvent['type'], TParams extends Params = undefined>(
    types: TType | readonly TType[],
    act: (args: DoingArgs<TContext, ExtractEvent<TEvent, TType>>, params: TParams) => void,
  ): Action<TContext, TEvent, TParams> =>
    acting((args, params) => {
      assertEvent(args.event, types);
      act(args as never, params);
    });
  return { given, keep, doing };
}

/** Actions of a machine that carry out steps; each function of a step is handed to one of them. */
export function stepActions<
  TContext extends MachineContext,
  TEvent extends EventObject & { readonly at: number },
  TStep,
>(carryOut: (step: TStep, args: DoingArgs<TContext, TEvent>) => void) {
  return {
    /** Step of one event, or of one of several. @throws {Error} in the turn, for an event of another type. */
    on: <TType extends TEvent['type'], TParams extends Params = undefined>(
      types: TType | readonly TType[],
      step: (context: TContext, event: ExtractEvent<TEvent, TType>, params: TParams) => TStep,
    ): Action<TContext, TEvent, TParams> =>
      acting((args, params) => {
        const { context, event } = args;
        assertEvent(event, types);
        carryOut(step(context, event as ExtractEvent<TEvent, TType>, params), args);
      }),
    /** Step of any event, at its moment. */
    at: <TParams extends Params = undefined>(
      step: (context: TContext, at: number, params: TParams) => TStep,
    ): Action<TContext, TEvent, TParams> =>
      acting((args, params) => carryOut(step(args.context, args.event.at, params), args)),
  };
}
