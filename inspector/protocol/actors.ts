/**
 * Actors as they travel to the page: rows of lists, one actor in detail, its turns, its messages, its lanes.
 *
 * Every moment is the server's, in milliseconds since the epoch. Text of users (names, contexts, errors) is
 * hostile until shown as text.
 */

export type ActorStatus = 'active' | 'done' | 'stopped';
export type WaitingSort = 'message' | 'timer' | 'promise' | 'effect' | 'acknowledgement';

/** One line of a list of actors. */
export interface ActorLine {
  readonly address: string;
  readonly kind: string;
  readonly key: string;
  readonly place: string;
  /** Node that told it. */
  readonly node: string;
  readonly status: ActorStatus;
  /** State value as text: `running`, or JSON for a nested one. */
  readonly state: string;
  readonly tags: readonly string[];
  /** When it took its last event. */
  readonly turnAt: number;
  /** When its next deadline is due. */
  readonly dueAt?: number;
  /** True while messages, effects or children of it are under way. */
  readonly isPending: boolean;
  /** Messages not yet acknowledged; present where the actor is in memory. */
  readonly outbox?: number;
  readonly lastError?: string;
}

/** An armed deadline. The share elapsed is (at - armedAt) / (dueAt - armedAt). */
export interface Deadline {
  /** Id of the timer, which is the type of its event too. */
  readonly id: string;
  /** Name to show: the delay's, or the event's. */
  readonly name: string;
  /** Path of the state that waits for it; absent for a delayed event. */
  readonly state?: string;
  /** Transitions of the definition that it may take, in the order they are asked. */
  readonly transitions: readonly string[];
  readonly dueAt: number;
  /** When it was armed; absent where that is no longer known. */
  readonly armedAt?: number;
  /** Child machine that it belongs to, as a path; absent for the actor itself. */
  readonly child?: string;
}

/** A cause that can end a present state. */
export interface ActorExit {
  /** Outermost state that is left; empty for the machine itself. */
  readonly state: string;
  readonly to: string;
  /** Cause in words, without its guard. */
  readonly cause: string;
  /** `if isPaid`, `otherwise`, or empty. */
  readonly condition: string;
  readonly timer?: string;
  readonly dueAt?: number;
  /** Child machine or chart kept in the context that it belongs to. */
  readonly of?: string;
}

export interface ChildLine {
  readonly id: string;
  readonly src?: string;
  /** Its state, where it is a machine. */
  readonly state?: string;
  /** True for promises, callbacks and observables. */
  readonly actsAlone: boolean;
}

/** Value of any JSON that may have been cut or redacted on its way. */
export interface Shown {
  readonly value: unknown;
  /** Bytes of the whole, as JSON. */
  readonly bytes: number;
  /** True when parts are missing in `value`; they are replaced by `"… (12,345 bytes)"`. */
  readonly isCut: boolean;
  /** Paths whose values are replaced by `"[redacted]"`. */
  readonly redacted: readonly string[];
}

/** An event that the actor may be sent, as a form has it. */
export interface EventForm {
  readonly type: string;
  /** JSON Schema of the event without its type, where the kind has one. */
  readonly schema?: unknown;
  /** True if a present state has a transition for it. */
  readonly isExpected: boolean;
}

export interface ActorDetail extends ActorLine {
  readonly turns: number;
  readonly version: number;
  /** Hash of the definition; ask `api/definition` when it is not known yet. */
  readonly definition?: string;
  /** Paths of the active states. */
  readonly active: readonly string[];
  /** Transitions that the last turn took, microstep by microstep; absent where that is not known. */
  readonly lastTransitions?: readonly string[];
  /** When each active state was entered, by path, as far as the history goes. */
  readonly enteredAt: Readonly<Record<string, number>>;
  readonly deadlines: readonly Deadline[];
  readonly exits: readonly ActorExit[];
  readonly children: readonly ChildLine[];
  /** Durable effects under way. */
  readonly effects: ReadonlyArray<{
    readonly name: string;
    readonly id: string;
    readonly doing: string;
  }>;
  readonly waitingMessages: ReadonlyArray<{
    readonly to: string;
    readonly type: string;
    readonly count: number;
    readonly attempts: number;
  }>;
  /** Types of what waits in its mailbox, the first 20. */
  readonly mailbox: readonly string[];
  readonly mailboxSize: number;
  readonly context?: Shown;
  readonly stopReason?: string;
  readonly events: readonly EventForm[];
}

export interface ErrorLine {
  readonly code: string;
  readonly message: string;
}

/** One turn of the history; what only a recording has is absent without one. */
export interface TurnLine {
  readonly address: string;
  readonly turn: number;
  readonly at: number;
  /** True time, where the clock of its node is known to be another. */
  readonly trueAt?: number;
  readonly event: string;
  /** The event whole, where recorded. */
  readonly payload?: Shown;
  /** Moment that a deadline was armed for. */
  readonly dueAt?: number;
  readonly from?: string;
  readonly counter?: number;
  /** State afterwards, where it changed. */
  readonly state?: string;
  /** What it asked for, in words. */
  readonly did?: readonly string[];
  readonly error?: ErrorLine;
  /** Context afterwards, where recorded. */
  readonly context?: Shown;
  /** Transitions taken, microstep by microstep, where recorded. */
  readonly transitions?: readonly string[];
  /** Who asked for it through the inspector. */
  readonly by?: string;
}

/** A message between two actors, as far as one or both ends were seen. */
export interface MessageLine {
  readonly from: string;
  readonly to: string;
  readonly counter?: number;
  readonly type: string;
  readonly sort: 'tell' | 'hint' | 'answer';
  readonly sentAt?: number;
  readonly sentTurn?: number;
  readonly takenAt?: number;
  readonly takenTurn?: number;
  /** When a fence kept it out. */
  readonly fencedAt?: number;
  /** `unknown`: only one end was seen within the window. */
  readonly outcome:
    | 'taken'
    | 'underWay'
    | 'repeated'
    | 'late'
    /** Its receiver's machine failed at it. */
    | 'refused'
    /** A fence kept it out: its sender's node no longer hosted the place. */
    | 'fenced'
    | 'lost'
    | 'unknown';
  readonly why?: string;
}

/** A bar of a lane: a state, or a part of a time budget; of a node its lives and leases; a fault. */
export interface LaneBar {
  readonly sort:
    | 'state'
    | 'base'
    | 'extension'
    | 'stuck'
    | 'grace'
    | 'deadline'
    | 'life'
    | 'pause'
    | 'lease'
    | 'fault';
  readonly from: number;
  /** Absent while it lasts. */
  readonly to?: number;
  readonly label: string;
  /** How a deadline ended. */
  readonly outcome?: 'fired' | 'cancelled' | 'armed';
}

/** A point of a lane: a turn that stands out. */
export interface LaneMark {
  readonly at: number;
  readonly sort: 'turn' | 'extension' | 'denied' | 'failed' | 'timeout' | 'end';
  readonly label: string;
  readonly turn: number;
}

/** Lane of an actor; of a node or a fault `address` is its name, and it has no state. */
export interface Lane {
  readonly address: string;
  readonly node: string;
  readonly state: string;
  readonly bars: readonly LaneBar[];
  readonly marks: readonly LaneMark[];
  /** Earliest moment that the history still has. */
  readonly since: number;
}
