/**
 * A machine at one moment of a path, with all that an actor has besides its snapshot: its deadlines,
 * the messages that nobody has answered, and who leads.
 *
 * Pure: a step gives a new situation and leaves the old one alone. Time is kept here and not by the
 * engine: a deadline fires at its moment, the earliest first and of equals the one armed first, and
 * what is due when a step is over fires before the next one. A machine that throws ends its path.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { LEADERSHIP_ACQUIRED, MESSAGE_REFUSED } from '../../runtime/actor/event-names.ts';
import { wholeAddress } from '../../runtime/base/address.ts';
import type { ErrorCode } from '../../runtime/base/errors.ts';
import type { AddressRef } from '../../runtime/machine.ts';
import type { PathPlan, PathStep } from './plan.ts';
import type { AskedAction, Played, PureMachine } from './pure-machine.ts';

/** Where every path is walked: the node and its place. */
export const PLACE = 'here';
/** When the actor of a path is spawned. */
export const SPAWNED_AT = 1_800_000_000_000;

export interface Deadline {
  readonly id: string;
  readonly dueAt: number;
  readonly event: EventObject;
  /** Whom it is for; undefined for the actor itself. */
  readonly to: AddressRef | undefined;
}

export interface Message {
  readonly to: string;
  readonly event: EventObject;
}

/** One that the actor keeps until it is answered. */
export interface KeptMessage extends Message {
  readonly counter: number;
}

export interface Situation {
  readonly snapshot: AnyMachineSnapshot;
  readonly at: number;
  readonly fence: number;
  /** In the order in which they were armed. */
  readonly deadlines: readonly Deadline[];
  readonly kept: readonly KeptMessage[];
  /** The last number given to a message, and to a deadline without a name. */
  readonly counter: number;
  readonly anonymous: number;
  /** What the last step did. */
  readonly hints: readonly Message[];
  readonly asked: readonly AskedAction[];
  readonly emitted: readonly unknown[];
  readonly taken: readonly string[];
  readonly entered: ReadonlySet<string>;
  /** Why anybody who said something in it was sent away. */
  readonly refusal: ErrorCode | null;
  /** Steps since spawn. */
  readonly steps: number;
  /** What the machine threw in the last step. */
  readonly thrown?: string;
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** Deadlines that may fire in one step: a machine that arms one for now again and again never rests. */
const FIRED_MAX = 1_000;

export class Situations {
  readonly pure: PureMachine;
  readonly #plan: PathPlan;
  /** Whether the machine is told of a new leader; otherwise it must not notice a restart. */
  readonly wantsLeadership: boolean;
  readonly #wantsRefusals: boolean;

  constructor(plan: PathPlan, pure: PureMachine) {
    this.pure = pure;
    this.#plan = plan;
    // As the engine asks: who ignores it everywhere is not told.
    this.wantsLeadership = (plan.machine.events as string[]).includes(LEADERSHIP_ACQUIRED);
    this.#wantsRefusals = pure.shape.eventTypes.includes(MESSAGE_REFUSED);
  }

  first(input: unknown): Situation {
    const played = this.pure.start(input, SPAWNED_AT);
    const born: Situation = {
      snapshot: played.snapshot,
      at: SPAWNED_AT,
      fence: 1,
      deadlines: [],
      kept: [],
      counter: 0,
      anonymous: 0,
      hints: [],
      asked: [],
      emitted: [],
      taken: [],
      entered: new Set(),
      refusal: null,
      steps: 0,
    };
    const next = writable(born);
    this.#apply(next, played);
    this.#fireDue(next);
    return next;
  }

  /** Every step that may be tried next. */
  stepsFrom({ snapshot, at, deadlines, kept }: Situation): PathStep[] {
    const { events, late, refusals = [] } = this.#plan;
    const { context } = snapshot;
    const steps: PathStep[] = events(context, at).map((event) => sending(event, 0));
    for (const { event, lateMs } of late?.(context, at) ?? []) steps.push(sending(event, lateMs));
    if (deadlines.length > 0) steps.push({ type: 'wait' });
    if (this.wantsLeadership) steps.push({ type: 'restart' });
    if (this.#wantsRefusals)
      for (const [eventType, code] of refusals)
        if (kept.some(({ event }) => event.type === eventType))
          steps.push({ type: 'refuse', eventType, code });
    return steps;
  }

  /** The type of the event that the step brings from outside; undefined for one of time. */
  eventTypeOf(step: PathStep): string | undefined {
    switch (step.type) {
      case 'send':
        return step.event.type;
      case 'wait':
        return undefined;
      case 'restart':
        return this.wantsLeadership ? LEADERSHIP_ACQUIRED : undefined;
      case 'refuse':
        return MESSAGE_REFUSED;
    }
  }

  after(before: Situation, step: PathStep): Situation {
    const next = { ...writable(before), steps: before.steps + 1 };
    try {
      this.#carryOut(next, step);
      this.#fireDue(next);
    } catch (thrown) {
      next.thrown = thrown instanceof Error ? thrown.message : String(thrown);
    }
    return next;
  }

  #carryOut(next: Writable<Situation>, step: PathStep): void {
    switch (step.type) {
      case 'send':
        next.at += step.lateMs;
        if (next.snapshot.status !== 'active') next.refusal = 'ACTOR_ENDED';
        this.#take(next, step.event);
        return;
      case 'wait':
        next.at = Math.max(next.at, Math.min(...next.deadlines.map(({ dueAt }) => dueAt)));
        return;
      case 'restart':
        next.fence += 1;
        if (this.wantsLeadership)
          this.#take(next, { type: LEADERSHIP_ACQUIRED, fence: next.fence, node: PLACE } as never);
        return;
      case 'refuse': {
        const refused = refusedIn(next, step.eventType);
        if (refused === undefined) return;
        const { to, event, counter } = refused;
        // Whatever was said to the same receiver before has been taken.
        next.kept = next.kept.filter((one) => one.to !== to || one.counter > counter);
        this.#take(next, { type: MESSAGE_REFUSED, to, event, code: step.code } as never);
      }
    }
  }

