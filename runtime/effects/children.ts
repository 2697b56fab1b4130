/**
 * Runs the children that act by themselves: promises, callbacks and observables.
 *
 * Inside a turn a stand-in holds such a child's place; here the real logic runs, as the invoked
 * child of a small XState actor of its own, so that XState's rules apply to it unchanged. Its
 * result comes back as an item in its owner's mailbox, fenced by the child's session number: a
 * result for a state that was left is dropped. How a child ended is kept until the turn that takes
 * it is durable: a commit that is refused costs no run.
 */

import type { AnyActorLogic } from 'xstate';
import * as XState from 'xstate';
import type { ChildLogic, ChildResult, ChildSeat, StartChildEffect } from '../statechart.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { assign, createActor, createMachine, sendTo } = XState;

const CHILD = 'child';

interface Running {
  tell(event: { readonly type: string }): void;
  stop(): void;
}

export class Children {
  readonly #running = new Map<string, Map<number, Running>>();
  /** Ends that no durable turn has taken yet. */
  readonly #ends = new Map<string, Map<number, ChildResult>>();
  readonly #settled: (address: string, session: number, result: ChildResult) => void;

  constructor(settled: (address: string, session: number, result: ChildResult) => void) {
    this.#settled = settled;
  }

  /** Number of children that run for this actor. */
  countOf(address: string): number {
    return this.#running.get(address)?.size ?? 0;
  }

