/**
 * Picture of a chart as elements of the document: built once, then lit and counted down without being drawn again.
 */

import type { PictureElement } from '../../drawing/picture.ts';

const SVG = 'http://www.w3.org/2000/svg';

export interface ChartElements {
  readonly svg: SVGSVGElement;
  readonly states: ReadonlyMap<string, SVGGElement>;
  /** Rows and labels by the id of each transition that they tell; of a wrapped one the first line. */
  readonly transitions: ReadonlyMap<string, readonly SVGGElement[]>;
  /** Lines by the id of each transition. */
  readonly edges: ReadonlyMap<string, SVGGElement>;
}

export function buildChart(picture: PictureElement): ChartElements {
  const states = new Map<string, SVGGElement>();
  const transitions = new Map<string, SVGGElement[]>();
  const lines = new Map<string, SVGGElement>();
  const labels = new Map<string, string[]>();
  const build = (
    { tag, attributes, children = [], text }: PictureElement,
    label = '',
  ): SVGElement => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
      if (name !== 'xmlns') element.setAttribute(name, String(value));
    const state = attributes['data-state'];
    if (state !== undefined) states.set(String(state), element as SVGGElement);
    if (attributes['data-edge'] !== undefined)
      lines.set(String(attributes['data-edge']), element as SVGGElement);
    const within =
      attributes['data-label'] === undefined ? label : String(attributes['data-label']);
    for (const id of idsOf(attributes['data-transitions'])) {
      transitions.set(id, [...(transitions.get(id) ?? []), element as SVGGElement]);
      if (within !== '') labels.set(within, [...(labels.get(within) ?? []), id]);
    }
    if (text !== undefined) element.textContent = text;
    for (const child of children) element.append(build(child, within));
    return element;
  };
  const svg = build(picture) as SVGSVGElement;
  const edges = new Map(
    [...labels].flatMap(([edge, ids]) => {
      const line = lines.get(edge);
      return line === undefined ? [] : ids.map((id) => [id, line] as const);
    }),
  );
  return { svg, states, transitions, edges };
}

/** Lights these states and these transitions, and puts out all others. */
export function light(
  { states, transitions, edges }: ChartElements,
  active: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): void {
  for (const [id, element] of states) element.classList.toggle('lit', id !== '' && active.has(id));
  for (const elements of [...transitions.values()].flat()) element(elements, false);
  for (const line of edges.values()) element(line, false);
  for (const id of taken) {
    for (const each of transitions.get(id) ?? []) element(each, true);
    const line = edges.get(id);
    if (line !== undefined) element(line, true);
  }
}

function element(one: SVGElement, isTaken: boolean): void {
  one.classList.toggle('taken', isTaken);
}

/** Text behind the name of a deadline, with a bar for the share that has elapsed below it. */
export class Countdowns {
  readonly #elements: ChartElements;
  readonly #shown = new Map<string, { text: SVGTextElement; bar: SVGRectElement; width: number }>();

  constructor(elements: ChartElements) {
    this.#elements = elements;
  }

  /** `share` is undefined where nobody knows when the deadline was armed. */
  show(
    armed: ReadonlyMap<string, { text: string; share: number | undefined; isLate: boolean }>,
  ): void {
    for (const [id, { text, bar }] of this.#shown)
      if (!armed.has(id)) {
        text.remove();
        bar.remove();
        this.#shown.delete(id);
      }
    for (const [id, { text, share, isLate }] of armed) {
      const shown = this.#shown.get(id) ?? this.#add(id);
      if (shown === undefined) continue;
      if (shown.text.textContent !== text) shown.text.textContent = text;
      shown.text.classList.toggle('late', isLate);
      const part = Math.max(0, Math.min(1, share ?? 0));
      shown.bar.setAttribute('width', String(Math.round(shown.width * part * 10) / 10));
    }
  }

  #add(id: string): { text: SVGTextElement; bar: SVGRectElement; width: number } | undefined {
    const line = this.#elements.transitions.get(id)?.[0];
    const name = [...(line?.children ?? [])].find((child) => child.tagName === 'text');
    if (line === undefined || name === undefined) return undefined;
    const start = Number(name.getAttribute('x') ?? 0);
    const width = (name as SVGTextElement).getComputedTextLength();
    const text = document.createElementNS(SVG, 'text');
    text.setAttribute('class', 'countdown');
    text.setAttribute('x', String(start + width + 5));
    const bar = document.createElementNS(SVG, 'rect');
    bar.setAttribute('class', 'elapsed');
    bar.setAttribute('x', String(start));
    bar.setAttribute('y', '2');
    bar.setAttribute('height', '2');
    line.append(text, bar);
    const shown = { text, bar, width: width + 5 + 40 };
    this.#shown.set(id, shown);
    return shown;
  }
}

/** Words on states, such as counts of a fleet or the time spent there; those of other states are taken away. */
export function badge(
  { states }: ChartElements,
  words: ReadonlyMap<string, { text: string; title: string; isLate?: boolean }>,
): void {
  for (const [id, state] of states) {
    const before = [...state.children].find((child) => child.classList.contains('badge'));
    const told = words.get(id);
    if (told === undefined) {
      before?.remove();
      continue;
    }
    const text = (before ?? document.createElementNS(SVG, 'text')) as SVGTextElement;
    if (before === undefined) {
      const box = state.querySelector(':scope > .box');
      text.setAttribute('class', 'badge');
      text.setAttribute('text-anchor', 'end');
      text.setAttribute(
        'x',
        String(Number(box?.getAttribute('x')) + Number(box?.getAttribute('width'))),
      );
      text.setAttribute('y', String(Number(box?.getAttribute('y')) - 4));
      state.append(text);
    }
    if (text.textContent !== told.text) text.textContent = told.text;
    text.classList.toggle('late', told.isLate === true);
    text.setAttribute('data-words', told.title);
  }
}

const idsOf = (names: string | number | undefined): string[] =>
  names === undefined ? [] : String(names).split('\n');
