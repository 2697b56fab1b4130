/**
 * DOT text of a chart, for Graphviz: nested states are clusters, and edges end at their borders.
 */

import type { ChartDefinition } from '../protocol.ts';
import { type SketchedState, sketchOf } from './sketch.ts';
import { oneLine } from './text.ts';

export function dotOf(definition: ChartDefinition): string {
  const { root, edges } = sketchOf(definition, { measure: (text) => text.length });
  const compounds = new Map<string, string>();
  const anchors = new Map<string, string>();
  collect(root, compounds, anchors);
  const lines = [
    `digraph ${quoted(definition.machine)} {`,
    '  compound=true; rankdir=LR;',
    '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];',
    '  edge [fontname="sans-serif", fontsize=9];',
    ...stateLines(root, '  ', compounds),
  ];
  for (const { source, target, lines: labels } of edges) {
    const text = labels.map((label) => label.text).join('\n');
    const ends = [`label=${quoted(text)}`];
    const tail = compounds.get(source);
    const head = compounds.get(target);
    if (tail !== undefined) ends.push(`ltail=${quoted(tail)}`);
    if (head !== undefined) ends.push(`lhead=${quoted(head)}`);
    lines.push(
      `  ${quoted(anchors.get(source) ?? source)} -> ${quoted(anchors.get(target) ?? target)} [${ends.join(', ')}];`,
    );
  }
  return `${lines.join('\n')}\n}\n`;
}

/** Clusters by state, and for each state the node inside it at which edges end. */
function collect(
  { state, children }: SketchedState,
  compounds: Map<string, string>,
  anchors: Map<string, string>,
): string {
  for (const child of children) collect(child, compounds, anchors);
  const [first] = children;
  const anchor = first === undefined ? `state ${state.id}` : (anchors.get(first.state.id) ?? '');
  anchors.set(state.id, anchor);
  if (first !== undefined) compounds.set(state.id, `cluster ${state.id}`);
  return anchor;
}

function stateLines(
  { state, title, rows, children }: SketchedState,
  indent: string,
  compounds: ReadonlyMap<string, string>,
): string[] {
  const label = [title, ...rows.map(({ text }) => oneLine(text))].join('\n');
  if (children.length === 0) {
    const shape = state.type === 'final' ? ', peripheries=2' : '';
    return [`${indent}${quoted(`state ${state.id}`)} [label=${quoted(label)}${shape}];`];
  }
  const within = `${indent}  `;
  const mark = `initial ${state.id}`;
  const initial =
    state.initial === undefined
      ? []
      : [
          `${within}${quoted(mark)} [shape=point, label=""];`,
          `${within}${quoted(mark)} -> ${quoted(anchorOf(children, state.initial))};`,
        ];
  return [
    `${indent}subgraph ${quoted(compounds.get(state.id) ?? '')} {`,
    `${within}label=${quoted(label)}; labeljust=l; style="rounded${state.type === 'parallel' ? ',bold' : ''}"; fontname="sans-serif";`,
    ...initial,
    ...children.flatMap((child) => stateLines(child, within, compounds)),
    `${indent}}`,
  ];
}

function anchorOf(children: readonly SketchedState[], initial: string): string {
  const entered = children.find(
    ({ state: { id } }) => id === initial || initial.startsWith(`${id}.`),
  );
  let at = entered;
  while (at?.children[0] !== undefined) at = at.children[0];
  return `state ${at?.state.id ?? initial}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\l')}"`;
}
