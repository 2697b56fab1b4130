/**
 * Handles: references to actors, for embedding code.
 *
 * A handle has XState's actor shape (`send`, `subscribe`, `getSnapshot`, `on`), so that
 * `waitFor` and framework bindings work on it, and its types follow from the machine.
 * It is an address with methods: it keeps nothing in memory and stays valid over
 * crashes and moves. What it shows is committed, never what a turn is about to do.
 */

import type {
  AnyActorRef,
  AnyStateMachine,
  EmittedFrom,
  EventFrom,
  EventObject,
  InputFrom,
  Readable,
  SnapshotFrom,
  Subscribable,
  Subscription,
} from 'xstate';
import { kindOf } from '../base/address.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';
import { whenAborted } from '../base/when-aborted.ts';
import { type AskOptions, abortError } from '../delivery.ts';
import type { ReplyOf, Sent } from '../machine.ts';

export interface SendOptions {
  /**
   * Makes the send repeatable: of several sends of one actor with the same id one is taken
   * (for as long as `dedupRetentionMs`). Letters, digits and `._:~-`, at most 128.
   */
  readonly id?: string;
  /**
   * Time to wait for an actor of another place. Default: the limit `sendTimeoutMs`; `Infinity` waits as long
   * as the process lives. A send within this place is never late: it is taken or refused.
   */
  readonly timeoutMs?: number;
  /** Stops waiting; the event may be taken all the same. */
  readonly signal?: AbortSignal;
}

export type { ReplyOf } from '../machine.ts';

/** An event as embedding code sends it: without what the runtime adds. */
export type EventTo<TMachine extends AnyStateMachine> = Sent<EventFrom<TMachine>>;

type Asked<TMachine extends AnyStateMachine, TType> = Extract<EventFrom<TMachine>, { type: TType }>;

export interface ActorHandle<TMachine extends AnyStateMachine = AnyStateMachine>
  extends Subscribable<SnapshotFrom<TMachine>> {
  /** The whole address. */
  readonly address: string;
  readonly id: string;
  readonly sessionId: string;
  readonly src: string;
  /** Only for XState's shape: actors here are not in a system of XState's. */
  readonly system: AnyActorRef['system'];
  /** Resolves once the turn that took the event is durable; rejects with the reason when it was not taken. */
  send(event: EventTo<TMachine>, options?: SendOptions): Promise<void>;
  /**
   * Sends an event that may be lost or give way to a newer one of its type: news, never a decision.
   * Nobody hears its outcome.
   *
   * @throws {RuntimeError} EVENT_MALFORMED, EVENT_RESERVED
   */
  hint(event: EventTo<TMachine>): void;
  /**
   * Sends an event and resolves with what the machine answers by `reply`.
   *
   * After a timeout the event may still have been taken: repeat it only if that does no harm.
   *
   * @throws {RuntimeError} ASK_TIMED_OUT when no answer comes in time.
   */
  ask<TEvent extends EventTo<TMachine> & EventObject>(
    event: TEvent,
    options?: AskOptions,
  ): Promise<ReplyOf<Asked<TMachine, TEvent['type']>>>;
  /** The last committed snapshot. @throws {RuntimeError} NOT_HOSTED for an actor of another node: use `fetchSnapshot`. */
  getSnapshot(): SnapshotFrom<TMachine>;
  /** XState's persisted snapshot of the last commit, also from another node. */
  fetchSnapshot(options?: AskOptions): Promise<unknown>;
  getPersistedSnapshot(): ReturnType<TMachine['getPersistedSnapshot']>;
  on<TType extends EmittedFrom<TMachine>['type'] | '*'>(
    type: TType,
    handler: (
      emitted: EmittedFrom<TMachine> & (TType extends '*' ? unknown : { type: TType }),
    ) => void,
  ): Subscription;
  select<TSelected>(
    selector: (snapshot: SnapshotFrom<TMachine>) => TSelected,
    equalityFn?: (a: TSelected, b: TSelected) => boolean,
  ): Readable<TSelected>;
  /** Does nothing: the runtime starts actors. */
  start(): void;
  /** Does nothing: an actor ends when its machine does. */
  stop(): void;
  [Symbol.observable](): ActorHandle<TMachine>;
}

/**
 * The input as the spawning code gives it: `at` comes from the runtime (see `Spawned` in
 * escapement/machine).
 */
export type InputTo<TMachine extends AnyStateMachine> = Given<InputFrom<TMachine>>;

type Given<TInput> = 0 extends 1 & TInput
  ? TInput
  : TInput extends { readonly at: number }
    ? Omit<TInput, 'at'>
    : TInput;

