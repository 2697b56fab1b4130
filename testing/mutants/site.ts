/**
 * Site of a mutant: the states in which it differs from its machine. Until one of them is entered both do the same, so
 * that a test that enters none of them cannot tell them apart and need not be played.
 */

import type { AnyStateMachine } from 'xstate';
import { type Draft, draftOf, type StateDraft, statesIn } from '../model/definition.ts';
import { notingCopy } from '../model/noting.ts';
import type { Samples } from '../model/samples.ts';
import type { Mutant } from './mutant.ts';
import { killingTest, type SearchOptions } from './search.ts';

/** Ids of states; undefined where the change may show anywhere. */
export type Site = ReadonlySet<string> | undefined;

export function siteOf(machine: AnyStateMachine, mutant: Pick<Mutant, 'draft'>): Site {
  const [one, other]: readonly Draft[] = [draftOf(machine), mutant.draft()];
  if (one === undefined || other === undefined) return undefined;
  if (!isSame(one.implementations, other.implementations)) return undefined;
  const site = new Set<string>();
  const others = new Map([...statesIn(other.root)].map((state) => [state.id, state]));
  for (const state of statesIn(one.root)) {
    const changed = others.get(state.id);
    if (changed === undefined) return undefined;
    if (isSame(withoutChildren(state), withoutChildren(changed))) continue;
    // It is never entered itself: what it remembers is.
    if (state.type === 'history') return undefined;
    site.add(state.id);
  }
  return site;
}

/** True where a change may show to a test that has entered these states. */
export const mayShow = (site: Site, entered: ReadonlySet<string>): boolean =>
  site === undefined || [...site].some((id) => entered.has(id));

/** States that a search of that bound enters as long as it finds nothing. */
export function searchedStates(
  machine: AnyStateMachine,
  samples: Samples,
  options: SearchOptions,
): ReadonlySet<string> {
  const { noting, found } = notingCopy(machine);
  const itself = { id: 'itself', operator: '', where: '' };
  const draft = (): Draft => draftOf(machine);
  killingTest(machine, { ...itself, draft, machine: () => noting }, samples, options);
  return new Set([...found.wanted.states].filter((id) => found.hits.has(id)));
}

const withoutChildren = ({ states: _, ...state }: StateDraft): object => state;

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) =>
      isSame(
        (one as Readonly<Record<string, unknown>>)[key],
        (other as Readonly<Record<string, unknown>>)[key],
      ),
    )
  );
}
