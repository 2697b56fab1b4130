/**
 * References to actors of one tree, in contexts and in input, stored and found again.
 *
 * XState stores a reference as the id of a child and looks for it among the machine's own
 * children. Here it is stored with its session number as well, so that a parent, a sibling or the
 * root is found too, and a child that took the id of an earlier one is not taken for it. A
 * reference to a child that is gone stays one: what is sent there is dropped, as XState does while
 * the actor is in memory, and does not come back to its sender.
 */

import { unwatched } from './xstate-refusals.ts';

/** A reference as it is stored; without `session` by an earlier release, or to an actor of another tree. */
interface StoredRef {
  readonly xstate$$type: 1;
  readonly id: string;
  readonly session?: number;
}

/** Place where a stored reference stood: what it means is known once the whole tree is there. */
export interface PendingRef {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly stored: StoredRef;
  /** The children of the machine whose context it stood in. */
  readonly siblings: Readonly<Record<string, unknown>>;
}

/** Part of XState's Actor that is touched where it is watched (private). */
interface Watched {
  readonly id: string;
  readonly _syncSnapshot?: boolean;
  readonly _processingStatus?: number;
}

/** Children whose parents hear of their snapshots: XState subscribes to each of them once, as it starts. */
const synced = new WeakSet<object>();

function refuseWatch(this: Watched, ...observer: unknown[]): unknown {
  if (this._syncSnapshot !== true || this._processingStatus !== 0 || synced.has(this))
    throw unwatched(this.id);
  synced.add(this);
  const { subscribe } = Object.getPrototypeOf(this) as {
    subscribe(...observer: unknown[]): unknown;
  };
  return subscribe.apply(this, observer);
}

function refuseListener(this: Watched): never {
  throw unwatched(this.id);
}

/** Members that references inside an actor refuse. */
export const UNWATCHED: PropertyDescriptorMap = {
  subscribe: { value: refuseWatch },
  on: { value: refuseListener },
};

/** A child that is gone, as seen by code that kept a reference to it. */
export class GoneRef {
  readonly id: string;
  readonly sessionId: string;
  readonly ref = this;
  readonly system: object;

  constructor(id: string, session: number, system: object) {
    this.id = id;
    this.sessionId = String(session);
    this.system = system;
  }

  getSnapshot(): object {
    return { status: 'stopped', output: undefined, error: undefined };
  }

  /** Nobody is there, as with a stopped actor of XState. */
  send(): void {}

  _send(): void {}

  toJSON(): unknown {
    return storedRef(this.id, this.sessionId);
  }
}

Object.defineProperties(GoneRef.prototype, UNWATCHED);

/** An actor of another tree, or nobody knows whose: what is sent there is refused, never dropped. */
export class ForeignRef {
  readonly id: string;
  readonly sessionId: string;

  constructor(id: string) {
    this.id = id;
    this.sessionId = id;
  }

  toJSON(): unknown {
    return { xstate$$type: 1, id: this.id };
  }
}

export function storedRef(id: string, sessionId: string): StoredRef {
  return { xstate$$type: 1, id, session: Number(sessionId) };
}

/** The same value with every reference in its stored form; the value itself where it holds none. */
export function withStoredRefs<T>(value: T): T {
  if (!isObject(value)) return value;
  if (isRef(value)) return value.toJSON() as T;
  let copy: Record<string, unknown> | undefined;
  for (const [key, part] of Object.entries(value)) {
    const stored = withStoredRefs(part);
    if (stored === part) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = stored;
  }
  return (copy ?? value) as T;
}

/** Takes every stored reference out of a value that was read; it is put back by `reviveRef`. */
export function takeRefs(
  value: unknown,
  siblings: PendingRef['siblings'],
  pending: PendingRef[],
): void {
  if (!isObject(value)) return;
  for (const [key, part] of Object.entries(value)) {
    if (!isStoredRef(part)) takeRefs(part, siblings, pending);
    else {
      value[key] = null;
      pending.push({ holder: value, key, stored: part, siblings });
    }
  }
}

function isRef(value: object): value is { toJSON(): unknown } {
  return 'sessionId' in value && 'toJSON' in value && ('_send' in value || 'ref' in value);
}

function isStoredRef(value: unknown): value is StoredRef {
  return isObject(value) && value.xstate$$type === 1 && typeof value.id === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
