/**
 * Effects: what a turn asks for, as data. Nothing here has happened yet: effects leave the node
 * only after the record of their turn is durable (commit.ts, release.ts).
 *
 * The vocabulary is the runtime's own, not XState's actions, so that stored data
 * and everything above statechart.ts survive a change of interpreter.
 * `session` says which machine of the actor's tree asked: 0 is the root.
 */

export type Effect =
  | SendEffect
  | ArmEffect
  | CancelEffect
  | CancelAllEffect
  | EmitEffect
  | LogEffect
  | StartChildEffect
  | TellChildEffect
  | StopChildEffect
  | ActionEffect;

/** A message to another root actor, to the client that asked, or a spawn. */
export interface SendEffect {
  readonly type: 'send';
  readonly to: string;
  readonly event: { readonly type: string };
  readonly isHint: boolean;
}

/** A deadline: `event` comes back after `delayMs`, to the tree (`target`) or to an address (`to`). */
export interface ArmEffect {
  readonly type: 'arm';
  readonly session: number;
  readonly id: string;
  readonly event: { readonly type: string };
  readonly delayMs: number;
  readonly target: number;
  readonly to: string | undefined;
  readonly isHint: boolean;
}

export interface CancelEffect {
  readonly type: 'cancel';
  readonly session: number;
  readonly id: string;
}

/** A machine of the tree ended: all its deadlines go. */
export interface CancelAllEffect {
  readonly type: 'cancelAll';
  readonly session: number;
}

export interface EmitEffect {
  readonly type: 'emit';
  readonly session: number;
  readonly event: { readonly type: string };
}

export interface LogEffect {
  readonly type: 'log';
  readonly session: number;
  readonly args: readonly unknown[];
}

/** Run a promise, callback or observable; its results come back as events of `session`. */
export interface StartChildEffect {
  readonly type: 'startChild';
  readonly session: number;
  readonly id: string;
  readonly logic: ChildLogic;
  readonly input: unknown;
  /** The reference to it that its machine holds: what it gets as `self`. */
  readonly seat: ChildSeat;
}

/** Part of XState's Actor that the real child is given. */
export interface ChildSeat {
  readonly id: string;
  readonly sessionId: string;
  readonly system: { get(systemId: string): unknown; getAll(): object };
  readonly _parent: object;
}

export interface TellChildEffect {
  readonly type: 'tellChild';
  readonly session: number;
  readonly event: { readonly type: string };
}

export interface StopChildEffect {
  readonly type: 'stopChild';
  readonly session: number;
}

/** A custom action: `name` and `params` are data; `run` is the machine's own implementation, if it has one. */
export interface ActionEffect {
  readonly type: 'action';
  readonly session: number;
  readonly name: string;
  readonly params: unknown;
  readonly run: ((args: ActionRunArgs, params: unknown) => void) | undefined;
  readonly args: ActionRunArgs;
}

export interface ActionRunArgs {
  readonly context: unknown;
  readonly event: { readonly type: string };
  readonly self: unknown;
  readonly system: unknown;
}

/** XState actor logic that acts by itself (a promise, a callback, an observable). Opaque outside children.ts. */
export interface ChildLogic {
  readonly start?: unknown;
}
