/**
 * Statecharts, interpreted: a `Statechart` is the machine of a kind, a `Tree` one
 * running instance of it, a root and its machine children.
 *
 * A step takes one event and runs the tree until it is quiet, in XState's own order;
 * what the machines asked for comes back as data (effect.ts). A step performs nothing,
 * reads no clock and waits for nobody. When it throws, a tree without children is as
 * it was before; a tree with children must be restored from its record. The effects
 * of a step that threw are void.
 *
 * The root is stepped with `machine.transition` and a scope of ours. Children are
 * XState's own actors living on a system of ours (xstate-host.ts): mailboxes, order
 * and error rules are XState's code, only time and effects are taken out of its hands.
 * Promises, callbacks and observables are held by stand-ins; children.ts runs the real ones.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { ChildLogic, Effect } from './effect.ts';
import { copyOf, descriptorsOf, type Turn } from './instrumented-machine.ts';
import { RestoredSnapshots } from './restore-cache.ts';
import { standInFor } from './stand-in.ts';
import { type StoredTree, Tree } from './tree.ts';
import { matchesDescriptor } from './xstate-configurations.ts';
import type { Outside, StatechartLimits } from './xstate-host.ts';

export type { ChildResult } from './stand-in.ts';
export type { StoredTree, Tree } from './tree.ts';
export type { Outside, StatechartLimits } from './xstate-host.ts';

export class Statechart {
  readonly machine: AnyStateMachine;
  readonly limits: StatechartLimits;
  /** The turn under way in any tree of this statechart; steps never interleave. */
  readonly turn: Turn = { at: 0 };
  readonly #standIns = new WeakMap<object, object>();
  readonly restored = new RestoredSnapshots();
  /** Event types and wildcards that the machine has a transition for somewhere, be it to ignore them. */
  readonly descriptors: readonly string[];

  constructor(machine: AnyStateMachine, limits: StatechartLimits) {
    this.limits = limits;
    this.machine = copyOf(machine, limits.microstepsMax, this.turn);
    this.descriptors = descriptorsOf(this.machine);
  }

  /** True if the machine has a transition for this event type somewhere, wildcards included. */
  declares(type: string): boolean {
    return this.descriptors.some((known) => matchesDescriptor(type, known));
  }

  /** Spawns an instance; `booked`: the last number an earlier one gave away. Throws what the machine threw. */
  start(
    id: string,
    input: unknown,
    at: number,
    effects: Effect[],
    booked: number = 0,
    outside: Outside = NOWHERE,
  ): Tree {
    const tree = new Tree(this, id, outside);
    tree.begin(input, at, effects, booked);
    return tree;
  }

  /** @throws {RuntimeError} RECORD_INVALID when the machine cannot be in the stored state. */
  restore(id: string, stored: StoredTree, outside: Outside = NOWHERE): Tree {
    const tree = new Tree(this, id, outside);
    try {
      tree.resume(stored);
    } catch (thrown) {
      const why = `The stored state does not fit machine "${this.machine.id}": ${messageOf(thrown)}`;
      throw new RuntimeError('RECORD_INVALID', why, { cause: thrown });
    }
    return tree;
  }

  /** A tree that stands at a snapshot of this chart; it has no children. */
  standing(id: string, snapshot: AnyMachineSnapshot): Tree {
    const tree = new Tree(this, id, NOWHERE);
    tree.snapshot = snapshot;
    return tree;
  }

  /**
   * A snapshot to look at, of an actor that lives on another node: it has no children.
   *
   * @throws {RuntimeError} RECORD_INVALID when the machine has no such state.
   */
  shown(address: string, persisted: unknown): AnyMachineSnapshot {
    try {
      const resolved = this.machine.resolveState(persisted as never);
      // XState knows no actor that was stopped by the runtime.
      const { status } = persisted as AnyMachineSnapshot;
      return { ...resolved, status } as AnyMachineSnapshot;
    } catch (thrown) {
      const why = `What was told of ${address} does not fit machine "${this.machine.id}": ${messageOf(thrown)}`;
      throw new RuntimeError('RECORD_INVALID', why, { address, cause: thrown });
    }
  }

  /** A copy of a machine, a pure reducer as it is, a stand-in for what acts by itself. */
  standIn(logic: ChildLogic): object {
    const known = this.#standIns.get(logic);
    if (known !== undefined) return known;
    const isMachine = '__xstatenode' in logic;
    if (!isMachine && logic.start === undefined) return logic;
    const standIn = isMachine
      ? copyOf(logic as unknown as AnyStateMachine, this.limits.microstepsMax, this.turn)
      : standInFor(logic);
    this.#standIns.set(logic, standIn);
    return standIn;
  }
}

/** Outside of a tree that no runtime hosts. */
const NOWHERE: Outside = (address, _session, { type }) => {
  const what = `Event "${type}" was sent to ${address}, which no runtime hosts here.`;
  throw new RuntimeError('NOT_HOSTED', what, { address });
};
