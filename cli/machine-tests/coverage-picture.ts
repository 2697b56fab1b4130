/**
 * Picture of coverage: the chart of a machine with how often its tests took each transition, and what they left out
 * in red.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { bundledElk, definitionOf, svgOf } from '../../inspector/drawing.ts';
import type { ChartDefinition } from '../../inspector/protocol.ts';
import type { Coverage } from '../../testing/model/coverage.ts';
import {
  draftOf,
  type StateDraft,
  statesIn,
  transitionLists,
} from '../../testing/model/definition.ts';
import { CommandFailure, EXIT } from '../exit.ts';

/** The definition with the counts of its tests. */
function countedDefinition(
  machine: AnyStateMachine,
  { hits, shares }: Pick<Coverage, 'hits' | 'shares'>,
): ChartDefinition {
  const states = new Map<string, number>();
  const transitions = new Map<string, number>();
  // What is said to be unreachable has no count: it is not missed.
  const isMissed = (name: string): boolean =>
    shares.states.missing.includes(name) || shares.transitions.missing.includes(name);
  const count = (into: Map<string, number>, id: string, name: string): void => {
    const number = hits.get(name) ?? (isMissed(name) ? 0 : undefined);
    if (number !== undefined) into.set(id, number);
  };
  for (const state of statesIn(draftOf(machine).root)) {
    count(states, state.path.join('.'), state.id);
    for (const { cause, list } of transitionLists(state))
      for (const index of list.keys()) {
        const name = `${state.id} ${cause}${list.length > 1 ? ` (${index + 1})` : ''}`;
        count(transitions, `${state.path.join('.')}|${eventOf(cause, state)}|${index}`, name);
      }
  }
  const withCount = <T extends { readonly id: string }>(
    one: T,
    counts: ReadonlyMap<string, number>,
  ): T => {
    const number = counts.get(one.id);
    return number === undefined ? one : { ...one, count: number };
  };
  const definition = definitionOf(machine);
  return {
    ...definition,
    states: definition.states.map((one) => withCount(one, states)),
    transitions: definition.transitions.map((one) => withCount(one, transitions)),
  };
}

/** Writes the picture into a folder and returns its path. @throws {CommandFailure} when it cannot be written */
export async function writePicture(
  folder: string,
  name: string,
  machine: AnyStateMachine,
  coverage: Coverage,
): Promise<string> {
  const path = join(folder, `${name.replace(/[^\w.-]+/g, '-')}-coverage.svg`);
  const text = await svgOf(countedDefinition(machine, coverage), await bundledElk());
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
  } catch (thrown) {
    throw new CommandFailure(EXIT.io, `${path}: ${(thrown as Error).message}`);
  }
  return path;
}

/** Event of XState behind the cause of a list of transitions. */
function eventOf(cause: string, { id, invoke }: StateDraft): string {
  const [, what, rest = ''] = /^(on|after|always|onDone|invoke)(?: (.*))?$/s.exec(cause) ?? [];
  if (what === 'on') return rest;
  if (what === 'after') return `xstate.after.${rest}.${id}`;
  if (what === 'onDone') return `xstate.done.state.${id}`;
  if (what !== 'invoke') return '';
  const [, name = '', outcome] = /^(.*) on(Done|Error|Snapshot)$/s.exec(rest) ?? [];
  const child = invoke.some((one) => one.id === name) ? name : `${name}.${id}`;
  if (outcome === 'Snapshot') return `xstate.snapshot.${child}`;
  return `xstate.${outcome === 'Done' ? 'done' : 'error'}.actor.${child}`;
}
