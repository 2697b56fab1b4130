/**
 * Imports for authors of machines, beside xstate: addresses as targets, best-effort sends, answers, spawns of
 * other actors, and the time that comes on every event.
 *
 *   sendTo(to('order/42@shop'), { type: 'order.cancel' })       kept until it has arrived
 *   sendTo(hint('board/main@office'), { type: 'share.done' })   may be lost or coalesced
 *   reply(({ context }) => context.total)                       the answer to an `ask`
 *   answer(({ context }) => context.askedBy, () => 'done')      the same, in a later turn
 *   spawnRoot('mail/42', ({ context }) => ({ to: context.to })) an actor of its own
 *   Table.of<Item>()                                            rows of a context that are stored one by one
 *
 * Everything here is plain data and pure functions: a machine that uses it still
 * runs under XState's own `createActor`, where a foreign target goes nowhere.
 */

import type {
  ActionArgs,
  ActionFunction,
  ActorRef,
  AnyActorRef,
  EventObject,
  MachineContext,
  ParameterizedObject,
} from 'xstate';
import * as XState from 'xstate';
import type { ErrorCode } from './base/errors.ts';
import { REPLY_EVENT, ROUTE_EVENT, SPAWN_EVENT } from './base/event-types.ts';

export { Table } from './base/table.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { sendTo } = XState;

/** An event as a machine takes it: the runtime adds the time, a machine never reads a clock. */
export type Timed<TEvent extends EventObject> = TEvent & {
  /** Time when the turn began, in ms since the epoch of this node; never goes back. */
  readonly at: number;
  /** Moment that the timer of this event was armed for, which is `at` or earlier. */
  readonly dueAt?: number;
  /**
   * For a message of another node that had waited before it was sent, because nobody was there or a copy
   * was lost: for how long. What it says, durations above all, is as old as that. Left out for less than 100 ms.
   */
  readonly ageMs?: number;
};

/**
 * Event that a machine with a transition for it takes when a receiver refused one of its messages
 * for good: nobody of that address, no such event, a sender it does not take. Without a transition
 * the message is undelivered. Nobody else can send it.
 */
export type MessageRefused = Timed<{
  readonly type: 'message.refused';
  /** Address that the message was for. */
  readonly to: string;
  /** The message as it was sent; a spawn has the type `escapement.spawn` and the `input`. */
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  readonly code: ErrorCode;
}>;

/** An address as a target that XState accepts. */
// biome-ignore lint/suspicious/noExplicitAny: a target has no snapshot and emits nothing here.
export type Target<TEvent extends EventObject> = ActorRef<any, Sent<TEvent>, any>;

/** An action that needs nothing of the machine's `setup`: it fits wherever an action may stand. */
type PlainAction<
  TContext extends MachineContext,
  TExpressionEvent extends EventObject,
  TParams extends ParameterizedObject['params'] | undefined,
  TEvent extends EventObject,
> = ActionFunction<TContext, TExpressionEvent, TEvent, TParams, never, never, never, never, never>;

/** Address that an answer goes to; the type says what the answer is. Set by `ask`, read by `reply`. */
export type ReplyAddress<TReply> = string & { readonly __reply?: TReply };

/** An event that is answered: `Question<{ type: 'order.quote' }, number>` makes `ask` resolve with a number. */
export type Question<TEvent extends EventObject, TReply> = TEvent & {
  readonly replyTo?: ReplyAddress<TReply>;
};

/** Type of the answer to an event, as its type declares; `unknown` where it declares none. */
export type ReplyOf<TEvent> = TEvent extends { readonly replyTo?: ReplyAddress<infer TReply> }
  ? TReply
  : unknown;

/** An event as its sender writes it: what the runtime adds (`at`, `dueAt`, `ageMs`, `replyTo`) is left out. */
export type Sent<TEvent> = 0 extends 1 & TEvent
  ? TEvent
  : TEvent extends unknown
    ? {
        [key in keyof TEvent as key extends 'at' | 'dueAt' | 'ageMs' | 'replyTo'
          ? never
          : key]: TEvent[key];
      }
    : never;

