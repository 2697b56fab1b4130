/** Rules about time: deadlines that cannot come, that can be pushed away for ever, and states that wait without one. */

import type { StateDraft, TransitionDraft } from '../model/definition.ts';
import { around, delayMsOf, type Linted, type LintIssue } from './finding.ts';

interface Limit {
  readonly state: StateDraft;
  readonly name: string;
  readonly ms: number;
}

function limitsOf(state: StateDraft, { draft }: Linted): Limit[] {
  return Object.keys(state.after).flatMap((name) => {
    const ms = delayMsOf(name, draft);
    return ms === undefined ? [] : [{ state, name, ms }];
  });
}

/** A deadline inside another one that comes first. */
export function* innerDeadlines(linted: Linted): Generator<LintIssue> {
  for (const state of linted.states) {
    for (const inner of limitsOf(state, linted)) {
      const [outer] = around(state, linted.states)
        .flatMap((one) => limitsOf(one, linted))
        .sort((one, other) => one.ms - other.ms);
      if (outer === undefined || inner.ms < outer.ms) continue;
      yield {
        rule: 'inner-deadline',
        level: 'warning',
        where: state.id,
        message: `Its deadline "${inner.name}" (${inner.ms} ms) never comes: "${outer.name}" of ${outer.state.id} ends it after ${outer.ms} ms.`,
      };
    }
  }
}

/** A deadline of a state that an earlier one of the same state always leaves. */
export function* shadowedDeadlines(linted: Linted): Generator<LintIssue> {
  for (const state of linted.states) {
    const limits = limitsOf(state, linted);
    for (const limit of limits) {
      const winner = limits.find(
        (one) => one.ms < limit.ms && (state.after[one.name] ?? []).some(leaves),
      );
      if (winner === undefined) continue;
      yield {
        rule: 'shadowed-deadline',
        level: 'error',
        where: `${state.id} after ${limit.name}`,
        message: `It never comes: "${winner.name}" leaves the state after ${winner.ms} ms, this one waits ${limit.ms} ms.`,
      };
    }
  }
}

const leaves = ({ guard, target }: TransitionDraft): boolean =>
  guard === undefined && target !== undefined;

/** Names of events that ask for more time. One that shows a sign of life may come for ever by design. */
const ASKS_FOR_TIME = /exten(d|sion)|prolong|postpone|snooze|more.?time/i;

/** A state that an event begins again, with its deadline, as often as it comes. */
export function* uncappedExtensions(linted: Linted): Generator<LintIssue> {
  for (const state of linted.states) {
    if (Object.keys(state.after).length === 0) continue;
    if (around(state, linted.states).some(isTimed)) continue;
    if (hasTimedSibling(state, linted)) continue;
    const types = Object.entries(state.on)
      .filter(([, list]) => list.some((one) => one.guard === undefined && beginsAgain(one, state)))
      .map(([type]) => type);
    // Where much else does it too, each of them is a sign of life.
    const isSignOfLife = types.filter((type) => !ASKS_FOR_TIME.test(type)).length > 1;
    for (const type of types) {
      yield {
        rule: 'uncapped-extension',
        level: ASKS_FOR_TIME.test(type) && !isSignOfLife ? 'warning' : 'note',
        where: `${state.id} on ${type}`,
        message: `Each "${type}" starts its deadlines again, and nothing around it ends that: add a limit that "${type}" does not move, or a guard.`,
      };
    }
  }
}

/** More tries than the deadline around them has time for. */
export function* retriesOverDeadline(linted: Linted): Generator<LintIssue> {
  for (const state of linted.states) {
    for (const pause of limitsOf(state, linted)) {
      for (const outer of around(state, linted.states).flatMap((one) => limitsOf(one, linted))) {
        const tries = triesInto(state, linted);
        if (tries === undefined || pause.ms >= outer.ms || tries * pause.ms < outer.ms) continue;
        yield {
          rule: 'retries-over-deadline',
          level: 'warning',
          where: state.id,
          message: `${tries} tries with pauses of ${pause.ms} ms ("${pause.name}") take longer than "${outer.name}" of ${outer.state.id} allows (${outer.ms} ms): the last ones never begin.`,
        };
      }
    }
  }
}

/** A child that may never answer, and no deadline for it. */
export function* untimedWaits(linted: Linted): Generator<LintIssue> {
  for (const state of linted.states) {
    if (!linted.reached.has(state.id) || state.invoke.length === 0) continue;
    if (isTimed(state) || around(state, linted.states).some(isTimed)) continue;
    if (hasTimedSibling(state, linted)) continue;
    const hears = state.invoke.some(({ onDone, onError }) => onDone ?? onError);
    if (!hears) continue;
    yield {
      rule: 'untimed-wait',
      level: 'warning',
      where: state.id,
      message:
        'It waits for what it invokes, and nothing ends that wait: add an "after" here or around it.',
    };
  }
}

/** A number of milliseconds that has no name. */
export function* literalDelays({ states }: Linted): Generator<LintIssue> {
  for (const state of states) {
    for (const key of Object.keys(state.after)) {
      if (Number.isNaN(Number(key))) continue;
      yield {
        rule: 'literal-delay',
        level: 'note',
        where: `${state.id} after ${key}`,
        message: `${key} ms has no name: in setup({ delays }) tests and people can find it.`,
      };
    }
  }
}

const isTimed = ({ after }: StateDraft): boolean => Object.keys(after).length > 0;

/** A region beside it, or beside what it is in, whose deadline leads away from all of them. */
function hasTimedSibling(state: StateDraft, { states }: Linted): boolean {
  const line = [state, ...around(state, states)];
  return line.some((one, index) => {
    const parent = line[index + 1];
    if (parent?.type !== 'parallel') return false;
    return states.some(
      (other) =>
        other !== one && isWithin(other, parent) && !isWithin(other, one) && isTimed(other),
    );
  });
}

const isWithin = ({ path }: StateDraft, outer: StateDraft): boolean =>
  outer.path.every((key, index) => path[index] === key);

/** An edge from the state to itself that leaves it and comes back. */
function beginsAgain({ target, reenter }: TransitionDraft, state: StateDraft): boolean {
  if (target === undefined) return false;
  return [target].flat().some((one) => {
    const isItself = one === state.path.at(-1) || one === `#${state.id}`;
    return isItself && reenter === true;
  });
}

/** The number of tries that guards of the edges into a state allow, where it stands in their text. */
function triesInto(state: StateDraft, { states, draft }: Linted): number | undefined {
  const key = state.path.at(-1);
  for (const other of states) {
    if (other.path.length !== state.path.length || other === state) continue;
    const lists = [
      ...Object.values(other.on),
      other.always,
      ...other.invoke.map(({ onError = [] }) => onError),
    ];
    for (const { target, guard } of lists.flat()) {
      if (
        guard === undefined ||
        ![target].flat().some((one) => one === key || one === `#${state.id}`)
      )
        continue;
      const named = draft.implementations.guards[nameOf(guard) ?? ''];
      const text = String(typeof guard === 'function' ? guard : named);
      const bound = /<=?\s*(\d[\d_]*)/.exec(text);
      if (bound?.[1] !== undefined) return Number(bound[1].replaceAll('_', ''));
    }
  }
  return undefined;
}

const nameOf = (guard: unknown): string | undefined =>
  typeof guard === 'string' ? guard : (guard as { readonly type?: string }).type;
