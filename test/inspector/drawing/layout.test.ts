/**
 * Layouts of charts, by ELK and without it: nothing is lost, nothing lies on its neighbour, and all of it
 * is inside. Read from the boxes, the points and the written SVG, for every machine of the project.
 */

import { describe, expect, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { isInside } from '../../../inspector/drawing/definition.ts';
import { layOutTo } from '../../../inspector/drawing/layout.ts';
import { nest } from '../../../inspector/drawing/nested.ts';
import { markupOf, pictureOf } from '../../../inspector/drawing/picture.ts';
import type { Box, ChartLayout } from '../../../inspector/drawing/places.ts';
import { sketchOf } from '../../../inspector/drawing/sketch.ts';
import { measureWide } from '../../../inspector/drawing/text.ts';
import { bundledElk, definitionOf, svgOf } from '../../../inspector/drawing.ts';
import * as exported from '../../../machines/index.ts';
import { everythingMachine, HOSTILE_NAMES, hostileMachine } from './hostile-machine.ts';

const measure = measureWide;
const machines: ReadonlyArray<readonly [string, AnyStateMachine]> = [
  ...Object.entries(exported),
  ['everything', everythingMachine],
  ['hostile', hostileMachine],
];
const elk = await bundledElk();

describe.each(machines)('%s', (_, machine) => {
  const definition = definitionOf(machine);
  const sketch = sketchOf(definition, { measure });

  test('has every state and transition on its chart, whatever draws it', async () => {
    for (const layout of [await layOutTo(sketch, elk, 'DOWN'), nest(sketch)]) {
      expect(layout.boxes.map((box) => box.sketch.state.id)).toEqual(
        expect.arrayContaining(definition.states.map(({ id }) => id)),
      );
      expect(layout.boxes).toHaveLength(definition.states.length);
      const written = markupOf(pictureOf(layout, measure));
      const named = new Set(
        [...written.matchAll(/data-transitions="([^"]*)"/g)].flatMap(([, ids = '']) =>
          unescaped(ids).split('\n'),
        ),
      );
      const ids = definition.transitions.map(({ id }) =>
        id.replaceAll(/[^\P{Cc}\n]/gu, '\u{FFFD}'),
      );
      expect(ids.filter((id) => !named.has(id))).toEqual([]);
      expect(faultsOf(layout)).toEqual([]);
    }
  });
});

test('a collapsed state hides what is in it, and its edges begin and end at it', async () => {
  const definition = definitionOf(exported.jobMachine);
  const collapsed = new Set(['active']);
  const layout = await layOutTo(sketchOf(definition, { measure, collapsed }), elk, 'RIGHT');
  const shown = layout.boxes.map((box) => box.sketch.state.id);
  expect(shown.filter((id) => isInside(id, 'active'))).toEqual([]);
  expect(shown).toContain('ending.outcome.timedOut');
  const sources = layout.lines.map(({ edge }) => `${edge.source} to ${edge.target}`);
  expect(sources).toContain('active to ending.outcome.timedOut');
  expect(faultsOf(layout)).toEqual([]);
});

test('no name becomes markup, and none makes its chart larger than a screen or two', async () => {
  const svg = await svgOf(definitionOf(hostileMachine), elk);
  expect(svg).not.toMatch(/<(script|img)/);
  expect(svg).not.toMatch(/[^\P{Cc}\n]/u);
  expect(svg.replaceAll(/<title>[^<]*<\/title>/g, '')).not.toMatch(
    /<text[^>]*>[^<]*[\u202E][^<]*<\/text>/,
  );
  const [, width = ''] = /width="([\d.]+)"/.exec(svg) ?? [];
  expect(Number(width)).toBeLessThan(4_000);
  expect(HOSTILE_NAMES.length).toBeGreaterThan(5);
});

test('the same machine gives the same drawing and the same hash; another gives another', async () => {
  const [once, twice] = [definitionOf(everythingMachine), definitionOf(everythingMachine)];
  expect(await svgOf(once, elk)).toBe(await svgOf(twice, elk));
  expect(once.hash).toBe(twice.hash);
  expect(definitionOf(exported.jobMachine).hash).not.toBe(once.hash);
});

/** Sentences about boxes that overlap or lie outside of what they belong to, and about lines that lead nowhere. */
function faultsOf({ boxes, lines, width, height, hasEdges }: ChartLayout): string[] {
  const faults: string[] = [];
  for (const box of boxes) {
    const { id, parent } = box.sketch.state;
    const around = boxes.find((other) => other.sketch.state.id === parent) ?? {
      x: 0,
      y: 0,
      width,
      height,
    };
    if (!contains(around, box)) faults.push(`${id} lies outside of ${parent}`);
    for (const other of boxes)
      if (other !== box && other.sketch.state.parent === parent && overlaps(box, other))
        faults.push(`${id} lies on ${other.sketch.state.id}`);
  }
  for (const { edge, points, label } of lines) {
    if (points.length < 2) faults.push(`${edge.id} has no line`);
    if (!contains({ x: 0, y: 0, width, height }, { ...label, ...edge }))
      faults.push(`the label of ${edge.id} lies outside`);
    if (edge.lines.length === 0) faults.push(`${edge.id} has no label`);
  }
  if (!hasEdges && lines.length > 0) faults.push('nested boxes have lines');
  return faults;
}

type Frame = Pick<Box, 'x' | 'y' | 'width' | 'height'>;

function contains(outer: Frame, inner: Frame): boolean {
  return (
    inner.x >= outer.x - 1 &&
    inner.y >= outer.y - 1 &&
    inner.x + inner.width <= outer.x + outer.width + 1 &&
    inner.y + inner.height <= outer.y + outer.height + 1
  );
}

function overlaps(one: Frame, other: Frame): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