  #take(next: Writable<Situation>, event: EventObject): void {
    // Who has ended takes nothing; XState itself would still run its transitions.
    if (next.snapshot.status !== 'active') return;
    this.#apply(next, this.pure.take(next.snapshot, event, next.at));
  }

  #fireDue(next: Writable<Situation>): void {
    for (let fired = 0; ; fired += 1) {
      const due = earliest(next.deadlines);
      if (due === undefined || due.dueAt > next.at) return;
      if (fired >= FIRED_MAX) throw new Error(`${due.id} is due at once again and again.`);
      next.deadlines = next.deadlines.filter((one) => one !== due);
      if (due.to === undefined) this.#take(next, { ...due.event, dueAt: due.dueAt } as never);
      else say(next, due.to, due.event);
    }
  }

  #apply(next: Writable<Situation>, { snapshot, actions, taken, entered }: Played): void {
    next.snapshot = snapshot;
    next.taken = [...next.taken, ...taken];
    next.entered = new Set([...next.entered, ...entered]);
    for (const action of actions) apply(next, action);
    if (snapshot.status !== 'active') next.deadlines = [];
  }
}

/** The message that a step refuses: the last of its type. */
export function refusedIn({ kept }: Situation, eventType: string): KeptMessage | undefined {
  return kept.findLast(({ event }) => event.type === eventType);
}

/** The deadline that fires first. */
function earliest(deadlines: readonly Deadline[]): Deadline | undefined {
  let first: Deadline | undefined;
  for (const deadline of deadlines)
    if (first === undefined || deadline.dueAt < first.dueAt) first = deadline;
  return first;
}

const sending = (event: EventObject, lateMs: number): PathStep => ({ type: 'send', event, lateMs });

/** Of a step that is about to be taken: nothing has been done in it. */
function writable(situation: Situation): Writable<Situation> {
  const nothing = { hints: [], asked: [], emitted: [], taken: [], refusal: null };
  return { ...situation, ...nothing, entered: new Set<string>() };
}

function apply(next: Writable<Situation>, action: AskedAction): void {
  const { type } = action;
  const { delay, id, event, to, sendId } = (action.params ?? {}) as {
    readonly delay?: unknown;
    readonly id?: string;
    readonly event: EventObject;
    readonly to: AddressRef;
    readonly sendId: string;
  };
  if (type === 'xstate.raise' || (type === 'xstate.sendTo' && delay !== undefined)) {
    if (delay !== undefined || id?.startsWith('xstate.after.'))
      arm(next, id, delay, event, type === 'xstate.raise' ? undefined : to);
  } else if (type === 'xstate.cancel') disarm(next, sendId);
  else if (type === 'xstate.sendTo') say(next, to, event);
  else if (type === 'xstate.emit') next.emitted = [...next.emitted, event];
  else if (!type.startsWith('xstate.')) next.asked = [...next.asked, action];
}

function arm(
  next: Writable<Situation>,
  given: string | undefined,
  delay: unknown,
  event: EventObject,
  to: AddressRef | undefined,
): void {
  if (typeof delay !== 'number' || !Number.isFinite(delay) || delay < 0)
    throw new Error(`${given ?? event.type} would wait for ${String(delay)} ms.`);
  if (given === undefined) next.anonymous += 1;
  const id = given ?? `delay.${next.anonymous}`;
  disarm(next, id);
  next.deadlines = [...next.deadlines, { id, dueAt: next.at + Math.ceil(delay), event, to }];
}

function disarm(next: Writable<Situation>, id: string): void {
  next.deadlines = next.deadlines.filter((deadline) => deadline.id !== id);
}

/** Answers to a question of this process are heard by nobody here, and are not kept. */
function say(next: Writable<Situation>, { address, isHint }: AddressRef, event: EventObject): void {
  if (address === '' || address.startsWith('ask/')) return;
  const to = wholeAddress(address, PLACE);
  if (isHint) next.hints = [...next.hints, { to, event }];
  else {
    // The numbers of a life begin at the moment of its first message.
    next.counter = (next.counter || next.at) + 1;
    next.kept = [...next.kept, { counter: next.counter, to, event }];
  }
}
