/**
 * Step: the effect of one event on an actor, as plain data: what it remembers then, what it says to
 * whom, what it notes.
 *
 * Where an event concerns a number of others that only the context knows, a machine works out a
 * step with a pure function and carries it out in one action.
 */

import type { EventObject, MachineContext } from 'xstate';
import { hint, REPLY_EVENT, to } from '../../runtime/machine.ts';
import { type Enqueue, stepActions as stepActionsBy } from '../given.ts';
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

export function carryOut<TContext>(
  enqueue: Enqueue<TContext>,
  { next, says = [], notes = [] }: Step<TContext>,
): void {
  if (next !== undefined) enqueue.assign(next);
  for (const { to: address, event, isHint } of says)
    enqueue.sendTo(isHint === true ? hint(address) : to(address), event);
  for (const params of notes) enqueue({ type: 'note', params });
}

/** Actions that carry out steps, of one event (`on`) or of any at its moment (`at`). */
export const stepActions = <
  TContext extends MachineContext,
  TEvent extends EventObject & { readonly at: number },
>() =>
  stepActionsBy<TContext, TEvent, Step<TContext>>((step, { enqueue }) => carryOut(enqueue, step));

/** The answer to a question whose `replyTo` was kept; nobody may be there to hear it. */
export function answering(replyTo: string | undefined, value: unknown): readonly Saying[] {
  if (replyTo === undefined || replyTo === '') return [];
  return [{ to: replyTo, event: { type: REPLY_EVENT, value } as { type: string } }];
}
