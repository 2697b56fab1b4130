/**
 * Definitions as they are read from machines, and the texts of other programs that are written from them.
 */

import { expect, test } from 'vitest';
import { activeStates, labelOf } from '../../../inspector/drawing/definition.ts';
import { definitionOf, dotOf, mermaidOf } from '../../../inspector/drawing.ts';
import { jobMachine } from '../../../machines/index.ts';
import { everythingMachine, hostileMachine } from './hostile-machine.ts';

const everything = definitionOf(everythingMachine);

test('tells of each transition its cause, its guard, its timer and where it leads', () => {
  const labels = everything.transitions.map(
    (transition) =>
      `${transition.source}: ${labelOf(transition)} → ${transition.targets.join(' and ')}`,
  );
  expect(labels).toEqual([
    ': reset → idle',
    ': ping → ',
    'idle: go → busy',
    'idle: any other event → ',
    'busy: jump → paused',
    'busy: both → busy.left.two and busy.right.b',
    'busy: done → over',
    'busy: loading done → over',
    'busy: loading failed [isSoft] → idle',
    'busy.left.one: after 1 s → busy.left.two',
    'busy.left.one: after patience [isLate] → busy.left.two',
    'busy.left.two: again → busy.left.two',
    'busy.left.two: always [isBack] → busy.left.one',
    'busy.right.a: end → busy.right.b',
    'paused: resume → busy.left.memory',
  ]);
  const timers = everything.transitions.flatMap(({ timer }) => timer ?? []);
  expect(timers).toEqual([
    'xstate.after.1000.everything.busy.left.one',
    'xstate.after.patience.everything.busy.left.one',
  ]);
});

test('names the states of a value, and those around them', () => {
  const value = { busy: { left: 'two', right: { a: {} } } };
  expect([...activeStates(value)]).toEqual([
    '',
    'busy',
    'busy.left',
    'busy.left.two',
    'busy.right',
    'busy.right.a',
  ]);
  expect([...activeStates('idle')]).toEqual(['', 'idle']);
});

test('is plain data', () => {
  for (const definition of [everything, definitionOf(hostileMachine), definitionOf(jobMachine)]) {
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
    const ids = definition.transitions.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test('writes Mermaid that opens and closes every state, with names that Mermaid cannot misread', () => {
  for (const definition of [everything, definitionOf(hostileMachine), definitionOf(jobMachine)]) {
    const text = mermaidOf(definition);
    const count = (pattern: RegExp): number => (text.match(pattern) ?? []).length;
    expect(count(/^ *state .*\{$/gm)).toBe(count(/^ *\}$/gm));
    expect(count(/^ *state "[^"<>\n]*" as s\d+( \{)?$/gm)).toBe(definition.states.length - 1);
    expect(text).not.toMatch(/<script|<img/);
  }
  expect(mermaidOf(everything)).toContain('s2 --> s11 : done');
});

test('writes DOT in which every text is quoted', () => {
  for (const definition of [everything, definitionOf(hostileMachine), definitionOf(jobMachine)]) {
    const outside = dotOf(definition).replaceAll(/"(?:\\.|[^"\\])*"/g, '""');
    expect(outside).not.toMatch(/<|script/);
    const count = (text: string): number => outside.split(text).length - 1;
    expect(count('{')).toBe(count('}'));
  }
});
