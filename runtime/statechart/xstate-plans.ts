/**
 * Microsteps by plan: XState works them out again at every step, a plan is worked out once.
 *
 * Which states a transition leaves and enters, in which order, and which actions that
 * means, depends only on the transition and on the states the machine is in; guards and
 * actions are evaluated as ever. So a plan is kept per pair (xstate-configurations.ts), and a step
 * that follows one costs a fraction. Machines with history states are left to XState:
 * there the past decides as well.
 *
 * Follows XState's macrostep line by line (raise-*.js, private); the differential test
 * compares the two over machines of every shape.
 */

import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import * as XState from 'xstate';
import { type Action, ActionRun, type Scope } from './xstate-actions.ts';
import {
  type Choice,
  type Configuration,
  Configurations,
  type Entry,
  type Plan,
} from './xstate-configurations.ts';
import { type GuardArgs, holds } from './xstate-guards.ts';
import type { StateNode, Transition } from './xstate-sets.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { spawnChild, stopChild } = XState;

type Transit = (
  snapshot: AnyMachineSnapshot,
  event: EventObject,
  scope: Scope,
) => AnyMachineSnapshot;

type Begin = (scope: Scope, input: unknown) => AnyMachineSnapshot;

/** Part of XState's machine that makes its first context (private). */
interface Beginning {
  _getPreInitialState(scope: Scope, event: EventObject, queue: EventObject[]): AnyMachineSnapshot;
}

/** Replaces `machine.transition` and `machine.getInitialSnapshot` where plans can be kept. */
export function followPlans(machine: AnyStateMachine): void {
  const configurations = new Configurations(machine, { spawnChild, stopChild });
  if (configurations.hasHistory) return;
  const byXState = machine.transition as unknown as Transit;
  const byPlan: Transit = (snapshot, event, scope) => {
    const { type } = event;
    // A stop, and an error of a child that nobody handles, end the machine: XState's to do.
    if (type === 'xstate.stop') return byXState(snapshot, event, scope);
    const step = new Macrostep(machine, configurations, scope, snapshot);
    const enabled = step.select(event);
    if (enabled.length === 0 && type.startsWith('xstate.error.actor')) {
      return byXState(snapshot, event, scope);
    }
    return step.run(event, enabled);
  };
  machine.transition = byPlan as never;
  const beginByXState = machine.getInitialSnapshot as unknown as Begin;
  const begin: Begin = (scope, input) => {
    const event = { type: 'xstate.init', input } as EventObject;
    let first: AnyMachineSnapshot;
    try {
      first = (machine as unknown as Beginning)._getPreInitialState(scope, event, []);
    } catch {
      // XState asks for the context again, and says what threw.
      return beginByXState(scope, input);
    }
    try {
      return new Macrostep(machine, configurations, scope, first).begin(event);
    } catch (error) {
      return { ...(first as object), status: 'error', error } as unknown as AnyMachineSnapshot;
    }
  };
  machine.getInitialSnapshot = begin as never;
}

class Macrostep {
  readonly #machine: AnyStateMachine;
  readonly #configurations: Configurations;
  readonly #actions: ActionRun;

  constructor(
    machine: AnyStateMachine,
    configurations: Configurations,
    scope: Scope,
    snapshot: AnyMachineSnapshot,
  ) {
    this.#machine = machine;
    this.#configurations = configurations;
    this.#actions = new ActionRun(machine, scope, snapshot);
  }

  /** The first states are entered. */
  begin(event: EventObject): AnyMachineSnapshot {
    const plan = this.#configurations.initialPlan();
    this.#follow(plan, event);
    this.#actions.enter(plan.next);
    return this.#settle(event);
  }

  run(event: EventObject, selected: readonly Transition[]): AnyMachineSnapshot {
    if (selected.length > 0) this.#microstep(selected, event);
    return this.#settle(event);
  }

