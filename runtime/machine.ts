/**
 * What authors of machines import beside xstate: addresses as targets, best-effort
 * sends, answers, births of other actors, and the time that comes on every event.
 *
 *   sendTo(to('job/j1@A'), { type: 'job.cancel' })              kept until it has arrived
 *   sendTo(hint('gate-job/j1@gate'), { type: 'progress.made' }) may be lost or coalesced
 *   reply(({ context }) => context.total)                       the answer to an `ask`
 *   spawnRoot('mail/42', ({ context }) => ({ to: context.to })) an actor of its own
 *
 * Everything here is plain data and pure functions: a machine that uses it still
 * runs under XState's own `createActor`, where a foreign target goes nowhere.
 */

import { type AnyActorRef, type EventObject, sendTo } from 'xstate';

/** An event as a machine takes it: the runtime adds the time, a machine never reads a clock. */
export type Timed<TEvent extends EventObject> = TEvent & {
  /** When the turn began, in ms since the epoch of this node; never goes back. */
  readonly at: number;
  /** For a timer's event: the moment the timer was armed for, which is `at` or earlier. */
  readonly dueAt?: number;
};

/** Where an answer goes; the type says what the answer is. Set by `ask`, read by `reply`. */
export type ReplyAddress<TReply> = string & { readonly __reply?: TReply };

/** An event that is answered: `Question<{ type: 'order.quote' }, number>` makes `ask` resolve with a number. */
export type Question<TEvent extends EventObject, TReply> = TEvent & {
  readonly replyTo?: ReplyAddress<TReply>;
};

/** The input as a machine takes it: `at` is the moment of birth (not enumerable, so a spread leaves it out). */
export type Born<TInput> = TInput & { readonly at: number };

/** The event type that gives birth to the actor it is addressed to. */
export const SPAWN_EVENT = 'escapement.spawn';
/** The event type that carries an answer back to whoever asked. */
export const REPLY_EVENT = 'escapement.reply';

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

  /** Under plain `createActor` there is nobody at an address. */
  _send(): void {}

  toJSON(): string {
    return this.address;
  }
}

type ActionArgs = { readonly context: unknown; readonly event: EventObject };

/** `address`: `kind/key@place`, or `kind/key` for the sender's own place. Delivered once, retried until it is. */
export function to(address: string): AnyActorRef {
  return new AddressRef(address, false) as unknown as AnyActorRef;
}

/** Like `to`, but best effort: the message may be dropped or replaced by a newer one of its type. Never for decisions. */
export function hint(address: string): AnyActorRef {
  return new AddressRef(address, true) as unknown as AnyActorRef;
}

/** An action for any machine: XState's type parameters say nothing about these two. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
type AnyAction = any;

/**
 * Answers the `ask` that the current event came from; does nothing for an event that nobody waits on.
 * The answer leaves after the turn is committed.
 */
export function reply<TArgs = ActionArgs>(answer: (args: TArgs) => unknown): AnyAction {
  return sendTo(
    ({ event }: ActionArgs) => to((event as { replyTo?: string }).replyTo ?? ''),
    (args: unknown) => ({ type: REPLY_EVENT, value: answer(args as TArgs) }) as EventObject,
  );
}

/**
 * Gives birth to a root actor with an address of its own; its kind must be registered where it lives.
 * Unlike `spawnChild` it is stored, fails and scales alone. If it is alive already, nothing happens.
 */
export function spawnRoot<TArgs = ActionArgs>(
  address: string | ((args: TArgs) => string),
  input?: (args: TArgs) => unknown,
): AnyAction {
  return sendTo(
    (args: unknown) => to(typeof address === 'function' ? address(args as TArgs) : address),
    (args: unknown) => ({ type: SPAWN_EVENT, input: input?.(args as TArgs) }) as EventObject,
  );
}
