/**
 * The deadlines of one restored record against those that its machine would have armed.
 *
 * Three things go wrong silently when a machine changes under stored state: a deadline
 * that no active state waits for any more fires into nothing, a state that got an `after`
 * has no deadline in actors that are in it already, and a delay that changed holds only
 * for deadlines armed from now on. A state that has lost its deadline before, because it
 * fired and a guard kept the state, is no fault of the new machine.
 */

import type { Actor, TimerRow } from '../actor.ts';
import type { Tree } from '../statechart.ts';
import {
  activeDelays,
  childSessions,
  delayMsOf,
  isDeclared,
  isHandled,
  type LiveMachine,
  liveMachines,
} from '../statechart.ts';
import type { Finding } from './findings.ts';

/** `old` is undefined where the old code is not at hand, or does not restore the record. */
export function timerFindings(actor: Actor, old: Actor | undefined, version: number): Finding[] {
  // Who has ended takes nothing any more, and has no deadlines.
  if (actor.status !== 'active') return [];
  const machines = machinesOf(actor);
  const oldMachines = old === undefined ? undefined : machinesOf(old);
  return [
    ...vanishing(actor, machines, old, oldMachines, version),
    ...[...machines.values()].flatMap((live) =>
      delaysOf(actor, live, old, oldMachines?.get(live.session), version),
    ),
  ];
}

function machinesOf(actor: Actor): Map<number, LiveMachine> {
  const { snapshot } = actor.tree as Tree;
  return new Map(liveMachines(snapshot).map((live) => [live.session, live]));
}

function vanishing(
  actor: Actor,
  machines: ReadonlyMap<number, LiveMachine>,
  old: Actor | undefined,
  oldMachines: ReadonlyMap<number, LiveMachine> | undefined,
  version: number,
): Finding[] {
  const sessions = childSessions((actor.tree as Tree).snapshot);
  const lost = actor.timers.rows.filter((row) => {
    // A message to another actor leaves in every state of this one.
    if (row.to !== undefined) return false;
    const live = machines.get(row.target);
    // A child that is no machine is told every event.
    if (live === undefined) return row.target === 0 || !sessions.has(row.target);
    if (isHandled(live.snapshot, row.event.type)) return false;
    if (old === undefined || !hasTimer(old, row.session, row.id))
      return isForeign(live, row.event.type);
    const oldLive = oldMachines?.get(row.target);
    return oldLive !== undefined && isHandled(oldLive.snapshot, row.event.type);
  });
  return lost.map((row) => ({
    name: 'timer-vanishes',
    detail: `${nameOf(row, machines)} would fire into nothing: no active state handles ${row.event.type === row.id ? 'it' : `"${row.event.type}"`}`,
    fix: `migrate[${version}] gives it the id it has now, or leaves it out when nobody waits for it`,
  }));
}

/** Without the old machine to compare with: an event that may still become welcome is no finding. */
function isForeign({ snapshot }: LiveMachine, type: string): boolean {
  return type.startsWith('xstate.') || !isDeclared(snapshot.machine, type);
}

function delaysOf(
  actor: Actor,
  live: LiveMachine,
  old: Actor | undefined,
  oldLive: LiveMachine | undefined,
  version: number,
): Finding[] {
  const { session, snapshot } = live;
  const before = new Map(
    oldLive === undefined ? [] : activeDelays(oldLive.snapshot).map((delay) => [delay.id, delay]),
  );
  const findings: Finding[] = [];
  for (const { id, delay } of activeDelays(snapshot)) {
    const known = before.get(id);
    const shown = `timer "${id}"${within(live)}`;
    if (!hasTimer(actor, session, id)) {
      const wasMissing = known !== undefined && old !== undefined && !hasTimer(old, session, id);
      findings.push(wasMissing ? missingBefore(shown) : neverArmed(shown, id, session, version));
    } else if (known !== undefined && oldLive !== undefined) {
      const delayMs = delayMsOf(snapshot, delay);
      const oldDelayMs = delayMsOf(oldLive.snapshot, known.delay);
      if (delayMs === undefined || oldDelayMs === undefined || delayMs === oldDelayMs) continue;
      findings.push({
        name: 'timer-changed',
        detail: `${shown}: ${oldDelayMs} ms → ${delayMs} ms; the stored deadline stays`,
        fix: 'a migration can move it, where actors that wait already should get the new delay',
      });
    }
  }
  return findings;
}

function missingBefore(shown: string): Finding {
  return {
    name: 'timer-missing-before',
    detail: `${shown} is not stored, and was not before: it has fired, or was cancelled, and the state stayed`,
  };
}

function neverArmed(shown: string, id: string, session: number, version: number): Finding {
  const fix =
    session === 0
      ? `migrate[${version}] adds { id: "${id}", dueAt } to the timers`
      : 'a migration reaches the deadlines of the root only: keep this state of the child as it was, and give the deadline to a new one';
  return {
    name: 'timer-never-armed',
    detail: `${shown} would never come: its state is active and no deadline is stored`,
    fix,
  };
}

function hasTimer({ timers }: Actor, session: number, id: string): boolean {
  return timers.rows.some((row) => row.id === id && row.session === session);
}

function nameOf(row: TimerRow, machines: ReadonlyMap<number, LiveMachine>): string {
  const live = machines.get(row.session);
  return `timer "${row.id}"${live === undefined ? '' : within(live)}`;
}

function within({ path }: LiveMachine): string {
  return path === '' ? '' : ` of child "${path}"`;
}