/** The input as a machine takes it: `at` is the moment of the spawn (not enumerable, so a spread leaves it out). */
export type Spawned<TInput> = TInput & { readonly at: number };

export { REPLY_EVENT, ROUTE_EVENT, SPAWN_EVENT };

/** A target outside the actor's own tree. XState takes it for an actor; the runtime reads its address. */
export class AddressRef {
  readonly id: string;
  readonly sessionId: string;
  readonly address: string;
  readonly isHint: boolean;

  constructor(address: string, isHint: boolean) {
    this.id = address;
    this.sessionId = address;
    this.address = address;
    this.isHint = isHint;
  }

  /** Does nothing: under plain `createActor` there is nobody at an address. */
  _send(): void {}

  toJSON(): string {
    return this.address;
  }
}

/**
 * `address`: `kind/key@place`, or `kind/key` for the sender's own place. Delivered once, retried until it is.
 * With a type, `to<OrderEvent>('order/42')`, what is sent there is checked.
 */
// biome-ignore lint/suspicious/noExplicitAny: without a type, any event may be sent there.
export function to<TEvent extends EventObject = any>(address: string): Target<TEvent> {
  return new AddressRef(address, false) as unknown as Target<TEvent>;
}

/** Like `to`, but best effort: the message may be dropped or replaced by a newer one of its type. Never for decisions. */
// biome-ignore lint/suspicious/noExplicitAny: without a type, any event may be sent there.
export function hint<TEvent extends EventObject = any>(address: string): Target<TEvent> {
  return new AddressRef(address, true) as unknown as Target<TEvent>;
}

/**
 * Answers the `ask` that the current event came from; does nothing for an event that nobody waits on.
 * The answer leaves after the turn is committed. Where the event is a `Question`, the answer is checked.
 */
export function reply<
  TContext extends MachineContext,
  TExpressionEvent extends EventObject,
  TParams extends ParameterizedObject['params'] | undefined,
  TEvent extends EventObject,
>(
  value: (
    args: ActionArgs<TContext, TExpressionEvent, TEvent>,
    params: TParams,
  ) => ReplyOf<TExpressionEvent>,
): PlainAction<TContext, TExpressionEvent, TParams, TEvent> {
  return answer(({ event }) => (event as { replyTo?: string }).replyTo, value);
}

/**
 * Answers an `ask` whose `replyTo` was kept from an earlier event; does nothing for an empty or a
 * missing one. The asker may be gone: for those that may wait long, ask with a long `timeoutMs`.
 */
export function answer<
  TContext extends MachineContext,
  TExpressionEvent extends EventObject,
  TParams extends ParameterizedObject['params'] | undefined,
  TEvent extends EventObject,
  TReply = unknown,
>(
  replyTo: (
    args: ActionArgs<TContext, TExpressionEvent, TEvent>,
    params: TParams,
  ) => ReplyAddress<TReply> | undefined,
  value: (args: ActionArgs<TContext, TExpressionEvent, TEvent>, params: TParams) => TReply,
): PlainAction<TContext, TExpressionEvent, TParams, TEvent> {
  return sendTo(
    (args, params): AnyActorRef => to(replyTo(args, params) ?? ''),
    (args, params) => ({ type: REPLY_EVENT, value: value(args, params) }),
  );
}

/**
 * Spawns a root actor with an address of its own; its kind must be registered where it lives.
 * Unlike `spawnChild` it is stored, fails and scales alone. If it is alive already, nothing happens.
 */
export function spawnRoot<
  TContext extends MachineContext,
  TExpressionEvent extends EventObject,
  TParams extends ParameterizedObject['params'] | undefined,
  TEvent extends EventObject,
>(
  address:
    | string
    | ((args: ActionArgs<TContext, TExpressionEvent, TEvent>, params: TParams) => string),
  input?: (args: ActionArgs<TContext, TExpressionEvent, TEvent>, params: TParams) => unknown,
): PlainAction<TContext, TExpressionEvent, TParams, TEvent> {
  return sendTo(
    (args, params): AnyActorRef =>
      to(typeof address === 'function' ? address(args, params) : address),
    (args, params) => ({ type: SPAWN_EVENT, input: input?.(args, params) }),
  );
}
