/**
 * Statecharts that were made of machines in this process.
 *
 * Making one copies and indexes the whole machine. A statechart keeps nothing between two steps,
 * and steps never interleave, so all runtimes of a process share the one of a machine and its
 * limits: a node that starts again, or one of many, starts at once.
 */

import type { AnyStateMachine } from 'xstate';
import { Statechart, type StatechartLimits } from './statechart.ts';

const known = new WeakMap<AnyStateMachine, Map<string, Statechart>>();

export function statechartOf(machine: AnyStateMachine, limits: StatechartLimits): Statechart {
  const { childrenMax, microstepsMax } = limits;
  const key = `${childrenMax}/${microstepsMax}`;
  const byLimits = known.get(machine) ?? new Map<string, Statechart>();
  known.set(machine, byLimits);
  const statechart = byLimits.get(key) ?? new Statechart(machine, { childrenMax, microstepsMax });
  byLimits.set(key, statechart);
  return statechart;
}
