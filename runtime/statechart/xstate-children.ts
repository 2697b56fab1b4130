/**
 * Children of one tree that are alive, with their session numbers and system ids.
 *
 * Session numbers are counted, stored and never used twice, so that a result or a
 * deadline of an earlier child reaches nobody. Machines know a child by its id, which
 * is taken again when a state is entered again; the runtime knows it by its session.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { ActionRunArgs } from './effect.ts';
import { ForeignRef, GoneRef, type PendingRef, storedRef, UNWATCHED } from './xstate-refs.ts';

/** XState's ProcessingStatus (private). */
export const RUNNING = 1;
export const STOPPED = 2;

export interface AnyRef {
  readonly sessionId: string;
}

/** An action as XState hands it to its executor (private). */
export interface ResolvedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: ActionRunArgs;
  readonly exec: ((info: unknown, params: unknown) => void) | undefined;
}

/** Part of XState's Actor that is touched (private). */
export interface ChildActor {
  readonly id: string;
  readonly src: unknown;
  readonly systemId?: string | undefined;
  readonly _parent: Parent;
  readonly system: RootSystem;
  readonly _deferred: Array<() => void>;
  readonly _actorScope: {
    sessionId: string;
    emit: (event: EventObject) => void;
    logger: (...args: unknown[]) => void;
    actionExecutor: (action: ResolvedAction) => void;
  };
  sessionId: string;
  logger: unknown;
  toJSON: () => unknown;
  /** Set by us: it runs, but another child has taken its id, so that its parent's snapshot does not show it. */
  isShadowed?: boolean;
  logic: object;
  _processingStatus: number;
  _send(event: object): void;
  _stop(): void;
  getPersistedSnapshot(): object;
  getSnapshot(): {
    readonly status: string;
    readonly input?: unknown;
    readonly children?: Readonly<Record<string, unknown>>;
  };
}

/** The tree whose root it is. */
export interface Root {
  readonly snapshot: AnyMachineSnapshot;
  /** Takes an event into the root's mailbox. */
  receive(event: EventObject): void;
}

interface RootSystem {
  readonly root: Root;
  get(systemId: string): unknown;
  getAll(): object;
  _relay(source: unknown, target: unknown, event: EventObject): void;
}

/** The root as machines and children see it: `self`, and the `_parent` of first-level children. */
export class RootRef {
  readonly id: string;
  readonly sessionId = '0';
  readonly ref = this;
  readonly system: RootSystem;

  constructor(id: string, system: RootSystem) {
    this.id = id;
    this.system = system;
  }

  getSnapshot(): AnyMachineSnapshot {
    return this.system.root.snapshot;
  }

  send(event: EventObject): void {
    this.system._relay(undefined, this, event);
  }

  _send(event: EventObject): void {
    this.system.root.receive(event);
  }

  toJSON(): unknown {
    return storedRef(this.id, this.sessionId);
  }
}

Object.defineProperties(RootRef.prototype, UNWATCHED);

/** Parent of children: another child, or the root, which has no status and no parent. */
type Parent = Pick<ChildActor, 'getSnapshot'> & Partial<ChildActor>;

export class ChildTable {
  /** Machine children and stand-ins; undefined while there are none. */
  bySession: Map<number, ChildActor> | undefined;
  /** The last number given away, to a child or to a deadline without an id. */
  booked = 0;
  /** Session numbers by path while a record is restored; nothing is asked for meanwhile. */
  restoring: Readonly<Record<string, number>> | undefined;
  /** References read with the record, until everybody they may mean is there. */
  pendingRefs: PendingRef[] = [];
  /** The number of the shadowed child that is being built from its record. */
  shadowSession: number | undefined;
  #bySystemId: Map<string, AnyRef> | undefined;
  #bookedBefore = 0;
  #wasEmpty: boolean = true;

  /** Notes the state before a step. */
  mark(): void {
    this.#bookedBefore = this.booked;
    this.#wasEmpty = this.bySession === undefined;
  }

  /** Rolls back a step that failed: what happened to children cannot be taken back, their spawning can. */
  rollBack(): void {
    if (!this.#wasEmpty) {
      // Even if none is left: they are part of what has to be restored.
      this.bySession ??= new Map();
      return;
    }
    this.bySession = undefined;
    this.#bySystemId = undefined;
    this.booked = this.#bookedBefore;
  }

  /** The id of the next child unless it has one of its own; no number, so that children keep their order. */
  get nextId(): string {
    return `x:${this.booked + 1}`;
  }

  bookId(): string {
    const id = this.nextId;
    if (this.restoring === undefined) this.booked += 1;
    return id;
  }

  /** Gives a child that was just built its number: a new one, or the one in the record. */
  add(child: ChildActor): void {
    Object.defineProperties(child, UNWATCHED);
    const { shadowSession } = this;
    this.shadowSession = undefined;
    if (shadowSession !== undefined) {
      child.isShadowed = true;
      this.#seat(child, shadowSession);
    } else
      this.#seat(child, this.restoring === undefined ? this.booked : this.#storedSession(child));
  }

  hasRoom(childrenMax: number): boolean {
    if ((this.bySession?.size ?? 0) >= childrenMax) this.dropStopped();
    return (this.bySession?.size ?? 0) < childrenMax;
  }