  /** Takes what is eventless and what was raised, until nothing is left of it. */
  #settle(first: EventObject): AnyMachineSnapshot {
    const actions = this.#actions;
    const { maxIterations } = this.#machine.options as { maxIterations: number };
    let event = first;
    let isEventlessDue = true;
    for (let iterations = 1; actions.status === 'active'; iterations += 1) {
      if (iterations > maxIterations) {
        throw endless(maxIterations);
      }
      let enabled: readonly Transition[] = isEventlessDue ? this.#selectEventless(event) : NONE;
      const before = enabled.length > 0 ? actions.changes : undefined;
      if (enabled.length === 0) {
        const raised = actions.raised.shift();
        if (raised === undefined) break;
        event = raised;
        enabled = this.select(event);
      }
      if (enabled.length > 0) this.#microstep(enabled, event);
      isEventlessDue = actions.changes !== before;
    }
    const { snapshot } = actions;
    if (snapshot.status !== 'active') this.#stopChildren(event);
    // As in XState, the snapshot of an ended machine still shows the children it had.
    return snapshot;
  }

  get #configuration(): Configuration {
    return this.#configurations.of(this.#actions.nodes);
  }

  #microstep(transitions: readonly Transition[], event: EventObject): void {
    const configuration = this.#configuration;
    const plan = this.#configurations.plan(configuration, transitions);
    this.#follow(plan, event);
    if (plan.next !== configuration) this.#actions.enter(plan.next);
  }

  #follow(plan: Plan, event: EventObject): void {
    const actions = this.#actions;
    actions.perform(plan.exitActions as readonly Action[], event);
    actions.perform(plan.actions as readonly Action[], event);
    for (const entry of plan.entries) {
      actions.perform(entry.actions as readonly Action[], event, entry.invokeIds);
      if (entry.isFinal) this.#complete(entry, event);
    }
    if (actions.status === 'done') {
      actions.perform(plan.next.exitActions as readonly Action[], event);
    }
  }

  /** A final state was entered: its parents may be done, and the machine with them. */
  #complete({ doneStates, completes }: Entry, event: EventObject): void {
    const actions = this.#actions;
    for (const { id, output } of doneStates) {
      actions.raised.push(doneState(id, actions.outputOf(output, event)));
    }
    if (completes === undefined) return;
    const { root } = this.#machine as unknown as { root: StateNode };
    const isMapped = completes.parent !== undefined;
    const done = doneState(
      completes.id,
      isMapped ? actions.outputOf(completes.output, event) : undefined,
    );
    actions.finish(actions.outputOf(root.output, done));
  }

  #stopChildren(event: EventObject): void {
    const { children } = this.#actions.snapshot as { children: Record<string, AnyActorRef> };
    const stops = Object.values(children).map((child) => stopChild(child));
    this.#actions.perform(stops as unknown as readonly Action[], event);
  }

  #selectEventless(event: EventObject): readonly Transition[] {
    const actions = this.#actions;
    const { eventless } = this.#configuration;
    if (eventless.length === 0) return NONE;
    const args = { context: actions.context, event };
    let enabled = NONE;
    for (const candidates of eventless) {
      for (const candidate of candidates) {
        if (!holds(candidate.guard, this.#machine, args, actions)) continue;
        if (!enabled.includes(candidate)) enabled = [...enabled, candidate];
        break;
      }
    }
    return enabled;
  }

  /** The transitions that an event enables, in XState's order: regions of a parallel state as its value names them. */
  select(event: EventObject): readonly Transition[] {
    const { type } = event;
    const actions = this.#actions;
    const configuration = this.#configuration;
    // A value of XState's own may name regions in another order.
    if (actions.value === configuration.value && !type.startsWith('xstate.done.state.')) {
      const choice = configuration.choice(type);
      if (choice === undefined) return NONE;
      try {
        return this.#enabledIn(choice, { context: actions.context, event });
      } catch {
        // XState asks again and says in which state which guard threw.
      }
    }
    const { snapshot } = actions;
    return this.#machine.getTransitionData(
      snapshot,
      event as never,
    ) as unknown as readonly Transition[];
  }

  #enabledIn({ inside, own }: Choice, args: GuardArgs): readonly Transition[] {
    let enabled = NONE;
    for (const choice of inside) {
      const more = this.#enabledIn(choice, args);
      if (more.length > 0) enabled = enabled.length === 0 ? more : [...enabled, ...more];
    }
    if (enabled.length > 0) return enabled;
    for (const { guard, alone } of own)
      if (holds(guard, this.#machine, args, this.#actions)) return alone;
    return NONE;
  }
}

const NONE: readonly Transition[] = [];

/** XState's own words, since they reach the handlers of a child's error. */
function endless(maxIterations: number): Error {
  const cycle = 'e.g., eventless transitions or raised events causing state A -> B -> C -> A';
  return new Error(
    `Infinite loop detected: the machine has processed more than ${maxIterations} microsteps without reaching a stable state. This usually happens when there's a cycle of transitions (${cycle}).`,
  );
}

function doneState(id: string, output: unknown): EventObject {
  return { type: `xstate.done.state.${id}`, output } as EventObject;
}