/** `input` is required exactly when the machine asks for one. */
export type SpawnOptions<TMachine extends AnyStateMachine> = {
  /** Return the handle of the actor that is there already instead of rejecting with ACTOR_EXISTS. */
  readonly ifAbsent?: boolean;
  readonly signal?: AbortSignal;
} & (undefined extends InputFrom<TMachine>
  ? { readonly input?: InputTo<TMachine> }
  : { readonly input: InputTo<TMachine> });

/** Parts of the node that a handle needs. */
export interface HandleHost {
  send(
    address: string,
    event: { readonly type: string },
    options: Pick<SendOptions, 'id' | 'timeoutMs'>,
  ): Promise<void>;
  hint(address: string, event: { readonly type: string }): void;
  ask(address: string, event: { readonly type: string }, options: AskOptions): Promise<unknown>;
  committed(address: string): unknown;
  persisted(address: string): unknown;
  fetch(address: string, options: AskOptions): Promise<unknown>;
  subscribe(address: string, observer: object): Subscription;
  on(address: string, type: string, handler: (event: never) => void): Subscription;
}

export function createHandle(address: string, host: HandleHost): ActorHandle {
  return new Handle(address, host) as unknown as ActorHandle;
}

/** The `self` of an action: it sends and goes on, so a refusal is logged and ends no process. */
export function createSelf(
  address: string,
  system: unknown,
  host: HandleHost,
  logger: Logger,
  undelivered: (to: string, event: { readonly type: string }, error: RuntimeError) => void,
): ActorHandle {
  const self = new Handle(address, host);
  const { send } = self;
  Object.defineProperty(self, 'system', { value: system });
  self.send = (event, options) => {
    const sent = send(event, options);
    sent.catch((thrown) => {
      const fields = { address, event: event?.type, error: messageOf(thrown) };
      logger.warn(fields, 'what an action sent to its own actor was refused');
      if (thrown instanceof RuntimeError && event !== undefined)
        undelivered(address, event, thrown);
    });
    return sent;
  };
  return self as unknown as ActorHandle;
}

class Handle {
  readonly address: string;
  readonly id: string;
  readonly sessionId: string;
  readonly src: string;
  readonly ref = this;
  readonly #host: HandleHost;

  constructor(address: string, host: HandleHost) {
    this.address = address;
    this.id = address;
    this.sessionId = address;
    this.src = kindOf(address);
    this.#host = host;
    // XState's actors keep working when their methods are taken off them.
    this.send = this.send.bind(this);
    // The symbol exists only where a library has defined it, as XState itself assumes.
    Object.defineProperty(this, (Symbol as { observable?: symbol }).observable ?? '@@observable', {
      value: () => this,
    });
  }

  get system(): object {
    return { get: () => undefined, getAll: () => ({}) };
  }

  send(event: { readonly type: string }, options: SendOptions = {}): Promise<void> {
    const sent = this.#host.send(this.address, event, options);
    return options.signal === undefined ? sent : abandoned(sent, options.signal);
  }

  hint(event: { readonly type: string }): void {
    this.#host.hint(this.address, event);
  }

  ask(event: { readonly type: string }, options: AskOptions = {}): Promise<unknown> {
    return this.#host.ask(this.address, event, options);
  }

  getSnapshot(): unknown {
    return this.#host.committed(this.address);
  }

  fetchSnapshot(options: AskOptions = {}): Promise<unknown> {
    return this.#host.fetch(this.address, options);
  }

  getPersistedSnapshot(): unknown {
    return this.#host.persisted(this.address);
  }

  subscribe(next: unknown, error?: unknown, complete?: unknown): Subscription {
    const observer = typeof next === 'object' && next !== null ? next : { next, error, complete };
    return this.#host.subscribe(this.address, observer);
  }

  on(type: string, handler: (event: never) => void): Subscription {
    return this.#host.on(this.address, type, handler);
  }

  select(
    selector: (snapshot: unknown) => unknown,
    isEqual: (a: unknown, b: unknown) => boolean = Object.is,
  ): object {
    return {
      get: () => selector(this.getSnapshot()),
      subscribe: (next: ((value: unknown) => void) | { next?: (value: unknown) => void }) => {
        let previous = selector(this.getSnapshot());
        const tell = typeof next === 'function' ? next : next.next?.bind(next);
        return this.subscribe((snapshot: unknown) => {
          const selected = selector(snapshot);
          if (isEqual(previous, selected)) return;
          previous = selected;
          tell?.(selected);
        });
      },
    };
  }

  start(): void {}

  stop(): void {}

  toJSON(): string {
    return this.address;
  }
}

function abandoned<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(abortError(signal));
    if (signal.aborted) aborted();
    promise.then(resolve, reject).finally(whenAborted(signal, aborted));
  });
}
