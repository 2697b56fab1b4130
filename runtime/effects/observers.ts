/**
 * Observers of actors, subscribed through handles: they see snapshots, emitted events, and the end. They are
 * called after the commit; one that throws harms nobody.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';

export interface SnapshotObserver {
  readonly next?: ((snapshot: AnyMachineSnapshot) => void) | undefined;
  readonly error?: ((error: unknown) => void) | undefined;
  readonly complete?: (() => void) | undefined;
}

interface Watch {
  readonly observers: Set<SnapshotObserver>;
  readonly listeners: Set<{
    readonly type: string;
    readonly handler: (event: EventObject) => void;
  }>;
}

export interface Subscription {
  unsubscribe(): void;
}

export class Observers {
  readonly #watches = new Map<string, Watch>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** True while nobody watches: the check of the hot path. */
  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  subscribe(address: string, observer: SnapshotObserver): Subscription {
    const watch = this.#watch(address);
    watch.observers.add(observer);
    return { unsubscribe: () => this.#drop(address, () => watch.observers.delete(observer)) };
  }

  on(address: string, type: string, handler: (event: EventObject) => void): Subscription {
    const watch = this.#watch(address);
    const listener = { type, handler };
    watch.listeners.add(listener);
    return { unsubscribe: () => this.#drop(address, () => watch.listeners.delete(listener)) };
  }

  /** A committed snapshot; the last one when the actor has ended. */
  committed(
    address: string,
    snapshot: AnyMachineSnapshot,
    end: 'done' | 'stopped' | undefined,
    error?: unknown,
  ): void {
    const watch = this.#watches.get(address);
    if (watch === undefined) return;
    for (const observer of watch.observers) {
      this.#call(address, () => observer.next?.(snapshot));
      // It may have unsubscribed in its own callback.
      if (!watch.observers.has(observer)) continue;
      if (end === 'done') this.#call(address, () => observer.complete?.());
      if (end === 'stopped') this.#call(address, () => observer.error?.(error));
    }
    if (end !== undefined) this.#watches.delete(address);
  }

  /** Tells an observer that comes after the end; `error` is given when the actor was stopped. */
  tellEnd(address: string, observer: SnapshotObserver, error: Error | undefined): void {
    this.#call(address, () =>
      error === undefined ? observer.complete?.() : observer.error?.(error),
    );
  }

  /** Hands a snapshot to an observer that has just begun to watch, once its `subscribe` has returned. */
  tell(address: string, observer: SnapshotObserver, snapshot: AnyMachineSnapshot): void {
    queueMicrotask(() => {
      if (this.#watches.get(address)?.observers.has(observer) === true)
        this.#call(address, () => observer.next?.(snapshot));
    });
  }

  /** Ends the observers of an actor with an error: they hear nothing more of it. */
  failed(address: string, error: Error): void {
    const watch = this.#watches.get(address);
    this.#watches.delete(address);
    for (const observer of watch?.observers ?? [])
      this.#call(address, () => observer.error?.(error));
  }

  /** True while somebody watches the snapshots of this actor. */
  has(address: string): boolean {
    return (this.#watches.get(address)?.observers.size ?? 0) > 0;
  }

  /** The actors whose snapshots somebody watches. */
  addresses(): readonly string[] {
    return [...this.#watches.keys()].filter((address) => this.has(address));
  }

  emitted(address: string, event: EventObject): void {
    for (const { type, handler } of this.#watches.get(address)?.listeners ?? []) {
      if (type === event.type || type === '*') this.#call(address, () => handler(event));
    }
  }

  #watch(address: string): Watch {
    const watch = this.#watches.get(address) ?? { observers: new Set(), listeners: new Set() };
    this.#watches.set(address, watch);
    return watch;
  }

  #drop(address: string, drop: () => void): void {
    drop();
    const watch = this.#watches.get(address);
    if (watch !== undefined && watch.observers.size + watch.listeners.size === 0)
      this.#watches.delete(address);
  }

  #call(address: string, call: () => void): void {
    try {
      call();
    } catch (thrown) {
      this.#logger.error({ address, error: messageOf(thrown) }, 'an observer threw');
    }
  }
}