  dropStopped(): void {
    for (const [session, child] of this.bySession ?? []) {
      if (child._processingStatus === STOPPED) this.bySession?.delete(session);
    }
    if (this.bySession?.size === 0) this.bySession = undefined;
  }

  /**
   * After a step, only children of living parents stay alive; XState leaves them running when a parent
   * fails. Where an id was given away twice, both children run, as in XState, and both are stored.
   */
  sweep(): void {
    let lost = this.#findLost();
    while (lost !== undefined) {
      lost._stop();
      lost = this.#findLost();
    }
    for (const child of this.bySession?.values() ?? []) {
      // Built but never started, because the step went on without it.
      if (child._processingStatus !== RUNNING) this.#end(child);
      else if (!isShown(child)) child.isShadowed = true;
    }
    this.dropStopped();
  }

  /** Children that run go on under their numbers; those that had ended must not queue events for ever. */
  finishRestore(root: RootRef): void {
    for (const pending of this.pendingRefs) this.#reviveRef(pending, root);
    this.pendingRefs = [];
    for (const [session, child] of [...(this.bySession ?? [])]) {
      if (child._processingStatus !== RUNNING) {
        this.#end(child);
      } else if (session < 0) {
        this.bySession?.delete(session);
        this.booked += 1;
        this.#seat(child, this.booked);
      }
    }
    this.dropStopped();
    this.restoring = undefined;
    // In the order in which they were born, in which they end when their parent does.
    const born = [...(this.bySession ?? [])].sort(([one], [other]) => one - other);
    if (born.length > 0) this.bySession = new Map(born);
    for (const [, child] of born) if (child.systemId) this.register(child.systemId, child);
  }

  #reviveRef({ holder, key, stored, siblings }: PendingRef, root: RootRef): void {
    const { id, session } = stored;
    const own = Object.hasOwn(siblings, id) ? (siblings[id] as ChildActor) : undefined;
    // An ended child has no number any more, but its parent may still show it.
    const isOwn = own !== undefined && (session === undefined || own._processingStatus !== RUNNING);
    const isRoot = session === 0 || (session === undefined && id === root.id);
    const member = session === undefined ? undefined : this.bySession?.get(session);
    if (isRoot) holder[key] = root;
    else if (member?._processingStatus === RUNNING) holder[key] = member;
    else if (isOwn) {
      if (session !== undefined) own.sessionId = String(session);
      holder[key] = own;
    } else if (session !== undefined) holder[key] = new GoneRef(id, session, root.system);
    else holder[key] = new ForeignRef(id);
  }

  get(systemId: string): AnyRef | undefined {
    return this.#bySystemId?.get(systemId);
  }

  getAll(): Record<string, AnyRef> {
    return Object.fromEntries(this.#bySystemId ?? []);
  }

  /** Registers nobody while a record is read: a child that had ended may have had the id of one that runs. */
  register(systemId: string, ref: AnyRef): void {
    if (this.restoring !== undefined) return;
    this.#bySystemId ??= new Map();
    const holder = this.#bySystemId.get(systemId);
    if (holder !== undefined && holder !== ref) {
      throw new Error(`Actor with system ID '${systemId}' already exists.`);
    }
    this.#bySystemId.set(systemId, ref);
  }

  unregister(ref: AnyRef): void {
    for (const [systemId, holder] of this.#bySystemId ?? []) {
      if (holder === ref) this.#bySystemId?.delete(systemId);
    }
  }

  #findLost(): ChildActor | undefined {
    for (const child of this.bySession?.values() ?? []) {
      if (child._processingStatus === RUNNING && !hasParent(child)) return child;
    }
    return undefined;
  }

  #end(child: ChildActor): void {
    child._processingStatus = STOPPED;
    this.unregister(child);
  }

  #seat(child: ChildActor, session: number): void {
    child.sessionId = child._actorScope.sessionId = String(session);
    this.bySession ??= new Map();
    this.bySession.set(session, child);
  }

  /** A provisional number for a child that the record has none for, as those that had ended. */
  #storedSession(child: ChildActor): number {
    const path = pathOf(child);
    const stored = Object.hasOwn(this.restoring ?? {}, path) ? this.restoring?.[path] : undefined;
    return stored ?? -1 - (this.bySession?.size ?? 0);
  }
}

function hasParent({ _parent: parent }: ChildActor): boolean {
  const { _processingStatus: processing } = parent;
  // The root has none: it lives as long as its machine is not done.
  return processing === undefined
    ? parent.getSnapshot().status === 'active'
    : processing === RUNNING;
}

function isShown(child: ChildActor): boolean {
  return child._parent.getSnapshot().children?.[child.id] === child;
}

/** `c` for a child of the root, `c/d` for a child of that one; `%3` for one whose id another child has. */
export function pathOf(child: ChildActor): string {
  const { _parent: parent, id, isShadowed, sessionId } = child;
  const ownName = /[/%]/.test(id) ? encodeURIComponent(id) : id;
  const name = isShadowed === true ? `%${sessionId}` : ownName;
  return '_parent' in parent ? `${pathOf(parent as ChildActor)}/${name}` : name;
}
