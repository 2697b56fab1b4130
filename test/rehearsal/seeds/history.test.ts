/**
 * Generated machines remember states in nested and parallel ones, shallow and deep, twice in one parent,
 * and are reloaded after every turn; the next release has renamed, removed, moved or turned some of them.
 * A record is refused, or every history state leads to what it remembers, as XState would go there.
 *
 * What a record remembers is read from an actor of XState's own that was never reloaded.
 */

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnyActor, type AnyStateMachine, createActor } from 'xstate';
import { messageOf } from '../../../runtime/base/errors.ts';
import { missingStates } from '../../../runtime/statechart/xstate-outline.ts';
import { Stepper } from '../../statechart/stepping.ts';
import { EDIT, edited, machineWith, statesOf, TREE, type Tree, tagOf } from '../history-trees.ts';

const CASES = Number(process.env.HISTORY_CASES ?? 500);
const SEED = Number(process.env.HISTORY_SEED ?? 20_261_119);

/** What a history state of the old release remembers, by the tags of the states. */
type Remembered = ReadonlyMap<Tree, readonly string[]>;

interface XStateNode {
  readonly tags: readonly string[];
}

const counts = { kept: 0, refused: 0, resumed: 0, shallow: 0, several: 0, likeXState: 0 };

test('a record with history goes on where it would have gone, or is refused', () => {
  fc.assert(
    fc.property(
      fc.record({
        tree: TREE,
        id: fc.constantFrom('m', 'm', 'm', 'shop.order'),
        steps: fc.array(fc.record({ isInside: fc.boolean(), state: fc.nat() }), { maxLength: 8 }),
        edits: fc.array(EDIT, { maxLength: 2 }),
      }),
      ({ tree, id, steps, edits }) => {
        const all = statesOf(tree);
        const types = steps.map(({ isInside, state }) => {
          const { number } = all[state % all.length] as Tree;
          return `${isInside ? 'in' : 'go'}.${number}`;
        });
        const old = machineWith(tree, id);
        const live = createActor(old).start();
        const stepper = new Stepper(old);
        for (const type of [...types, 'hold']) {
          live.send({ type });
          stepper.restore().send(type);
          expect(tagsOf(stepper.tree.snapshot)).toEqual(tagsOf(live.getSnapshot()));
        }
        const remembered = rememberedBy(live, all);
        const next = edited(tree, edits);
        const machine = machineWith(next, id);
        const { text } = stepper;
        const { snapshot } = JSON.parse(text) as { snapshot: object };
        const successor = new Stepper(machine);
        const refusal = refusalOf(() => successor.restore(text));
        expect(missingStates(machine, snapshot).length > 0).toBe(refusal !== undefined);
        if (refusal === undefined) resume(successor, machine, live, text, remembered, next);
        else {
          expect(refusal).toContain('its history names');
          expect(isChanged(remembered, tree, next)).toBe(true);
          counts.refused += 1;
        }
      },
    ),
    { numRuns: CASES, seed: SEED },
  );
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(CASES / 10);
});

/** Every history state that remembers something is gone back to, from the same record, and reloaded then. */
function resume(
  stepper: Stepper,
  machine: AnyStateMachine,
  live: AnyActor,
  text: string,
  remembered: Remembered,
  next: Tree,
): void {
  counts.kept += 1;
  const states = statesOf(next);
  const targets = new Map<number, readonly string[]>();
  for (const { number, isResumed } of states) if (isResumed) targets.set(number, []);
  for (const [{ number, type }, tags] of remembered) {
    if (!states.some((state) => state.number === number)) continue;
    targets.set(number, tags);
    counts.resumed += 1;
    if (type === 'shallow') counts.shallow += 1;
    if (tags.length > 1) counts.several += 1;
  }
  for (const [number, tags] of targets) {
    const type = `go.${number}`;
    const active = tagsOf(stepper.restore(text).send(type).tree.snapshot);
    expect(active).toEqual(expect.arrayContaining([...tags]));
    expect(tagsOf(stepper.restore().tree.snapshot)).toEqual(active);
    const same = createActor(machine, { snapshot: live.getPersistedSnapshot() }).start();
    // XState loses names with dots where they have not changed at all.
    if (!isDeepStrictEqual(historyOf(same), historyOf(live))) continue;
    same.send({ type });
    expect(active).toEqual(tagsOf(same.getSnapshot()));
    for (const later of ['hold', type]) {
      same.send({ type: later });
      expect(tagsOf(stepper.restore().send(later).tree.snapshot)).toEqual(
        tagsOf(same.getSnapshot()),
      );
    }
    counts.likeXState += 1;
  }
}

function rememberedBy(live: AnyActor, all: readonly Tree[]): Remembered {
  const byTag = new Map(all.map((state) => [tagOf(state), state]));
  return new Map(historyOf(live).map(([tag, tags]) => [byTag.get(tag) as Tree, tags] as const));
}

/** What an actor of XState's own remembers, by the tags of its history states. */
function historyOf(actor: AnyActor): Array<readonly [string, readonly string[]]> {
  const { machine, historyValue } = actor.getSnapshot() as {
    machine: AnyStateMachine & { idMap: ReadonlyMap<string, XStateNode> };
    historyValue: Readonly<Record<string, readonly XStateNode[]>>;
  };
  return Object.entries(historyValue).map(([id, nodes]) => [
    String(machine.idMap.get(id)?.tags),
    nodes.map(({ tags }) => String(tags)),
  ]);
}

/** Whether a state that is remembered, or a history state that does, is another one now, or elsewhere. */
function isChanged(remembered: Remembered, old: Tree, next: Tree): boolean {
  const [before, after] = [placesOf(old), placesOf(next)];
  return [...remembered].some(([history, tags]) =>
    [tagOf(history), ...tags].some((tag) => {
      const [was, is] = [before.get(tag), after.get(tag)];
      // A state that is given an id is still found by the names that lead to it.
      const isNamed = was?.id !== undefined || tag === tagOf(history);
      return was?.path !== is?.path || (isNamed && was?.id !== is?.id);
    }),
  );
}

/** For each tag the names that lead to its state, with the types of the states above it, and its id. */
function placesOf(tree: Tree, above = ''): Map<string, { path: string; id: string | undefined }> {
  const path = `${above}/${tree.key}`;
  const below = tree.states.flatMap((state) => [...placesOf(state, `${path} ${tree.type}`)]);
  return new Map([[tagOf(tree), { path, id: tree.id }], ...below]);
}

function tagsOf({ tags }: { tags: ReadonlySet<string> }): string[] {
  return [...tags].sort();
}

function refusalOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (thrown) {
    return messageOf(thrown);
  }
  return undefined;
}
