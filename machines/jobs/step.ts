/**
 * Step: the effect of one event on an actor, as plain data: what it remembers then, what it says to
 * whom, what it notes.
 *
 * Where an event concerns a number of others that only the context knows, a machine works out a
 * step with a pure function and carries it out in one action.
 */

import {
  type ActionArgs,
  assertEvent,
  type EventObject,
  type ExtractEvent,
  enqueueActions,
  type MachineContext,
  type ParameterizedObject,
} from 'xstate';
import { hint, REPLY_EVENT, to } from '../../runtime/machine.ts';
import type { LogEvent } from './log-events.ts';

export interface Saying {
  readonly to: string;
  readonly event: { readonly type: string };
  /** Best effort. */
  readonly isHint?: boolean;
}

export interface Step<TContext> {
  readonly next?: Partial<TContext>;
  readonly says?: readonly Saying[];
  readonly notes?: readonly LogEvent[];
}

/** The part of XState's `enqueue` that a step needs. */
interface Enqueue<TContext> {
  // biome-ignore lint/suspicious/noExplicitAny: a step fits any machine whose `note` is a named action.
  (action: any): void;
  assign(next: Partial<TContext>): void;
  // biome-ignore lint/suspicious/noExplicitAny: targets are addresses.
  sendTo(target: any, event: any): void;
}

export function carryOut<TContext>(
  enqueue: Enqueue<TContext>,
  { next, says = [], notes = [] }: Step<TContext>,
): void {
  if (next !== undefined) enqueue.assign(next);
  for (const { to: address, event, isHint } of says)
    enqueue.sendTo(isHint === true ? hint(address) : to(address), event);
  for (const params of notes) enqueue({ type: 'note', params });
}

type Params = ParameterizedObject['params'] | string;

/** Actions of a machine that carry out steps; each function of a step is handed to one of them. */
export function stepActions<
  TContext extends MachineContext,
  TEvent extends EventObject & { readonly at: number },
>() {
  // Without XState's markers of what else a machine has, which it would take for all there is.
  type Carried<TParams> = (args: ActionArgs<TContext, TEvent, TEvent>, params: TParams) => void;
  return {
    /** Step of one event, or of one of several. @throws {Error} in the turn, for an event of another type. */
    on: <TType extends TEvent['type'], TParams extends Params = undefined>(
      types: TType | readonly TType[],
      step: (
        context: TContext,
        event: ExtractEvent<TEvent, TType>,
        params: TParams,
      ) => Step<TContext>,
    ): Carried<TParams> =>
      enqueueActions(({ context, event, enqueue }, params) => {
        assertEvent(event, types);
        carryOut(enqueue, step(context, event as ExtractEvent<TEvent, TType>, params));
      }),
    /** Step of any event, at its moment. */
    at: <TParams extends Params = undefined>(
      step: (context: TContext, at: number, params: TParams) => Step<TContext>,
    ): Carried<TParams> =>
      enqueueActions(({ context, event, enqueue }, params) => {
        carryOut(enqueue, step(context, event.at, params));
      }),
  };
}

/** The answer to a question whose `replyTo` was kept; nobody may be there to hear it. */
export function answering(replyTo: string | undefined, value: unknown): readonly Saying[] {
  if (replyTo === undefined || replyTo === '') return [];
  return [{ to: replyTo, event: { type: REPLY_EVENT, value } as { type: string } }];
}