  start(address: string, { session, logic, input, seat }: StartChildEffect): void {
    const end = this.#ends.get(address)?.get(session);
    if (end !== undefined) {
      this.#settled(address, session, end);
      return;
    }
    if (this.#running.get(address)?.has(session) === true) return;
    let isOver = false;
    const give = (result: ChildResult): void => {
      if (isOver) return;
      if (result.type === 'done' || result.type === 'error') {
        isOver = true;
        drop(this.#running, address, session);
        put(this.#ends, address, session, result);
      }
      this.#settled(address, session, result);
    };
    const stopFailed = (error: unknown): void =>
      this.#settled(address, parentSessionOf(seat), { type: 'stopFailed', id: seat.id, error });
    const running = run(inSeat(logic, seat, stopFailed), input, give);
    put(this.#running, address, session, {
      tell: running.tell,
      stop() {
        isOver = true;
        running.stop();
      },
    });
    if (isOver) drop(this.#running, address, session);
  }

  /** The turn that took the end of this child is durable. */
  taken(address: string, session: number): void {
    drop(this.#ends, address, session);
  }

  tell(address: string, session: number, event: { readonly type: string }): void {
    this.#running.get(address)?.get(session)?.tell(event);
  }

  stop(address: string, session: number): void {
    const child = this.#running.get(address)?.get(session);
    drop(this.#running, address, session);
    drop(this.#ends, address, session);
    child?.stop();
  }

  /** Makes what runs the same as what should: after an actor came into memory, or back to an earlier record. */
  reconcile(address: string, wanted: readonly StartChildEffect[]): void {
    const sessions = new Set(wanted.map(({ session }) => session));
    for (const session of [...(this.#running.get(address)?.keys() ?? [])]) {
      if (!sessions.has(session)) this.stop(address, session);
    }
    for (const child of wanted) this.start(address, child);
  }

  stopAll(): void {
    this.#ends.clear();
    for (const address of [...this.#running.keys()]) this.reconcile(address, []);
  }
}

type BySession<T> = Map<string, Map<number, T>>;

function put<T>(all: BySession<T>, address: string, session: number, value: T): void {
  const siblings = all.get(address) ?? new Map<number, T>();
  all.set(address, siblings.set(session, value));
}

function drop<T>(all: BySession<T>, address: string, session: number): void {
  const siblings = all.get(address);
  siblings?.delete(session);
  if (siblings?.size === 0) all.delete(address);
}

/** Members of XState's actor logic and scope that are touched here (private). */
type Call = (first: unknown, ...rest: unknown[]) => unknown;

interface Scope {
  readonly self: { readonly _parent: object } & Record<string, unknown>;
  readonly system: { _relay(source: unknown, target: unknown, event: object): void };
}

/**
 * The logic with `self` and `system` as its machine has them: its own id, and everybody of its tree.
 * What it tells itself or its parent stays on this side; what it sends to others is a turn.
 */
function inSeat(
  logic: ChildLogic,
  seat: ChildSeat,
  stopFailed: (thrown: unknown) => void,
): ChildLogic {
  let seated: Scope | undefined;
  const from = (scope: Scope): Scope => {
    seated ??= seatedScope(scope, seat);
    return seated;
  };
  const { getInitialSnapshot, transition, start } = logic as Record<string, Call>;
  return {
    ...logic,
    getInitialSnapshot: (scope: Scope, input: unknown) =>
      getInitialSnapshot?.call(logic, from(scope), input),
    transition(snapshot: object, event: { readonly type: string }, scope: Scope) {
      try {
        return transition?.call(logic, snapshot, event, from(scope));
      } catch (thrown) {
        if (event.type !== 'xstate.stop') throw thrown;
        // Nobody in the real child's own tree is left to hear of it.
        stopFailed(thrown);
        return { ...snapshot, status: 'stopped', error: undefined };
      }
    },
    start: (snapshot: unknown, scope: Scope) => start?.call(logic, snapshot, from(scope)),
  } as ChildLogic;
}

/** The machine that a child belongs to. */
function parentSessionOf({ _parent }: ChildSeat): number {
  return Number((_parent as { readonly sessionId: string }).sessionId);
}

function seatedScope(scope: Scope, seat: ChildSeat): Scope {
  const { self: own, system: ownSystem } = scope;
  // Its state is the real one's: the machine may have left the seat in a turn that is then undone.
  const watched = ['getSnapshot', 'getPersistedSnapshot', 'subscribe', 'on', 'select'].map(
    (name) => [name, { value: (own[name] as Call).bind(own) }],
  );
  const self = Object.create(seat, Object.fromEntries(watched)) as Scope['self'];
  const system = Object.create(ownSystem, {
    get: { value: (systemId: string) => seat.system.get(systemId) },
    getAll: { value: () => seat.system.getAll() },
    _relay: {
      value(_: unknown, target: { send?(event: object): void }, event: object): void {
        if (target === self) ownSystem._relay(own, own, event);
        else if (target === seat._parent) ownSystem._relay(own, own._parent, event);
        else target.send?.(event);
      },
    },
  }) as Scope['system'];
  return { ...scope, id: seat.id, sessionId: seat.sessionId, self, system } as Scope;
}

/** The real logic as the only child of a machine that passes everything on. */
function run(logic: ChildLogic, input: unknown, give: (result: ChildResult) => void): Running {
  type Event = {
    readonly type: string;
    readonly output?: unknown;
    readonly error?: unknown;
    readonly snapshot?: { readonly context?: unknown };
    readonly told?: never;
  };
  const owner = createMachine({
    invoke: {
      id: CHILD,
      src: logic as unknown as AnyActorLogic,
      input: input as never,
      onDone: {
        actions: ({ event }: { event: Event }) => give({ type: 'done', output: event.output }),
      },
      onError: {
        actions: ({ event }: { event: Event }) => give({ type: 'error', error: event.error }),
      },
      onSnapshot: { actions: ({ event }: { event: Event }) => giveNext(event.snapshot, give) },
    },
    on: {
      'escapement.tell': {
        actions: sendTo(CHILD, ({ event }: { event: Event }) => event.told as never),
      },
      '*': {
        actions: [assign({}), ({ event }: { event: Event }) => give({ type: 'event', event })],
      },
    },
  } as never);
  const actor = createActor(owner, { logger: () => {} });
  actor.start();
  return {
    tell: (event) => actor.send({ type: 'escapement.tell', told: event } as never),
    stop: () => {
      actor.stop();
    },
  };
}

/**
 * Gives the next snapshot. Only observables have a context to show; a promise's or callback's snapshot
 * says nothing new.
 */
function giveNext(
  snapshot: { readonly context?: unknown } | undefined,
  give: (result: ChildResult) => void,
): void {
  if (snapshot !== undefined && 'context' in snapshot && snapshot.context !== undefined) {
    give({ type: 'next', context: snapshot.context });
  }
}
