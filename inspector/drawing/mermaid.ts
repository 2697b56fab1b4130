/**
 * Mermaid text of a chart (`stateDiagram-v2`), for documents that draw it themselves.
 *
 * Mermaid knows no transition that stays, no history and no edge from a region into another: the first are
 * notes, the second states of that name, the third are drawn as it likes.
 */

import type { ChartDefinition, ChartState } from '../protocol.ts';
import { type SketchedState, sketchOf } from './sketch.ts';
import { oneLine } from './text.ts';

export function mermaidOf(definition: ChartDefinition): string {
  const { root, edges } = sketchOf(definition, { measure: (text) => text.length });
  const names = namesOf(definition.states);
  const name = (state: string): string => names.get(state) ?? '';
  const lines = ['stateDiagram-v2', ...inside(root, name, '  ')];
  for (const { source, target, lines: labels } of edges)
    for (const { text } of labels)
      lines.push(`  ${name(source)} --> ${name(target)} : ${escaped(text)}`);
  for (const note of notes(root, name)) lines.push(note);
  return `${lines.join('\n')}\n`;
}

function inside(
  { state, children }: SketchedState,
  name: (state: string) => string,
  indent: string,
): string[] {
  const initial = state.initial === undefined ? [] : [`${indent}[*] --> ${name(state.initial)}`];
  const parts = children.map((child) => stateLines(child, name, indent));
  const isParallel = state.type === 'parallel';
  const lines = parts.flatMap((part, index) =>
    isParallel && index > 0 ? [`${indent}--`, ...part] : part,
  );
  return [...initial, ...lines];
}

function stateLines(
  sketched: SketchedState,
  name: (state: string) => string,
  indent: string,
): string[] {
  const { state, children } = sketched;
  const title = state.type === 'history' ? `${state.key} (history)` : state.key;
  const opening = `${indent}state "${escaped(oneLine(title))}" as ${name(state.id)}`;
  const ends = state.type === 'final' ? [`${indent}${name(state.id)} --> [*]`] : [];
  if (children.length === 0) return [opening, ...ends];
  return [`${opening} {`, ...inside(sketched, name, `${indent}  `), `${indent}}`];
}

function notes(sketched: SketchedState, name: (state: string) => string): string[] {
  const { state, rows, children } = sketched;
  const below = children.flatMap((child) => notes(child, name));
  // The machine itself is not drawn, and nothing can stand beside it.
  const rowsSaid = state.id === '' ? [] : rows;
  if (rowsSaid.length === 0) return below;
  const said = rowsSaid.map(
    ({ type, text }) => `    ${type === 'invoke' ? 'runs ' : ''}${escaped(text)}`,
  );
  return [`  note right of ${name(state.id)}`, ...said, '  end note', ...below];
}

function namesOf(states: readonly ChartState[]): ReadonlyMap<string, string> {
  return new Map(states.map(({ id }, index) => [id, `s${index}`]));
}

/** Characters that Mermaid reads, as its entities. */
function escaped(text: string): string {
  return text.replace(/[#;:"<>{}[\]|&`\\]/g, (found) => `#${found.codePointAt(0)};`);
}
