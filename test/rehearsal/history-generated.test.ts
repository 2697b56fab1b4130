/**
 * A generated machine remembers a state, shallow or deep; the next release has renamed another one, or
 * that. Whatever was renamed, a record is refused, or the machine goes back to where it would have gone.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { messageOf } from '../../runtime/errors.ts';
import { missingStates } from '../../runtime/xstate-outline.ts';
import { machineOf, Stepper } from '../statechart/stepping.ts';

const NAMES = ['s0', 's1', 's2', 'a', 'b', 'last', 'none'] as const;
const PLACES = ['s0', 's1', 's2', 's0.a', 's0.b', 's1.a', 's1.b'];

interface Shape {
  readonly history: 'shallow' | 'deep';
  readonly isParallel: boolean;
}

function machine({ history, isParallel }: Shape, renamed: string): AnyStateMachine {
  const name = (old: string): string => (old === renamed ? `${old}x` : old);
  const pathOf = (place: string): string => place.split('.').map(name).join('.');
  const inner = isParallel
    ? { type: 'parallel', states: { [name('a')]: {}, [name('b')]: {} } }
    : { initial: name('b'), states: { [name('a')]: {}, [name('b')]: {} } };
  const targets = isParallel ? PLACES.filter((place) => !place.includes('.')) : PLACES;
  return machineOf({
    id: 'm',
    initial: 'open',
    on: Object.fromEntries(targets.map((place) => [`go.${place}`, `#m.open.${pathOf(place)}`])),
    states: {
      open: {
        initial: name('s2'),
        on: { hold: 'held' },
        states: {
          [name('s0')]: inner,
          [name('s1')]: inner,
          [name('s2')]: {},
          [name('last')]: { type: 'history', history },
        },
      },
      held: { on: { resume: `open.${name('last')}` } },
    },
  });
}

const counts = { refused: 0, resumed: 0 };

test('a record with history goes on where it would have gone, or is refused', () => {
  fc.assert(
    fc.property(
      fc.record({
        shape: fc.record({
          history: fc.constantFrom('shallow' as const, 'deep' as const),
          isParallel: fc.boolean(),
        }),
        places: fc.array(fc.constantFrom(...PLACES), { maxLength: 3 }),
        renamed: fc.constantFrom(...NAMES),
      }),
      ({ shape, places, renamed }) => {
        const old = new Stepper(machine(shape, 'none'));
        for (const place of places) old.send(`go.${place}`);
        const { text } = old.send('hold');
        const stored = (JSON.parse(text) as { snapshot: { historyValue: object } }).snapshot;
        const isGone =
          JSON.stringify(stored.historyValue).includes(`.${renamed}"`) ||
          JSON.stringify(stored.historyValue).includes(`.${renamed}.`);
        const next = machine(shape, renamed);
        const stepper = new Stepper(next);
        expect(missingStates(next, stored).length > 0).toBe(isGone);
        if (isGone) {
          counts.refused += 1;
          expect(refusalOf(() => stepper.restore(text))).toContain('its history names');
          return;
        }
        counts.resumed += 1;
        stepper.restore(text).send('resume');
        const names = new RegExp(`"${renamed}"`, 'g');
        const expected = JSON.stringify(old.send('resume').value).replace(names, `"${renamed}x"`);
        expect(JSON.stringify(stepper.value)).toBe(expected);
      },
    ),
    { numRuns: 500, seed: 20_261_119 },
  );
  expect(counts.refused).toBeGreaterThan(50);
  expect(counts.resumed).toBeGreaterThan(50);
});

function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    return messageOf(thrown);
  }
  return 'nothing was thrown';
}
